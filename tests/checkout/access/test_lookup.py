"""Who has access (decision 11), to which product (decision 47), and under which title."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from orrery.checkout.access.imports import ImportedAccess
from orrery.checkout.catalogue import Catalogue, Product
from orrery.errors import Invalid, RecordUnreadable
from orrery.ports.store import Put
from tests.support.checkout import BUYER, PRODUCT, Shop, record, session, session_json, stored_access
from tests.support.clock import START

YEAR = timedelta(days=365)


async def sold() -> Shop:
    """Return a shop that sold one session."""
    shop = Shop()
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    return shop


@pytest.mark.parametrize(("code", "granted"), [("cissp", True), ("ccsp", False), ("", False)])
async def test_access_is_to_one_certification(code: str, granted: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """A purchase opens the certification that was bought, by session and by address."""
    shop = await sold()
    for answer in (await shop.lookup.check_session("cs_1", code), await shop.lookup.check_email(BUYER, code)):
        assert (answer.granted, answer.expires_at) == (granted, START + YEAR if granted else None)


async def test_the_longest_of_several() -> None:
    """Of a buyer's purchases the one that runs longest is told."""
    shop = await sold()
    await shop.offered("cs_2")
    await shop.receive("evt_2", session_json("cs_2"))
    answer = await shop.lookup.check_email(f" {BUYER.upper()} ", "cissp")
    assert answer.expires_at == START.replace(year=2028)


async def test_nobody_has_access() -> None:
    """An unknown address or session has no access, and that is no error."""
    shop = await sold()
    assert not (await shop.lookup.check_email("nobody@example.org", "cissp")).granted
    assert not (await shop.lookup.check_email("", "cissp")).granted
    assert not (await shop.lookup.check_session("cs_9", "cissp")).granted


async def test_a_buyer_is_indexed_by_a_keyed_digest() -> None:
    """No key of the store holds an address, so that a look at the keys tells no buyer."""
    for entry in await (await sold()).entries():
        assert "@" not in entry.key


KATE, KELVIN = "kate@example.org", "\N{KELVIN SIGN}ate@example.org"


@pytest.mark.parametrize(("buyer", "other"), [(KATE, KELVIN), (KELVIN, KATE)])
async def test_a_letter_that_looks_like_another_is_another(buyer: str, other: str, shop: Shop) -> None:
    """An address with the Kelvin sign, whose lower case is the ASCII k, is not the one with a k."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json(customer_details={"email": buyer}))
    assert (await shop.lookup.check_email(buyer, "cissp")).granted
    assert not (await shop.lookup.check_email(other, "cissp")).granted


async def test_what_an_earlier_release_stored_in_lower_case_is_found(shop: Shop) -> None:
    """Releases that lower-cased every letter stored ÉVA as éva: she is found as she was, however she types it."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json(customer_details={"email": "éva@example.org"}))
    for typed in ("éva@example.org", "ÉVA@example.org", "Éva@Example.ORG"):
        assert (await shop.lookup.check_email(typed, "cissp")).granted


async def test_what_an_earlier_release_stored_in_lower_case_is_extended(shop: Shop) -> None:
    """A year that was stored under éva goes on when ÉVA buys again."""
    await shop.offered("cs_1", "cs_2")
    await shop.receive("evt_1", session_json(customer_details={"email": "éva@example.org"}))
    await shop.receive("evt_2", session_json("cs_2", customer_details={"email": "ÉVA@example.org"}))
    assert (await shop.access("cs_2")).expires_at == START.replace(year=2028)


async def renewed(*changes: str) -> Shop:
    """Return a shop in the second year of a buyer who bought a year in one browser and the next in another."""
    shop = await sold()
    shop.clock.advance(YEAR.total_seconds() - 3600)
    await shop.offered("cs_2")
    await shop.receive("evt_2", session_json("cs_2"))
    for change in changes:
        await CHANGES[change](shop)
    shop.clock.advance(7200)
    return shop


CHANGES: dict[str, Callable[[Shop], Awaitable[object]]] = {
    "first revoked": lambda shop: shop.desk.revoke("cs_1", "a shared ticket"),
    "second revoked": lambda shop: shop.desk.revoke("cs_2", "refunded"),
    "first to another": lambda shop: shop.desk.change_email("cs_1", "bob@example.org", "a gift"),
    "erased": lambda shop: shop.privacy.erase(BUYER, "asked"),
}


async def test_an_old_browser_follows_its_buyer() -> None:
    """The session of the first year opens the second, which the same buyer bought elsewhere, until its end."""
    shop = await renewed()
    assert (await shop.session_states.of("cs_1")).state == "ended"
    answer = await shop.lookup.check_session("cs_1", "cissp")
    assert (answer.granted, answer.expires_at) == (True, (await shop.access("cs_2")).expires_at)
    assert not (await shop.lookup.check_session("cs_1", "ccsp")).granted


@pytest.mark.parametrize("change", CHANGES)
async def test_a_session_that_follows_nobody(change: str) -> None:
    """A revoked session opens nothing; nor does one follow another buyer, an erased one, or what was revoked."""
    shop = await renewed(change)
    assert not (await shop.lookup.check_session("cs_1", "cissp")).granted


async def test_a_record_beside_that_cannot_be_read_closes_nothing() -> None:
    """While the session's own year runs, another record of the buyer that cannot be read is in nobody's way."""
    shop = await sold()
    await shop.offered("cs_2")
    await shop.receive("evt_2", session_json("cs_2"))
    await shop.store.commit([Put("access:cs_2", b"{")])
    assert (await shop.lookup.check_session("cs_1", "cissp")).granted


async def test_a_record_that_might_open_the_access_is_named() -> None:
    """Once the session's own year is over, a record of the buyer that cannot be read is named."""
    shop = await renewed()
    await shop.store.commit([Put("access:cs_2", b"{")])
    with pytest.raises(RecordUnreadable):
        await shop.lookup.check_session("cs_1", "cissp")
    assert not (await shop.lookup.check_session("cs_1", "ccsp")).granted


RENAMED = Product("isc2", "cissp", "Another title", "price_cissp")
LATER = {"renamed": (RENAMED,), "gone": ()}


async def bought(shop: Shop) -> str:
    """Sell by a webhook."""
    session_id = await shop.checkout_session()
    assert await shop.receive("evt_1", session_json(session_id)) == "granted"
    return session_id


async def reconciled(shop: Shop) -> str:
    """Grant a session whose offer was lost."""
    shop.processor.add(session("cs_2", price_ids=("price_cissp",)))
    assert (await shop.reconciliation.run()).granted == ["cs_2"]
    return "cs_2"


async def granted(shop: Shop, product: Product = PRODUCT) -> str:
    """Grant access by the owner."""
    return (await shop.desk.grant(BUYER, product.key, "a test")).session_id


async def imported(shop: Shop) -> str:
    """Import access."""
    _ = await shop.imported(ImportedAccess(BUYER, PRODUCT.key, START + timedelta(days=9)))
    [record] = await shop.lookup.records_of(BUYER)
    return record.session_id


WAYS: dict[str, Callable[[Shop], Awaitable[str]]] = {
    "sold": bought,
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
    return [row.title.partition(" (")[0] for row in await shop.told() if row.id not in known]


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
    assert {row.title.partition(" (")[0] for row in await after.told()} == {"Sold: CISSP", "Your access to CISSP"}


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
    session_id = await bought(shop)
    await shop.privacy.erase(BUYER, "asked")
    access = await shop.access(session_id)
    assert (access.email, access.title) == ("", "CISSP")


CHEAP, DEAR = Product("northwind", "cissp", "CISSP basics", "price_cheap"), PRODUCT
RETIRED = Product("contoso", "cissp", "CISSP of old", "price_old")


async def open_to(shop: Shop, session_id: str, vendor_slug: str | None = None) -> list[bool]:
    """Return whether the session, and its buyer's address, open the certification of that vendor."""
    answers = (
        await shop.lookup.check_session(session_id, "cissp", vendor_slug),
        await shop.lookup.check_email(BUYER, "cissp", vendor_slug),
    )
    return [answer.granted for answer in answers]


async def test_a_purchase_opens_no_other_vendors_product() -> None:
    """Of two products with one certification code, the one that was bought is open and the other is not."""
    shop = Shop(products=(CHEAP, DEAR))
    session_id = await granted(shop, CHEAP)
    assert await open_to(shop, session_id, CHEAP.vendor_slug) == [True, True]
    assert await open_to(shop, session_id, DEAR.vendor_slug) == [False, False]


async def test_a_shared_code_needs_its_vendor() -> None:
    """Where two products share the code, a check without the vendor is refused for every address."""
    shop = Shop(products=(CHEAP, DEAR))
    for session_id in (await granted(shop, CHEAP), "cs_unknown"):
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
        session_id = await granted(shop, bought)
        assert await open_to(shop, session_id) == [True, True]
        other = ({RETIRED, DEAR} - {bought}).pop()
        assert await open_to(shop, session_id, other.vendor_slug) == [False, False]


async def test_the_latest_end_of_a_code() -> None:
    """A buyer of two vendors' products of one code, of which one or none is on sale, gets the latest end."""
    shop = Shop(products=(DEAR,))
    session_id = await granted(shop, DEAR)
    shop.clock.advance(3600)
    await granted(shop, RETIRED)
    ends = [record.expires_at for record in await shop.lookup.records_of(BUYER)]
    assert (await shop.lookup.check_email(BUYER, "cissp")).expires_at == max(ends)
    assert (await shop.lookup.check_session(session_id, "cissp")).expires_at == min(ends)


async def test_a_retired_third_vendor_leaves_a_code_shared() -> None:
    """Where two products share the code, a check without the vendor is refused for a third one's buyer, too."""
    shop = Shop(products=(CHEAP, DEAR))
    session_id = await granted(shop, RETIRED)
    assert await open_to(shop, session_id, RETIRED.vendor_slug) == [True, True]
    with pytest.raises(Invalid, match="vendorSlug"):
        await shop.lookup.check_session(session_id, "cissp")


@pytest.mark.parametrize(
    ("products", "shared"), [((CHEAP, DEAR), ["cissp"]), ((DEAR, Product("isc2", "ccsp", "CCSP")), [])]
)
def test_a_shared_code_is_known(products: tuple[Product, ...], shared: list[str]) -> None:
    """The catalogue knows which codes more than one vendor has."""
    assert Catalogue(products).shared_codes() == shared
