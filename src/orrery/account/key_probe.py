"""The probe of the processor's API key: it is tried at the processor by reading."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from orrery.account.key_rights import UNTRIED, Rights, try_rights
from orrery.errors import OrreryError
from orrery.ports.clock import Clock
from orrery.ports.processor import Processor, ProcessorReads
from orrery.ports.processor.errors import ProcessorRefused
from orrery.runtime.secret_probe import ProbeContext, Remark
from orrery.tls import advice

RESTRICTED = "rk_"
"""The prefix of a restricted key: only such a one has rights that can be missing."""


@dataclass(frozen=True, slots=True)
class KeyProbe:
    """Asks the processor for the account, and with a `restricted` key for everything else that is read."""

    reads: ProcessorReads
    processor: Processor
    clock: Clock
    restricted: bool

    async def remarks(self, _: ProbeContext) -> AsyncIterator[Remark]:
        try:
            account = await self.reads.get_account()
            yield Remark(f"the processor accepts it ({account.id})")
        except ProcessorRefused as error:
            if error.status != HTTPStatus.FORBIDDEN:
                todo = "Put a key there that the processor accepts; see its rights in the how-to."
                yield Remark(str(error), todo)
                return
            yield Remark("the processor accepts it, but not for reading the account")
        except OrreryError as error:
            todo = advice(error, "Try again when the processor can be reached.")
            yield Remark(f"not tried at the processor: {error}", todo)
            return
        if self.restricted:
            for remark in _rights_remarks(await try_rights(self.reads, self.processor, self.clock.now())):
                yield remark


def _rights_remarks(rights: Rights) -> Iterator[Remark]:
    yield Remark(f"may read {_listed(rights.may)}" if rights.may else "may read nothing that is used")
    for right in rights.lacking:
        if right.needed:
            yield Remark(f"may not read {right.name}: {right.without}", f"Give it the right to read {right.name}.")
        else:
            yield Remark(f"may not read {right.name}, so `orrery processor {right.without}` does not work")
    if rights.too_many:
        surplus = _listed(rights.too_many)
        yield Remark(f"may read {surplus}, which nothing here needs", f"Take the right to read {surplus} away.")
    if rights.unclear:
        todo = "Try again when the processor can be reached."
        yield Remark(f"no clear answer about {_listed(rights.unclear)}", todo)
    yield Remark(f"not tried, because only a write would show it: writing {_listed(UNTRIED)}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
