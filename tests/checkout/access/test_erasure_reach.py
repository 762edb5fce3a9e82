"""How far an erasure reaches, also while the shop goes on: every spelling, and what is damaged (decision 51)."""

import json
from collections.abc import Awaitable, Callable

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout.access.privacy import earlier_erasures
from orrery.checkout.records import KEEP_OFFERS, ErasedSession, WithheldSession
from orrery.errors import Invalid
from orrery.ports.store import Delete, Put
from orrery.runtime.outbox import Outbox
from orrery.runtime.search_terms import SearchTerms
from tests.checkout.access.test_privacy import everything, sold
from tests.checkout.access.test_reconcile import listed
from tests.support.checkout import BUYER, Shop, session, session_json, signed
from tests.support.clock import START, ManualClock
from tests.support.notifiers import ScriptedNotifier
from tests.support.unreliable_store import UnreliableStore

ANN, OLD, BOB = "ann@example.org", "ann.former@example.org", "bob@example.org"


async def handed_over() -> Shop:
    """Sell to Ann, who then has another address."""
    shop = await sold(Shop(), OLD, BOB)
    await shop.desk.change_email("cs_0", ANN, "a new mailbox")
    return shop


async def test_the_former_address_goes_too() -> None:
    """Erasing the address that a record has now leaves the former one nowhere: event, letter, record, intent."""
    shop = await handed_over()
    desk = shop.approving
    await desk.approvals.withdraw((await desk.proposed(target=OLD, body={"value": OLD})).id)
    erasure = await shop.privacy.erase(ANN, "asked")
    assert (erasure.kept, erasure.former) == ({}, (OLD,))
    left = await everything(shop)
    assert OLD not in left
    assert ANN not in left
    assert BOB in left


async def test_an_export_tells_of_the_former_address() -> None:
    """What is kept under the former address of a record is shown with it."""
    data = await (await handed_over()).privacy.export(ANN)
    assert [len(part) for part in (data["access"], data["events"], data["notifications"])] == [1, 1, 1]


async def test_a_former_address_that_is_used_again() -> None:
    """A former address that another record has now is not erased, but for what is about this sale."""
    shop = await sold(Shop(), OLD, OLD)
    await shop.desk.change_email("cs_0", ANN, "a new mailbox")
    erasure = await shop.privacy.erase(ANN, "asked")
    assert erasure.former == ()
    assert (await shop.lookup.check_email(OLD, "cissp")).granted
    events = [entry.key for entry in await shop.entries("event:") if OLD.encode() in entry.value]
    assert events == ["event:evt_1"]
    assert [row.id for row in await shop.told() if row.to == OLD] == ["buyer-cs_1"]


async def test_only_the_former_address() -> None:
    """Erasing a former address leaves the record to the address that it has now."""
    shop = await handed_over()
    await shop.privacy.erase(OLD, "asked")
    assert OLD not in await everything(shop)
    assert (await shop.access("cs_0")).email == ANN


async def test_back_and_forth() -> None:
    """An address that a record gets back is no former one."""
    shop = await handed_over()
    await shop.desk.change_email("cs_0", OLD, "the old mailbox")
    assert (await shop.access("cs_0")).former_emails == (ANN,)


LONGER = "İlker@example.org"
"""The lower case of its first letter is two characters."""


@pytest.mark.parametrize("asks", [LONGER, LONGER.lower(), LONGER.swapcase()])
@pytest.mark.parametrize("written", ["plain", "escaped", "cut", "cut and escaped", "latin", "twice", "deep"])
async def test_however_an_event_is_written(written: str, asks: str, shop: Shop) -> None:
    """An address is found in an event that is no JSON, that names two, or nests deeper than can be read."""
    address = "I\N{LATIN SMALL LETTER U WITH DIAERESIS}@example.org" if written == "latin" else LONGER
    body = written_as(written, address)
    await shop.store.commit([Put("event:evt_0", body)])
    await shop.privacy.erase(address if written == "latin" else asks, "asked")
    entry = await shop.store.get("event:evt_0")
    assert entry is not None
    assert entry.value == b'{"erased":true}'


def written_as(written: str, address: str) -> bytes:
    """Return an event's body that names an address."""
    event = {"id": "evt_0", "data": {"object": {"customer_email": address}}}
    plain, escaped = json.dumps(event, ensure_ascii=False), json.dumps(event).encode()
    ways = {
        "plain": plain.encode(),
        "escaped": escaped,
        "cut": plain.encode()[:-2],
        "cut and escaped": escaped[:-2],
        "twice": b'{"email":%s,"email":"bob@example.org"}' % json.dumps(address).encode(),
        "deep": b"[" * 100_000 + json.dumps(address).encode(),
    }
    return plain.encode("latin-1") if written == "latin" else ways[written]


@pytest.mark.parametrize("neighbour", ["İann@example.org", "I\u0307ann@example.org", "ann@example.orgI\u0307"])
async def test_a_letter_that_gets_longer_is_still_a_letter(neighbour: str) -> None:
    """Erasing an address spares one that has such a letter before or after it."""
    shop = await sold(Shop(), neighbour)
    await shop.privacy.erase(ANN, "asked")
    assert len((await shop.privacy.export(neighbour))["events"]) == 1


def test_a_sigma_at_the_end_of_a_word() -> None:
    """The lower case of a sigma, which depends on the letters around it, hides no address."""
    sought = SearchTerms(frozenset({"\N{GREEK SMALL LETTER SIGMA}@example.org"}))
    assert sought.addressed_in("<to:\N{GREEK CAPITAL LETTER SIGMA}@example.org".encode().replace(b"<to:", b"to: "))
    assert sought.addressed_in("\N{GREEK SMALL LETTER FINAL SIGMA}@example.org".encode())


@pytest.mark.parametrize("field", ["known", "unknown"])
async def test_fields_that_this_release_does_not_know(field: str) -> None:
    """Where a record that others need names the person in such a field, the field goes and the rest stays."""
    shop = await sold(Shop(), ANN, BOB)
    pending = WithheldSession(session_id="cs_2", state="waiting", reason="unpaid", event_id=None, noted_at=START)
    newer = json.loads(pending.to_bytes()) | ({"buyer": ANN} if field == "unknown" else {"reason": ANN})
    bobs = await shop.store.get("access:cs_1")
    assert bobs is not None
    gift = json.loads(bobs.value) | {"given_by": ANN}
    puts = [
        Put("pending:cs_2", json.dumps(newer).encode(), KEEP_OFFERS),
        Put(bobs.key, json.dumps(gift).encode()),
    ]
    await shop.store.commit(puts)
    await shop.privacy.erase(ANN, "asked")
    assert ANN not in await everything(shop)
    kept = await shop.store.get("pending:cs_2")
    assert (kept is not None) == (field == "unknown")
    assert kept is None or kept.expires_at == START + KEEP_OFFERS
    assert (await shop.access("cs_1")).email == BOB


async def test_an_event_that_cannot_be_read_asks_for_nothing_more() -> None:
    """With an erased event goes the note that it could not be read: nothing is left to read."""
    shop = await sold(Shop(), BOB)
    body = b'{"id":"evt_9","data":{"object":{"email":"%s"}}' % ANN.encode()
    assert await shop.webhook.receive(body, signed(body, shop.clock.now())) == "unreadable"
    assert len(await shop.entries("unreadable-event:")) == 1
    await shop.privacy.erase(ANN, "asked")
    assert await shop.entries("unreadable-event:") == []
    assert ANN not in await everything(shop)


async def without_records(shop: Shop) -> None:
    """Let the store forget sale and event, as one that was restored: what tells of the erasure stays."""
    forgotten = [*await shop.entries("access"), *await shop.entries("event:"), *await shop.entries("offer:")]
    await shop.store.commit([Delete(entry.key) for entry in forgotten])


async def test_what_was_erased_is_not_granted_again() -> None:
    """Reconciliation, dry or not, and a late event leave an erased session alone, and keep nothing of it."""
    shop = await sold(Shop(), ANN)
    await shop.privacy.erase(ANN, "asked")
    await without_records(shop)
    shop.processor.add(listed("cs_0", email=ANN))
    for dry_run in (True, False):
        report = await shop.reconciliation.run(dry_run=dry_run)
        assert (report.granted, report.paid_without_access) == ([], [])
    assert await shop.receive("evt_0", session_json("cs_0", customer_details={"email": ANN})) == "already"
    assert ANN not in await everything(shop)
    assert await shop.entries("access:") == []


@pytest.mark.parametrize("paid", ["paid", "unpaid"])
async def test_an_erasure_that_overtakes_an_event(paid: str) -> None:
    """What is erased while its event is handled opens nothing, waits for nothing, and leaves no address."""
    store = UnreliableStore(MemoryStore(clock := ManualClock()))
    shop = Shop(clock, store)
    await shop.offered("cs_1")
    note = shop.stored.erased.put(ErasedSession(erased_at=clock.now()), shop.stored.erasure_id("cs_1"))
    store.overtaken_by = lambda: store.inside.commit([note])
    event = session_json("cs_1", customer_details={"email": ANN}, payment_status=paid)
    assert await shop.receive("evt_1", event) == "already"
    assert ANN not in await everything(shop)
    assert [*await shop.entries("access"), *await shop.entries("pending:"), *await shop.told()] == []


async def test_what_is_bought_later_is_granted() -> None:
    """A purchase after the erasure is granted like any other."""
    shop = await sold(Shop(), ANN)
    await shop.privacy.erase(ANN, "asked")
    await shop.offered("cs_9")
    assert await shop.receive("evt_9", session_json("cs_9", customer_details={"email": ANN})) == "granted"


async def test_no_tombstone_names_a_session() -> None:
    """What keeps a session from being granted is a digest under the store's key: the id is a ticket."""
    shop = await sold(Shop(), ANN)
    await shop.privacy.erase(ANN, "asked")
    (tombstone,) = await shop.entries("erased-session:")
    assert "cs_0" not in f"{tombstone.key}{tombstone.value!r}"


@pytest.fixture
async def restored() -> tuple[Shop, Shop]:
    """Return a shop in which two were erased, and the same as an older snapshot knows it: with the first only."""
    shop = await sold(Shop(), ANN)
    snapshot = Shop(shop.clock, MemoryStore(shop.clock))
    await snapshot.store.commit([Put(entry.key, entry.value, None) for entry in await shop.entries()])
    await shop.offered("cs_5")
    await shop.receive("evt_5", session_json("cs_5", customer_details={"email": "eve@example.org"}))
    for address in (ANN, "eve@example.org"):
        await shop.privacy.erase(address, "asked")
    return shop, snapshot


async def test_a_restore_erases_again(restored: tuple[Shop, Shop]) -> None:
    """What was erased since the snapshot is erased in it, once; what was sold since keeps its access."""
    shop, snapshot = restored
    done = await snapshot.privacy.erasures(shop.store)
    assert await snapshot.privacy.erase_again(done) == (2, [])
    assert ANN not in await everything(snapshot)
    assert (await snapshot.access("cs_5")).email == ""
    assert (await snapshot.lookup.check_session("cs_5", "cissp")).granted
    assert {noted.record.session_id for noted, _ in await earlier_erasures(snapshot.store, snapshot.clock)} == {
        "cs_0",
        "cs_5",
    }
    before = await snapshot.entries()
    assert await snapshot.privacy.erase_again(done) == (0, [])
    assert await snapshot.entries() == before


async def test_a_buyer_that_is_known_again_is_not_brought_along(restored: tuple[Shop, Shop]) -> None:
    """A record that got an address after its erasure is not copied into the snapshot with that."""
    shop, snapshot = restored
    await shop.desk.change_email("cs_5", BOB, "it was theirs")
    await snapshot.privacy.erase_again(await snapshot.privacy.erasures(shop.store))
    assert BOB not in await everything(snapshot)


async def test_a_restore_names_what_it_cannot_erase(restored: tuple[Shop, Shop]) -> None:
    """A record of the snapshot that cannot be read keeps no other from being erased again."""
    shop, snapshot = restored
    await snapshot.store.commit([Put("access:cs_0", b"{")])
    again, left = await snapshot.privacy.erase_again(await snapshot.privacy.erasures(shop.store))
    assert (again, [error.name for error in left]) == (1, ["access:cs_0"])


COMMITS = (1, 2, 3)
"""What an undisturbed erasure of one sale commits: the mail, the event, the record."""


async def erased_while(act: Callable[[Shop], Awaitable[object]], commit: int) -> Shop:
    """Sell, and erase the buyer while `act` comes ahead of one of the erasure's commits."""
    clock = ManualClock()
    others = Shop(clock, MemoryStore(clock))
    await others.offered("cs_1", "cs_2")
    await others.receive("evt_1", session_json())
    store = UnreliableStore(others.store)

    async def overtake() -> None:
        if store.commits == commit:
            store.overtaken_by = None
            await act(others)

    store.overtaken_by = overtake
    await Shop(clock, store).privacy.erase(BUYER, "asked")
    return others


async def mentions(shop: Shop) -> list[str]:
    """Return the keys of what still holds the buyer's address."""
    return [entry.key for entry in await shop.entries() if BUYER.encode() in entry.value]


@pytest.mark.parametrize("commit", COMMITS)
async def test_a_delivery_meanwhile_leaves_no_address(commit: int) -> None:
    """A mail that is delivered during the erasure does not keep the address."""

    async def deliver(shop: Shop) -> None:
        taken = ScriptedNotifier()
        await Outbox(shop.store, shop.clock, {"push": taken, "email": taken}).deliver_due()

    assert await mentions(await erased_while(deliver, commit)) == []


@pytest.mark.parametrize("commit", COMMITS)
async def test_a_sale_meanwhile_leaves_no_address(commit: int) -> None:
    """What the buyer buys during the erasure is erased too."""
    shop = await erased_while(lambda shop: shop.receive("evt_2", session_json("cs_2")), commit)
    assert await mentions(shop) == []


@pytest.mark.parametrize("commit", COMMITS)
async def test_a_revocation_meanwhile_holds(commit: int) -> None:
    """Access that the owner takes back during the erasure stays taken back."""
    shop = await erased_while(lambda shop: shop.desk.revoke("cs_1", "refunded"), commit)
    assert (await shop.access()).revoked_at == START


async def test_a_late_event_does_not_bring_the_buyer_back(shop: Shop) -> None:
    """An event that comes after reconciliation and an erasure is known, and nothing of its buyer is kept."""
    await shop.offered("cs_1")
    shop.processor.add(session(price_ids=("price_cissp",)))
    await shop.reconciliation.run()
    await shop.privacy.erase(BUYER, "asked")
    assert await shop.receive("evt_late", session_json()) == "already"
    assert await mentions(shop) == []
    assert [entry.key for entry in await shop.entries("event:")] == ["event:evt_late"]


@pytest.mark.parametrize("reason", ["ann@example.org asked", "on behalf of <Ann@Example.org>", " "])
async def test_no_address_in_a_reason(reason: str, shop: Shop) -> None:
    """A reason is kept permanently: one that names an address is refused before anything is erased or changed."""
    await shop.offered("cs_1")
    await shop.receive("evt_1", session_json())
    before = await shop.entries()
    with pytest.raises(Invalid, match="reason"):
        await shop.privacy.erase(BUYER, reason)
    with pytest.raises(Invalid, match="reason"):
        await shop.desk.change_email("cs_1", "bob@example.org", reason)
    assert await shop.entries() == before


async def test_every_client_address_that_is_due_goes_at_once() -> None:
    """However many offers turn thirty days old, one round of the job erases all their addresses."""
    shop, count = Shop(), 1201
    for number in range(count):
        await shop.store.commit([Put(f"offer-address:20260301T120000.000000Z:cs_{number}", b"cs_%d" % number)])
    shop.clock.advance(31 * 86_400)
    assert await shop.buyer_data.erase_old_addresses() == count
    assert await shop.entries("offer-address:") == []
