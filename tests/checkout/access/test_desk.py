"""The owner's changes to access records, each with its reason, also while the buyer buys."""

import json
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.access.desk import checked_email
from orrery.checkout.access.imports import ImportedAccess
from orrery.checkout.access.rules import one_year_after
from orrery.errors import Invalid, NotFound, StoreUnavailable
from orrery.ports.store import Put
from tests.support.checkout import BUYER, OTHER, PRODUCT, Shop, ids, session_json
from tests.support.clock import START, ManualClock
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

IMPORTED = ImportedAccess(BUYER, PRODUCT.key, START.replace(year=2028))
NEW = "new@example.org"


async def sold(*session_ids: str, over: Shop | None = None) -> Shop:
    """Return a shop that sold these sessions to one buyer, one after the other, an hour apart."""
    shop = over or Shop()
    await shop.offered(*session_ids)
    for session_id in session_ids:
        await shop.receive(f"evt_{session_id}", session_json(session_id))
        shop.clock.advance(3600)
    return shop


async def test_the_newest_first() -> None:
    """Records are listed by the time of granting, newest first, as many as asked for."""
    names = [f"cs_{number}" for number in range(5)]
    shop = await sold(*reversed(names))
    assert [one.session_id for one in (await shop.desk.newest(3)).whole()] == names[:3]
    assert [one.session_id for one in (await shop.desk.newest(99)).whole()] == names
    assert [one.session_id for one in (await shop.desk.newest(0)).whole()] == []


async def test_more_than_a_page() -> None:
    """A list longer than a page of the store is whole."""
    shop = await sold(*(f"cs_{number:03}" for number in range(130)))
    found = [one.session_id for one in (await shop.desk.newest(120)).whole()]
    assert found == [f"cs_{number:03}" for number in range(129, 9, -1)]


async def test_found_by_session_or_address() -> None:
    """A record is found by its session, or by its buyer's address however it is written."""
    shop = await sold("cs_1", "cs_2")
    assert [one.session_id for one in (await shop.desk.find("cs_2")).whole()] == ["cs_2"]
    assert [one.session_id for one in (await shop.desk.find(f" {BUYER.upper()}")).whole()] == ["cs_1", "cs_2"]


@pytest.mark.parametrize("nobody", ["cs_9", "nobody@example.org", ""])
async def test_found_nowhere(nobody: str) -> None:
    """Who is not there is said to be not there."""
    with pytest.raises(NotFound):
        await (await sold("cs_1")).desk.find(nobody)


async def test_resending() -> None:
    """The buyer's mail is enqueued once more, under an id of its own."""
    shop = await sold("cs_1")
    await shop.desk.resend("cs_1", "lost in spam")
    mails = [row for row in await shop.told() if row.channel == "email"]
    assert len({row.id for row in mails}) == 2
    assert mails[0].body == mails[1].body
    assert mails[0].to == BUYER


async def test_revoking() -> None:
    """Access ends at the moment of revoking, for the session and for the buyer."""
    shop = await sold("cs_1")
    assert (await shop.lookup.check_email(BUYER, "cissp")).granted
    await shop.desk.revoke("cs_1", "refunded")
    assert not (await shop.lookup.check_email(BUYER, "cissp")).granted
    assert not (await shop.lookup.check_session("cs_1", "cissp")).granted
    state = await shop.session_states.of("cs_1")
    assert (state.state, state.expires_at) == ("ended", shop.clock.now())


async def test_a_revoked_year_is_not_extended() -> None:
    """Who buys again after his only access was revoked gets a year from now, not from the revoked end."""
    shop = await sold("cs_1")
    await shop.desk.revoke("cs_1", "refunded")
    await sold("cs_2", over=shop)
    assert (await shop.access("cs_2")).expires_at == one_year_after(START + timedelta(hours=1))


async def test_revoking_one_of_two() -> None:
    """When one of two years is revoked, a further purchase extends the one that is left."""
    shop = await sold("cs_1", "cs_2")
    await shop.desk.revoke("cs_2", "refunded")
    await sold("cs_3", over=shop)
    assert (await shop.access("cs_3")).expires_at == START.replace(year=2028)


async def test_a_revoked_purchase_lengthens_no_other() -> None:
    """Of three years bought in a row the first is refunded and revoked: the others are one and two years long."""
    shop = await sold("cs_1", "cs_2", "cs_3")
    second = START + timedelta(hours=1)
    changed = await shop.desk.revoke("cs_1", "refunded")
    assert [one.session_id for one in changed] == ["cs_2", "cs_3"]
    ends = [(await shop.access(name)).expires_at for name in ("cs_2", "cs_3")]
    assert ends == [one_year_after(second), one_year_after(one_year_after(second))]
    assert (await shop.lookup.check_email(BUYER, "cissp")).expires_at == ends[-1]
    await sold("cs_4", over=shop)
    assert (await shop.access("cs_4")).expires_at == one_year_after(ends[-1])


async def test_revoking_leaves_other_buyers_and_products_alone() -> None:
    """What another buyer has, or the same one of another product, or by an import, ends when it did."""
    shop = await sold("cs_1", "cs_2")
    await shop.desk.change_email("cs_2", NEW, "a gift to a friend")
    await shop.desk.grant(BUYER, OTHER.key, "another product")
    _ = await shop.imported(IMPORTED)
    everybody = await shop.desk.newest(9, lambda record: record.session_id != "cs_1")
    assert await shop.desk.revoke("cs_1", "refunded") == []
    assert await shop.desk.newest(9, lambda record: record.session_id != "cs_1") == everybody
    assert len(everybody.records) == 3


async def test_changing_the_address() -> None:
    """Access follows the record to its new address, and leaves the old one."""
    shop = await sold("cs_1")
    changed = await shop.desk.change_email("cs_1", f" {NEW.upper()} ", "a new mailbox")
    assert changed.email == NEW
    assert (await shop.lookup.check_email(NEW, "cissp")).granted
    assert not (await shop.lookup.check_email(BUYER, "cissp")).granted
    assert (await shop.access()).email == NEW


async def test_the_ends_follow_the_address() -> None:
    """After a change of address each buyer's further purchase extends what he has himself."""
    shop = await sold("cs_1", "cs_2")
    await shop.desk.change_email("cs_2", NEW, "a gift to a friend")
    await shop.offered("cs_3", "cs_4")
    await shop.receive("evt_3", session_json("cs_3"))
    await shop.receive("evt_4", session_json("cs_4", customer_details={"email": NEW}))
    assert (await shop.access("cs_3")).expires_at == START.replace(year=2028)
    assert (await shop.access("cs_4")).expires_at == START.replace(year=2029)


@pytest.mark.parametrize("address", ["", "ann", "ann@example.org, bob@example.org"])
def test_what_is_no_address(address: str) -> None:
    """What cannot be an address is refused."""
    with pytest.raises(Invalid, match="not an e-mail address"):
        checked_email(address)


async def test_free_access(shop: Shop) -> None:
    """The owner opens a year of access without a payment, and the buyer is written to."""
    record = await shop.desk.grant(BUYER, PRODUCT.key, "a prize")
    assert (record.expires_at, record.granted_by, record.amount_total) == (START.replace(year=2027), "owner", None)
    assert (await shop.lookup.check_email(BUYER, "cissp")).granted
    assert ids(await shop.told()) == [f"buyer-{record.session_id}"]


async def test_free_access_while_access_runs(shop: Shop) -> None:
    """Free access extends access that runs, as a purchase does, and not access that has ended."""
    await shop.desk.grant(BUYER, PRODUCT.key, "a prize")
    assert (await shop.desk.grant(BUYER, PRODUCT.key, "another")).expires_at == START.replace(year=2028)
    shop.clock.advance(timedelta(days=3 * 365).total_seconds())
    assert (await shop.desk.grant(BUYER, PRODUCT.key, "a third")).expires_at == shop.clock.now().replace(year=2030)


async def test_an_import() -> None:
    """Access that was sold elsewhere is brought along with its own end, and nobody is written to."""
    shop, end = Shop(), START + timedelta(days=5)
    assert await shop.imported(ImportedAccess(BUYER, PRODUCT.key, end)) == 1
    assert (await shop.lookup.check_email(BUYER, "cissp")).expires_at == end
    assert await shop.told() == []


async def test_a_purchase_extends_free_access(shop: Shop) -> None:
    """A buyer with free access gets the purchased year after its end."""
    await shop.desk.grant(BUYER, PRODUCT.key, "a prize")
    await sold("cs_1", over=shop)
    assert (await shop.access()).expires_at == START.replace(year=2028)


async def test_a_short_import_shortens_nothing() -> None:
    """Imported access that ends sooner than running access leaves the end from which a purchase extends."""
    shop = await sold("cs_1")
    _ = await shop.imported(ImportedAccess(BUYER, PRODUCT.key, START + timedelta(days=3)))
    await sold("cs_2", over=shop)
    assert (await shop.access("cs_2")).expires_at == START.replace(year=2028)


Change = Callable[[Shop, str], Awaitable[object]]
CHANGES: dict[str, Change] = {
    "resend": lambda shop, reason: shop.desk.resend("cs_1", reason),
    "revoke": lambda shop, reason: shop.desk.revoke("cs_1", reason),
    "change-email": lambda shop, reason: shop.desk.change_email("cs_1", NEW, reason),
    "grant": lambda shop, reason: shop.desk.grant(BUYER, PRODUCT.key, reason),
    "import": lambda shop, reason: shop.imports.bring_in([IMPORTED], reason, seen=lambda: None),
}


@each_case("action", CHANGES)
async def test_every_change_is_in_the_journal(action: str) -> None:
    """Each change is logged with its time, action, session and reason, and without an address."""
    shop = await sold("cs_1")
    await CHANGES[action](shop, "because")
    (entry,) = (await shop.desk.journal(10)).whole()
    assert (entry.at, entry.action, entry.reason) == (shop.clock.now(), action, "because")
    (stored,) = await shop.entries("journal:")
    assert (json.loads(stored.value)["v"], b"@" in stored.value) == (1, False)


@each_case("action", CHANGES)
@each_case("reason", ["", " ", "\n\t"])
async def test_no_change_without_a_reason(action: str, reason: str) -> None:
    """Without a reason nothing is written."""
    shop = await sold("cs_1")
    before = await shop.entries()
    with pytest.raises(Invalid, match="reason"):
        await CHANGES[action](shop, reason)
    assert await shop.entries() == before


@pytest.mark.parametrize("action", ["resend", "revoke", "change-email"])
async def test_an_unknown_session(action: str, shop: Shop) -> None:
    """A record that is not there cannot be changed, and nothing is written."""
    with pytest.raises(NotFound):
        await CHANGES[action](shop, "because")
    assert await shop.entries() == []


@pytest.mark.parametrize("action", ["resend", "revoke", "change-email"])
async def test_a_record_that_changed_meanwhile(action: str) -> None:
    """When the record changes between reading and writing, nothing is written."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    shop = await sold("cs_1", over=Shop(clock, store))
    entry = await store.inside.get("access:cs_1")
    assert entry is not None
    before = [one for one in await shop.entries() if one.key != entry.key]

    async def touch() -> None:
        await store.inside.commit([Put(entry.key, entry.value)])

    store.overtaken_by = touch
    with pytest.raises(StoreUnavailable, match="changed meanwhile"):
        await CHANGES[action](shop, "because")
    assert [one for one in await shop.entries() if one.key != entry.key] == before


async def test_the_journal_newest_first() -> None:
    """The journal's newest entries come first, as many as asked for."""
    shop = await sold("cs_1")
    for reason in ("one", "two", "three"):
        shop.clock.advance(1)
        await shop.desk.resend("cs_1", reason)
    assert [entry.reason for entry in (await shop.desk.journal(2)).whole()] == ["three", "two"]


async def nothing(shop: Shop) -> None:
    """Leave the sale as it is."""


async def run_out(shop: Shop) -> None:
    """Let the access end."""
    shop.clock.advance((one_year_after(START) - START + timedelta(seconds=1)).total_seconds())


async def bought_without_an_address(shop: Shop) -> None:
    """Let a session without an e-mail address be sold."""
    await shop.offered("cs_9")
    await shop.receive("evt_9", session_json("cs_9", customer_details=None))


def import_until(shop: Shop, end: timedelta) -> Awaitable[object]:
    """Import access with this end."""
    return shop.imported(ImportedAccess(BUYER, PRODUCT.key, START + end))


Step = Callable[[Shop], Awaitable[object]]
DAYS, HOURS = timedelta(days=5), timedelta(hours=1)
UNCHANGED: list[tuple[Step, Step, str]] = [
    (lambda shop: shop.desk.revoke("cs_1", "refunded"), lambda shop: shop.desk.revoke("cs_1", "again"), "already"),
    (nothing, lambda shop: shop.desk.change_email("cs_1", BUYER.upper(), "a mistake"), "already"),
    (nothing, lambda shop: import_until(shop, HOURS), "ended"),
    (nothing, lambda shop: import_until(shop, -DAYS), "ended"),
    (bought_without_an_address, lambda shop: shop.desk.resend("cs_9", "asked"), "no e-mail address"),
    (lambda shop: shop.desk.revoke("cs_1", "refunded"), lambda shop: shop.desk.resend("cs_1", "asked"), "ended"),
    (run_out, lambda shop: shop.desk.resend("cs_1", "asked"), "ended"),
]
"""What was done before, and what therefore cannot be done: no letter says that access is open which is not."""


@each_case(("before", "change", "why"), UNCHANGED)
async def test_what_cannot_be_changed(before: Step, change: Step, why: str) -> None:
    """It is refused with the reason, and nothing is written, no letter either."""
    shop = await sold("cs_1")
    await before(shop)
    entries = await shop.entries()
    with pytest.raises(Invalid, match=why):
        await change(shop)
    assert await shop.entries() == entries


RACING: dict[str, Callable[[Shop], Awaitable[object]]] = {
    "revoke": lambda shop: shop.desk.revoke("cs_1", "refunded"),
    "change-email": lambda shop: shop.desk.change_email("cs_1", "bob@example.org", "asked"),
    "change-email to the buyer": lambda shop: shop.desk.change_email("cs_other", BUYER, "asked"),
    "grant": lambda shop: shop.desk.grant(BUYER, PRODUCT.key, "a present"),
}


@pytest.mark.parametrize("change", RACING)
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
        await RACING[change](Shop(clock, store))
    sold = await buyers.access("cs_2")
    await buyers.offered("cs_3")
    await buyers.receive("evt_3", session_json("cs_3"))
    assert (await buyers.access("cs_3")).expires_at == one_year_after(sold.expires_at)
