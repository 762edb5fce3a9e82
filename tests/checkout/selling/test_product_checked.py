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


@pytest.mark.parametrize("listed", [(), (DEAR,), (RETIRED,)])
async def test_without_a_vendor_every_product_of_the_code_counts(listed: tuple[Product, ...]) -> None:
    """Unless the catalogue lists two vendors, each purchase of the code opens it: of a retired vendor, too."""
    for bought in (RETIRED, DEAR):
        shop = Shop(products=listed)
        session_id = await given(shop, bought)
        assert await granted(shop, session_id) == [True, True]
        other = ({RETIRED, DEAR} - {bought}).pop()
        assert await granted(shop, session_id, other.vendor_slug) == [False, False]


async def test_the_latest_end_of_a_code() -> None:
    """A buyer of two vendors' products of one code, of which one or none is on sale, gets the latest end."""
    shop = Shop(products=(DEAR,))
    session_id = await given(shop, DEAR)
    shop.clock.advance(3600)
    await given(shop, RETIRED)
    ends = [record.expires_at for record in await shop.lookup.records_of(BUYER)]
    assert (await shop.lookup.check_email(BUYER, "cissp")).expires_at == max(ends)
    assert (await shop.lookup.check_session(session_id, "cissp")).expires_at == min(ends)


async def test_a_retired_third_vendor_leaves_a_code_shared() -> None:
    """Where two products share the code, a check without the vendor is refused for a third one's buyer, too."""
    shop = Shop(products=(CHEAP, DEAR))
    session_id = await given(shop, RETIRED)
    assert await granted(shop, session_id, RETIRED.vendor_slug) == [True, True]
    with pytest.raises(Invalid, match="vendorSlug"):
        await shop.lookup.check_session(session_id, "cissp")


@pytest.mark.parametrize(
    ("products", "shared"), [((CHEAP, DEAR), ["cissp"]), ((DEAR, Product("isc2", "ccsp", "CCSP")), [])]
)
def test_a_shared_code_is_known(products: tuple[Product, ...], shared: list[str]) -> None:
    """The catalogue knows which codes more than one vendor has."""
    assert Catalogue(products).shared_codes() == shared
