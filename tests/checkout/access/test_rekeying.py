"""Imports of earlier releases, whose ids could be computed from an address, get random ones (decision 46).

The store is that of `tests.support.old_imports`.
"""

import json
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.adapters.sqlite import SqliteStore
from orrery.checkout.access.imports import ImportedAccess
from orrery.checkout.access.rekeying import rekey_imports
from orrery.checkout.collections import CheckoutRecords, former_import_id
from orrery.errors import NotFound, RecordUnreadable, StoreUnavailable
from orrery.ports.store import Put, Store, StoreEntry
from orrery.runtime.outbox import Outbox
from orrery.runtime.references import References, ReferringNotifier
from tests.support.checkout import INDEX_KEY, PRODUCT, Shop, record, stored_access
from tests.support.clock import START, ManualClock
from tests.support.killed import Fuse, Killed
from tests.support.notifiers import ScriptedNotifier
from tests.support.old_imports import END, FORMER, LINES, UNREADABLE, put_store
from tests.support.unreliable_store import UnreliableStore

MORE = 210
"""So many imports more, and one commit does not take all."""


def line(name: str) -> ImportedAccess:
    """Return a line as `orrery access import` reads it."""
    return ImportedAccess(f"{name.lower()}@example.org", PRODUCT.key, LINES[name])


@asynccontextmanager
async def old_store(folder: Path, clock: ManualClock) -> AsyncGenerator[Store]:
    """Open a copy of the store."""
    file = folder / "orrery.db"
    put_store(file)
    store = await SqliteStore.open(file, clock)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncGenerator[Shop]:
    """Return a shop over the old store, opened by today's code."""
    clock = ManualClock()
    async with old_store(tmp_path, clock) as store:
        assert await rekey_imports(CheckoutRecords(store, clock, INDEX_KEY)) == len(LINES) - 1
        yield Shop(clock=clock, over=store)


async def copied(folder: Path, clock: ManualClock) -> MemoryStore:
    """Return what is in the old store, in memory."""
    memory = MemoryStore(clock)
    async with old_store(folder, clock) as store:
        for entry in await store.scan("", limit=10_000):
            left = entry.expires_at - clock.now() if entry.expires_at else None
            await memory.commit([Put(entry.key, entry.value, left)])
    return memory


def texts(entries: list[StoreEntry]) -> Iterator[str]:
    """Yield every key with its value."""
    return (f"{entry.key} {entry.value.decode(errors='replace')}" for entry in entries)


@pytest.mark.parametrize("name", FORMER)
async def test_computed_id_opens_nothing(shop: Shop, name: str) -> None:
    """Who computes an id from an address learns nothing by it, and opens nothing."""
    nothing = RecordUnreadable if name == UNREADABLE else NotFound
    with pytest.raises(nothing):
        await shop.session_states.of(FORMER[name])
    if name != UNREADABLE:
        assert not (await shop.lookup.check_session(FORMER[name], "cissp")).granted


async def test_nothing_names_a_former_id(shop: Shop) -> None:
    """No key and no value of the store holds a former id, but for those of the record that cannot be read."""
    unreadable = FORMER[UNREADABLE]
    left = [text for text in texts(await shop.entries()) if any(one in text for one in FORMER.values())]
    assert all(unreadable in text for text in left)
    assert {text.partition(":")[0] for text in left} == {"access", "access-by-email", "access-by-time", "journal"}


async def test_buyers_keep_their_access(shop: Shop) -> None:
    """Everybody who had access has it, by address and by the new id; what was revoked or erased stays so."""
    open_to = {"ann", "bob.new", "joe", "lee", "max", "una"}
    for name in (*open_to, "bob", "eve", "kim"):
        found = await shop.lookup.check_email(f"{name}@example.org", "cissp")
        assert found.granted == (name in open_to), name
    for name in open_to:
        for one in await shop.lookup.records_of(f"{name}@example.org"):
            assert re.fullmatch("imported_[0-9a-f]{24}", one.session_id)
            assert (await shop.lookup.check_session(one.session_id, "cissp")).granted
    assert len(await shop.lookup.records_of("lee@example.org")) == 2


async def test_order_of_the_list_stays(shop: Shop) -> None:
    """The owner's list shows the same records in the same order."""
    names = [found.email.partition("@")[0] for found in (await shop.desk.newest(99)).values()]
    imports = [name for name in names if name not in {"pat", "sue"}]
    assert imports == ["una", "max", "lee", "lee", "", "joe", "eve", "bob.new", "ann"]


async def test_ids_are_random(tmp_path: Path) -> None:
    """Two copies of one store get different ids: nobody computes them, with the store's key or without."""
    found: list[set[str]] = []
    for number in range(2):
        clock = ManualClock()
        folder = tmp_path / str(number)
        folder.mkdir()
        async with old_store(folder, clock) as store:
            await rekey_imports(CheckoutRecords(store, clock, INDEX_KEY))
            found.append({entry.key for entry in await store.scan("access:imported_", limit=1000)})
    assert len(found[0]) == len(LINES) - 1
    assert not found[0] & found[1]


@pytest.mark.parametrize("name", LINES)
async def test_repeated_import_finds_its_row(shop: Shop, name: str) -> None:
    """A line is known, also when its address was changed or erased since, or its record cannot be read."""
    assert await shop.was_imported(line(name))
    before = await shop.entries()
    assert await shop.imported(line(name)) == 0
    assert await shop.entries() == before


async def test_new_line_is_imported_once() -> None:
    """A line that is imported today gets a random id, and is known when it comes again, also after an erasure."""
    shop = Shop()
    assert await shop.imported(line("ann")) == 1
    [imported] = await shop.lookup.records_of("ann@example.org")
    assert imported.session_id != FORMER["ann"]
    assert await shop.was_imported(line("ann"))
    await shop.desk.change_email(imported.session_id, "ann.new@example.org", "a new mailbox")
    await shop.privacy.erase("ann.new@example.org", "asked")
    assert await shop.was_imported(line("ann"))
    assert await shop.imported(line("ann")) == 0


async def test_nothing_computable_is_left_by_an_erasure() -> None:
    """After an erasure nothing in the store can be computed from the address without the store's key."""
    shop = Shop()
    _ = await shop.imported(line("ann"))
    await shop.privacy.erase("ann@example.org", "asked")
    stored = "\n".join(texts(await shop.entries()))
    assert FORMER["ann"].removeprefix("import_") not in stored
    assert shop.stored.line_id(FORMER["ann"]) in stored
    assert CheckoutRecords(shop.store, shop.clock, b"another key").line_id(FORMER["ann"]) not in stored


async def test_journal_goes_along(shop: Shop) -> None:
    """What the owner did to a record is told of its new id."""
    (bob,) = await shop.lookup.records_of("bob.new@example.org")
    told = [one.action for one in (await shop.desk.journal(99)).whole() if one.session_id == bob.session_id]
    assert sorted(told) == ["change-email", "import"]
    erased = next(one for one in (await shop.desk.journal(99)).whole() if one.action == "erase")
    assert (await shop.access(erased.session_id)).email == ""


async def delivered(shop: Shop) -> dict[str, ScriptedNotifier]:
    """Deliver all that waits, twice, as the service does."""
    receivers = {"push": ScriptedNotifier(), "email": ScriptedNotifier()}
    references = References.of_store(INDEX_KEY)
    push, email = (ReferringNotifier(receivers[channel], references) for channel in ("push", "email"))
    outbox = Outbox(shop.store, shop.clock, {"push": push, "email": email})
    for _ in range(2):
        await outbox.deliver_due(since=1)
        shop.clock.advance(3600)
    return receivers


async def test_waiting_letter_names_the_new_id(shop: Shop) -> None:
    """A letter that waited goes out once, with the id that works now."""
    notifications = (await delivered(shop))["email"].accepted
    (joe,) = await shop.lookup.records_of("joe@example.org")
    assert [
        f"Your order: {joe.session_id}" in one.body for one in notifications if one.to == "joe@example.org"
    ] == [True]


async def test_messages_of_an_earlier_release_go_out_once_without_ids(shop: Shop) -> None:
    """What waited before the upgrade is delivered once, and no id leaves by push or in a header."""
    receivers = await delivered(shop)
    of = References.of_store(INDEX_KEY).of
    pushes, notifications = receivers["push"].accepted, receivers["email"].accepted
    withheld = f"withheld-{of('cs_test_notPaid7')}-unpaid"
    assert sorted(one.id for one in pushes) == sorted([withheld, f"owner-{of('cs_test_sold4Sue')}"])
    assert f"Session {of('cs_test_notPaid7')}: unpaid." in "".join(one.body for one in pushes)
    assert sorted(one.to for one in notifications) == ["joe@example.org", "sue@example.org"]
    left = [f"{one.id} {one.title}" for one in (*pushes, *notifications)] + [one.body for one in pushes]
    assert not re.search("cs_test|import|owner_", " ".join(left))


async def test_dead_letter_is_released_under_its_new_name(shop: Shop) -> None:
    """A letter that was refused permanently before is listed, counted and released as any other."""
    (max_,) = await shop.lookup.records_of("max@example.org")
    (dead,) = (await shop.outbox.undelivered(9, "dead")).values()
    assert dead.id.startswith(f"buyer-{max_.session_id}-")
    assert (await shop.outbox.count("dead"), (await shop.outbox.undelivered(None)).unreadable) == (1, [])
    assert await shop.outbox.release(dead.id)
    assert "max@example.org" in [one.to for one in (await delivered(shop))["email"].accepted]


async def test_delivered_letter_is_kept_no_longer(tmp_path: Path) -> None:
    """The time for which a delivered letter is kept does not begin anew."""
    clock = ManualClock()
    async with old_store(tmp_path, clock) as store:
        before = {entry.expires_at for entry in await store.scan("outbox:", limit=99)}
        await rekey_imports(CheckoutRecords(store, clock, INDEX_KEY))
        assert {entry.expires_at for entry in await store.scan("outbox:", limit=99)} == before


async def test_second_look_writes_nothing(shop: Shop) -> None:
    """Once all have random ids, opening the store changes nothing."""
    before = await shop.entries()
    assert await rekey_imports(shop.stored) == 0
    assert await shop.entries() == before


def gist(entries: list[StoreEntry]) -> list[str]:
    """Return what is stored, with each random id told by what its record says."""
    whose = {
        found["session_id"]: f"{found['email'] or 'erased'}, {found['expires_at']}"
        for entry in entries
        if entry.key.startswith("access:imported_") and (found := json.loads(entry.value))
    }
    of = References.of_store(INDEX_KEY).of
    whose |= {of(session_id): f"reference of {buyer}" for session_id, buyer in whose.items()}
    random = re.compile("imported_[0-9a-f]{24}|ref_[0-9a-z]{12}")
    return sorted(random.sub(lambda one: whose.get(one[0], "sold"), text) for text in texts(entries))


async def crowded(folder: Path, clock: ManualClock) -> MemoryStore:
    """Return the old store with more imports than one commit takes."""
    memory = await copied(folder, clock)
    for number in range(MORE):
        buyer = f"p{number}@example.org"
        one = record(former_import_id(buyer, PRODUCT.key, END), email=buyer, granted_by="import")
        await memory.commit(stored_access(one))
    return memory


async def test_killed_anywhere(tmp_path: Path) -> None:
    """Wherever a process is killed, everything hangs together, and the next process brings it to the same end."""
    clock = ManualClock()
    whole = await crowded(tmp_path, clock)
    await rekey_imports(CheckoutRecords(whole, clock, INDEX_KEY))
    wanted = gist(await whole.scan("", limit=10_000))
    at = 0
    while True:
        at += 1
        memory, fuse = await crowded(tmp_path, clock), Fuse(at)
        try:
            await rekey_imports(CheckoutRecords(UnreliableStore(memory, fuse=fuse), clock, INDEX_KEY))
        except Killed:
            await see_consistent(Shop(clock=clock, over=memory))
            await rekey_imports(CheckoutRecords(memory, clock, INDEX_KEY))
        assert gist(await memory.scan("", limit=10_000)) == wanted
        if fuse.survived:
            break
    assert at > 6


async def see_consistent(shop: Shop) -> None:
    """See that every record is found by address and in the list, once, whichever id it has."""
    assert (await shop.lookup.check_email("ann@example.org", "cissp")).granted
    assert len(await shop.lookup.records_of("lee@example.org")) == 2
    assert (await shop.lookup.check_email("p0@example.org", "cissp")).granted
    listed = await shop.desk.newest(999)
    assert (len(listed.records), len(listed.unreadable)) == (len(LINES) + 1 + MORE, 1)


async def test_two_processes_at_once(tmp_path: Path) -> None:
    """A second process that opens the store meanwhile changes nothing about the end: one id for each record."""
    clock = ManualClock()
    memory = await crowded(tmp_path, clock)
    store = UnreliableStore(memory)

    async def another() -> None:
        store.overtaken_by = None
        await rekey_imports(CheckoutRecords(memory, clock, INDEX_KEY))

    store.overtaken_by = another
    assert await rekey_imports(CheckoutRecords(store, clock, INDEX_KEY)) == 0
    await see_consistent(Shop(clock=clock, over=memory))


async def test_change_meanwhile_is_kept(tmp_path: Path) -> None:
    """What an earlier release that still runs changes in between is not lost."""
    clock = ManualClock()
    memory = await copied(tmp_path, clock)
    store, running = UnreliableStore(memory), Shop(clock=clock, over=memory)

    async def revoke() -> None:
        store.overtaken_by = None
        await running.desk.revoke(FORMER["joe"], "moved away")

    store.overtaken_by = revoke
    assert await rekey_imports(CheckoutRecords(store, clock, INDEX_KEY)) == len(LINES) - 1
    assert not (await running.lookup.check_email("joe@example.org", "cissp")).granted


async def test_endless_changes_end_in_an_error(tmp_path: Path) -> None:
    """A record that changes before every commit ends in an error, not in a loop."""
    clock = ManualClock()
    memory = await copied(tmp_path, clock)
    key = f"access:{FORMER['ann']}"

    async def touch() -> None:
        entry = await memory.get(key)
        assert entry
        await memory.commit([Put(key, entry.value)])

    with pytest.raises(StoreUnavailable, match="try again"):
        await rekey_imports(CheckoutRecords(UnreliableStore(memory, overtaken_by=touch), clock, INDEX_KEY))
    left = [entry.key for entry in await memory.scan("access:import_", limit=99)]
    assert sorted(left) == sorted([key, f"access:{FORMER[UNREADABLE]}"])


async def test_import_by_an_earlier_release_after_a_rollback(shop: Shop) -> None:
    """What an earlier release imports anew after a rollback gets a random id too; the first row stays known."""
    line = f"imported:{shop.stored.line_id(FORMER['ann'])}"
    known = await shop.store.get(line)
    assert known
    again = record(FORMER["ann"], email="ann@example.org", granted_by="import", granted_at=START)
    await shop.store.commit([Put(f"access:{FORMER['ann']}", again.to_bytes())])
    assert await rekey_imports(shop.stored) == 1
    assert await shop.store.get(line) == known
    with pytest.raises(NotFound):
        await shop.session_states.of(FORMER["ann"])


async def test_unknown_fields_are_kept(tmp_path: Path) -> None:
    """A field that a later release has added to a record comes along."""
    clock = ManualClock()
    memory = await copied(tmp_path, clock)
    key = f"access:{FORMER['ann']}"
    entry = await memory.get(key)
    assert entry
    await memory.commit([Put(key, entry.value.replace(b"{", b'{"later":"kept",', 1))])
    await rekey_imports(CheckoutRecords(memory, clock, INDEX_KEY))
    (ann,) = await Shop(clock=clock, over=memory).lookup.records_of("ann@example.org")
    assert b'"later":"kept"' in ann.to_bytes()


async def test_capitals_beyond_ascii_of_an_earlier_release() -> None:
    """A line whose address an earlier release stored in lower case, beyond ASCII too, is known as it is typed."""
    shop = Shop()
    former = former_import_id("jürgen@example.org", PRODUCT.key, END)
    then = record(former, email="jürgen@example.org", granted_by="import", granted_at=START)
    await shop.store.commit([Put(f"access:{former}", then.to_bytes())])
    typed = ImportedAccess("JÜRGEN@example.org", PRODUCT.key, END)
    assert await shop.was_imported(typed)
    await rekey_imports(shop.stored)
    assert await shop.was_imported(typed)
