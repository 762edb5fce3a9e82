"""The title of what was bought stays with the access, whatever becomes of the catalogue."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from orrery.checkout.access.desk import Grant
from orrery.checkout.catalogue import Product
from orrery.checkout.records import GrantedBy
from tests.support.checkout import BUYER, PRODUCT, Shop, record, session, session_json, stored_access
from tests.support.clock import START

pytestmark = pytest.mark.anyio

RENAMED = Product("isc2", "cissp", "Another title", "price_cissp")
LATER = {"renamed": (RENAMED,), "gone": ()}


async def sold(shop: Shop) -> str:
    """Sell by a webhook."""
    session_id = await shop.checkout_session()
    assert await shop.receive("evt_1", session_json(session_id)) == "granted"
    return session_id


async def reconciled(shop: Shop) -> str:
    """Grant a session whose offer was lost."""
    shop.processor.sessions.append(session("cs_2", price_ids=("price_cissp",)))
    assert (await shop.reconciliation.run()).granted == ["cs_2"]
    return "cs_2"


async def granted(shop: Shop, granted_by: GrantedBy = "owner") -> str:
    """Grant access by the owner."""
    expires_at = START + timedelta(days=9) if granted_by == "import" else None
    return (await shop.desk.grant(Grant(BUYER, PRODUCT.key, granted_by, expires_at), "a test")).session_id


async def imported(shop: Shop) -> str:
    """Import access."""
    return await granted(shop, "import")


WAYS: dict[str, Callable[[Shop], Awaitable[str]]] = {
    "sold": sold,
    "reconciled": reconciled,
    "granted": granted,
    "imported": imported,
}


def later(shop: Shop, products: tuple[Product, ...]) -> Shop:
    """Return the shop after a restart with these products."""
    return Shop(shop.clock, shop.store, products=products)


async def resent(shop: Shop, session_id: str) -> list[str]:
    """Send the buyer's e-mail once more; return its subject."""
    known = {row.id for row in await shop.told()}
    await shop.desk.resend(session_id, "lost")
    return [row.title for row in await shop.told() if row.id not in known]


@pytest.mark.parametrize("products", LATER)
@pytest.mark.parametrize("way", WAYS)
async def test_the_title_is_that_of_the_grant(way: str, products: str, shop: Shop) -> None:
    """However access came to be, a later e-mail names what was bought, though the catalogue has changed."""
    session_id = await WAYS[way](shop)
    assert await resent(later(shop, LATER[products]), session_id) == ["Your access to CISSP"]


@pytest.mark.parametrize("products", LATER)
async def test_the_title_is_that_of_the_offer(products: str, shop: Shop) -> None:
    """A payment that comes after the catalogue has changed is for what was offered."""
    session_id = await shop.checkout_session()
    after = later(shop, LATER[products])
    assert await after.receive("evt_1", session_json(session_id)) == "granted"
    assert {row.title for row in await after.told()} == {"Sold: CISSP", "Your access to CISSP"}


@pytest.mark.parametrize(("products", "title"), [((RENAMED,), "Another title"), ((), "ISC2 CISSP")])
async def test_access_of_an_earlier_release(products: tuple[Product, ...], title: str) -> None:
    """A record without a title has today's, and vendor and code where the catalogue has none."""
    shop = Shop(products=products)
    await shop.store.commit(stored_access(record()))
    assert await resent(shop, "cs_1") == [f"Your access to {title}"]


async def test_an_offer_of_an_earlier_release() -> None:
    """Where the offer has no title, the access gets that of the catalogue, and none of a product that is gone."""
    for products, title in (((RENAMED,), "Another title"), ((), None)):
        shop = Shop(products=products)
        await shop.offered("cs_1")
        await shop.receive("evt_1", session_json())
        assert (await shop.access()).title == title


async def test_a_title_names_nobody(shop: Shop) -> None:
    """An erasure takes the buyer out, and leaves what was bought with the proof of the sale."""
    session_id = await sold(shop)
    await shop.privacy.erase(BUYER, "asked")
    access = await shop.access(session_id)
    assert (access.email, access.title) == ("", "CISSP")
