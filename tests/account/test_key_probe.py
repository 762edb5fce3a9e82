"""The API key is tried at the processor; how it answers says whether the key is right."""

from dataclasses import dataclass

import pytest

from orrery.account.key_probe import KeyProbe
from orrery.errors import OrreryError
from orrery.ports.processor import ProcessorAccount, ProcessorReads
from orrery.ports.processor.errors import ProcessorRefused, ProcessorUnreachable
from orrery.runtime.secret_probe import ProbeContext, Remark
from tests.support.clock import ManualClock
from tests.support.processor import ScriptedProcessor

ACCEPTED = Remark("the processor accepts it (acct_1)")
REFUSED = ProcessorRefused("It does not accept the API key.", status=401)
AWAY = ProcessorUnreachable("It cannot be reached.", same_key=True)


@dataclass
class AccountReads(ProcessorReads):
    """A processor of which only the account is asked; with `trouble` that is raised."""

    trouble: OrreryError | None = None

    async def get_account(self) -> ProcessorAccount:
        """Return the account."""
        if self.trouble:
            raise self.trouble
        return ProcessorAccount("acct_1", "nzd", "NZ")


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (None, ACCEPTED),
        (
            ProcessorRefused("It needs a right.", status=403),
            Remark("the processor accepts it, but not for reading the account"),
        ),
        (
            REFUSED,
            Remark(str(REFUSED), "Put a key there that the processor accepts; see its rights in the how-to."),
        ),
        (
            AWAY,
            Remark(f"not tried at the processor: {AWAY}", "Try again when the processor can be reached."),
        ),
    ],
)
async def test_what_the_processor_says_of_the_key(trouble: OrreryError | None, said: Remark) -> None:
    """Only a refusal of the key itself says that another must be put there; no rights of a full key are tried."""
    reads, clock = AccountReads(trouble), ManualClock()  # pyright: ignore[reportAbstractUsage]  see the class
    probe = KeyProbe(reads, ScriptedProcessor(clock), clock, restricted=False)
    assert [one async for one in probe.remarks(ProbeContext())] == [said]
