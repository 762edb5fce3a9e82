"""The waitlist over a store in memory."""

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.waitlist.errors import WaitlistFull, WaitlistRefused
from orrery.waitlist.service import Waitlist
from tests.support.clock import ManualClock


class NoSeller:
    """Sells nothing: an adapter of the port."""

    sells = False

    async def address_of(self, payment_intent: str) -> str | None:
        """Return None: no payment is known."""
        del payment_intent


@pytest.fixture
async def waitlist() -> Waitlist:
    """Return one with room for a single entry."""
    clock = ManualClock()
    waitlist = Waitlist(MemoryStore(clock), clock, NoSeller(), most=1)
    await waitlist.begin()
    return waitlist


async def test_an_entry_is_kept_once(waitlist: Waitlist) -> None:
    """An address is one entry, in whatever case it is typed."""
    waitlist.most = 2
    for typed in ("ann@buyer.example", " Ann@Buyer.example "):
        await waitlist.add(typed)
    assert [one.email for one in await waitlist.entries()] == ["ann@buyer.example"]


async def test_what_is_refused(waitlist: Waitlist) -> None:
    """No address and no room are each a different error, and add nothing."""
    with pytest.raises(WaitlistRefused):
        await waitlist.add("no address")
    await waitlist.add("ann@buyer.example")
    with pytest.raises(WaitlistFull):
        await waitlist.add("bob@buyer.example")
    assert await waitlist.count() == 1
