"""The owner's changes while the buyer buys: what is sold meanwhile counts, and no letter tells an untruth."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.access.desk import Grant
from orrery.checkout.access.rules import one_year_after
from orrery.errors import Invalid, StoreUnavailable
from tests.support.checkout import BUYER, PRODUCT, Shop, ids, session_json
from tests.support.clock import START, ManualClock
from tests.support.unreliable_store import UnreliableStore

pytestmark = pytest.mark.anyio

CHANGES: dict[str, Callable[[Shop], Awaitable[object]]] = {
    "revoke": lambda shop: shop.desk.revoke("cs_1", "refunded"),
    "change-email": lambda shop: shop.desk.change_email("cs_1", "bob@example.org", "asked"),
    "change-email to the buyer": lambda shop: shop.desk.change_email("cs_other", BUYER, "asked"),
    "grant": lambda shop: shop.desk.grant(Grant(BUYER, PRODUCT.key, "owner"), "a present"),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_a_sale_during_a_change_keeps_its_year(change: str) -> None:
    """A sale that comes between a change's reading and writing stops the change, and its end stays what it was."""
    clock = ManualClock()
    buyers = Shop(clock, MemoryStore(clock))
    await buyers.offered("cs_1", "cs_2", "cs_other")
    await buyers.receive("evt_1", session_json())
    await buyers.receive("evt_other", session_json("cs_other", customer_details={"email": "joe@example.org"}))
    store = UnreliableStore(buyers.store)

    async def sale() -> None:
        store.overtaken_by = None
        await buyers.receive("evt_2", session_json("cs_2"))

    store.overtaken_by = sale
    with pytest.raises(StoreUnavailable, match="try again"):
        await CHANGES[change](Shop(clock, store))
    sold = await buyers.access("cs_2")
    await buyers.offered("cs_3")
    await buyers.receive("evt_3", session_json("cs_3"))
    assert (await buyers.access("cs_3")).expires_at == one_year_after(sold.expires_at)


async def test_no_letter_says_that_revoked_access_is_open(shop: Shop) -> None:
    """The buyer's letter is not sent again once access was revoked."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    await shop.desk.revoke("cs_1", "refunded")
    with pytest.raises(Invalid, match="ended"):
        await shop.desk.resend("cs_1", "asked")
    assert sorted(ids(await shop.told())) == ["buyer-cs_1", "owner-cs_1"]


async def test_no_letter_says_that_ended_access_is_open(shop: Shop) -> None:
    """The buyer's letter is not sent again once access has run out."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    shop.clock.advance((one_year_after(START) - START + timedelta(seconds=1)).total_seconds())
    with pytest.raises(Invalid, match="ended"):
        await shop.desk.resend("cs_1", "asked")
