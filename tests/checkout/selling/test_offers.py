"""Which client address asked for what was paid, or for what somebody tried to pay (decision 18)."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.access.lookup import Lookup
from orrery.checkout.catalogue import Catalogue
from orrery.checkout.collections import CheckoutRecords
from orrery.errors import OrreryError
from orrery.ports.processor import CheckoutSession, ProcessorReads
from orrery.ports.processor.errors import ItemUnreadable, ProcessorRefused, ProcessorUnreachable
from orrery.ports.store import Put
from tests.support.checkout import offer, session
from tests.support.clock import ManualClock


@dataclass
class Payments(ProcessorReads):
    """A processor that finds sessions by their payment."""

    sessions: dict[str, list[CheckoutSession | ItemUnreadable]] = field(
        default_factory=dict[str, "list[CheckoutSession | ItemUnreadable]"]
    )
    trouble: OrreryError | None = None

    async def list_sessions(
        self, since: datetime | None = None, *, payment_intent: str | None = None
    ) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield the sessions of a payment, or raise."""
        del since
        if self.trouble:
            raise self.trouble
        for one in self.sessions.get(payment_intent or "", []):
            yield one


def address(payments: Payments, **other: object) -> str | None:
    """Return the address for one payment, of a session whose offer is stored with other fields where given."""

    async def work() -> str | None:
        store = MemoryStore(ManualClock())
        await store.commit([Put("offer:cs_1", offer("cs_1", **other).to_bytes())])
        return await Lookup(CheckoutRecords(store, ManualClock(), b""), Catalogue(), payments).address_of("pi_1")

    return asyncio.run(work())


def of(*sessions: CheckoutSession | ItemUnreadable, trouble: OrreryError | None = None) -> Payments:
    """Return a processor with these sessions of the payment."""
    return Payments({"pi_1": list(sessions)}, trouble)  # pyright: ignore[reportAbstractUsage]  only sessions are asked for


def test_the_address_of_the_offer() -> None:
    """The offer of the payment's session tells the address, of an open session too."""
    assert address(of(session("cs_1", status="open", payment_status="unpaid"))) == "203.0.113.7"


def test_an_address_that_was_erased() -> None:
    """After 30 days the offer tells no address any more."""
    assert address(of(session("cs_1")), client_address=None) is None


def test_a_payment_that_is_not_ours() -> None:
    """A payment without a session, of a session without an offer, or that the processor does not know has none."""
    assert address(of()) is None
    assert address(of(session("cs_of_another_shop"))) is None
    assert address(of(trouble=ProcessorRefused("No such payment.", status=404, code="resource_missing"))) is None


@pytest.mark.parametrize(
    "trouble", [ProcessorRefused("Not allowed.", status=403), ProcessorUnreachable("No answer.", same_key=True)]
)
def test_trouble_is_told(trouble: OrreryError) -> None:
    """A processor that cannot be asked is no unknown address: who asks may come again."""
    with pytest.raises(type(trouble)):
        address(of(trouble=trouble))


def test_a_session_that_cannot_be_read_hides_no_address() -> None:
    """The address is found behind a session of the payment that is not as documented."""
    odd = ItemUnreadable("checkout.session", "cs_odd", ("status",))
    assert address(of(odd, session("cs_1"))) == "203.0.113.7"
