"""Who asks whether access is open (decision 11)."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from orrery.errors import RecordUnreadable
from orrery.ports.store import Put
from tests.support.checkout import BUYER, Shop, session_json
from tests.support.clock import START

pytestmark = pytest.mark.anyio

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
