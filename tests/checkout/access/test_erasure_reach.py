"""How far an erasure reaches: former addresses, every spelling, what is damaged, and the future (decision 51)."""

import json

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.checkout import keys
from orrery.checkout.access.privacy import earlier_erasures
from orrery.checkout.records import KEEP_OFFERS, Pending
from orrery.ports.store import Delete, Put
from orrery.runtime.search_terms import SearchTerms
from tests.checkout.access.test_privacy import everything, sold
from tests.checkout.access.test_reconcile import listed
from tests.support.checkout import Shop, session_json, signed
from tests.support.clock import START

pytestmark = pytest.mark.anyio

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
    pending = Pending(session_id="cs_2", state="waiting", reason="unpaid", event_id=None, noted_at=START)
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
    assert len(await shop.entries(keys.UNREADABLE_EVENT)) == 1
    await shop.privacy.erase(ANN, "asked")
    assert await shop.entries(keys.UNREADABLE_EVENT) == []
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
    shop.processor.sessions.append(listed("cs_0", email=ANN))
    for dry_run in (True, False):
        report = await shop.reconciliation.run(dry_run=dry_run)
        assert (report.granted, report.paid_without_access) == ([], [])
    assert await shop.receive("evt_0", session_json("cs_0", customer_details={"email": ANN})) == "already"
    assert ANN not in await everything(shop)
    assert await shop.entries("access:") == []


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
    (tombstone,) = await shop.entries(keys.ERASED)
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
    assert {one.session_id for one in await earlier_erasures(snapshot.store, snapshot.clock)} == {"cs_0", "cs_5"}
    before = await snapshot.entries()
    assert await snapshot.privacy.erase_again(done) == (0, [])
    assert await snapshot.entries() == before


async def test_a_restore_names_what_it_cannot_erase(restored: tuple[Shop, Shop]) -> None:
    """A record of the snapshot that cannot be read keeps no other from being erased again."""
    shop, snapshot = restored
    await snapshot.store.commit([Put("access:cs_0", b"{")])
    again, left = await snapshot.privacy.erase_again(await snapshot.privacy.erasures(shop.store))
    assert (again, [error.name for error in left]) == (1, ["access:cs_0"])
