"""Which product an access check means, where two vendors have the same certification code (decision 47)."""

import pytest

from orrery.checkout.access.desk import Grant
from orrery.checkout.catalogue import Catalogue, Product
from orrery.errors import Invalid
from tests.support.checkout import BUYER, PRODUCT, Shop

pytestmark = pytest.mark.anyio

CHEAP, DEAR = Product("northwind", "cissp", "CISSP basics", "price_cheap"), PRODUCT
RETIRED = Product("contoso", "cissp", "CISSP of old", "price_old")


async def given(shop: Shop, product: Product) -> str:
    """Give the buyer access to a product; return its session."""
    return (await shop.desk.grant(Grant(BUYER, product.key, "owner"), "a test")).session_id


async def granted(shop: Shop, session_id: str, vendor_slug: str | None = None) -> list[bool]:
    """Return whether the session, and its buyer's address, open the certification of that vendor."""
    answers = (
        await shop.lookup.check_session(session_id, "cissp", vendor_slug),
        await shop.lookup.check_email(BUYER, "cissp", vendor_slug),
    )
    return [answer.granted for answer in answers]


async def test_a_purchase_opens_no_other_vendors_product() -> None:
    """Of two products with one certification code, the one that was bought is open and the other is not."""
    shop = Shop(products=(CHEAP, DEAR))
    session_id = await given(shop, CHEAP)
    assert await granted(shop, session_id, CHEAP.vendor_slug) == [True, True]
    assert await granted(shop, session_id, DEAR.vendor_slug) == [False, False]


async def test_a_shared_code_needs_its_vendor() -> None:
    """Where two products share the code, a check without the vendor is refused for every address."""
    shop = Shop(products=(CHEAP, DEAR))
    for session_id in (await given(shop, CHEAP), "cs_unknown"):
        with pytest.raises(Invalid, match="vendorSlug"):
            await shop.lookup.check_session(session_id, "cissp")
    for email in (BUYER, "nobody@example.org"):
        with pytest.raises(Invalid, match="vendorSlug"):
            await shop.lookup.check_email(email, "cissp")


async def test_without_a_vendor_the_one_product_is_meant() -> None:
    """Where the catalogue holds one product of that code, a purchase of a retired one does not open it."""
    shop = Shop(products=(DEAR,))
    assert await granted(shop, await given(shop, RETIRED)) == [False, False]
    assert await granted(shop, await given(shop, DEAR)) == [True, True]


async def test_a_retired_product_is_told_by_its_buyer() -> None:
    """Of a code that is not on sale any more, what the buyer has is meant."""
    shop = Shop(products=())
    assert await granted(shop, await given(shop, RETIRED)) == [True, True]


async def test_a_buyer_of_two_retired_products_is_not_guessed_at() -> None:
    """A buyer who has the code of two vendors, neither on sale, needs the vendor; a session is of one."""
    shop = Shop(products=())
    session_id = await given(shop, RETIRED)
    await given(shop, CHEAP)
    assert (await shop.lookup.check_session(session_id, "cissp")).granted
    with pytest.raises(Invalid, match="vendorSlug"):
        await shop.lookup.check_email(BUYER, "cissp")
    assert (await shop.lookup.check_email(BUYER, "cissp", RETIRED.vendor_slug)).granted


@pytest.mark.parametrize(
    ("products", "shared"), [((CHEAP, DEAR), ["cissp"]), ((DEAR, Product("isc2", "ccsp", "CCSP")), [])]
)
def test_a_shared_code_is_known(products: tuple[Product, ...], shared: list[str]) -> None:
    """The catalogue knows which codes more than one vendor has."""
    assert Catalogue(products).shared_codes() == shared
