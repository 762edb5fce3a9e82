"""Stores that earlier releases left: today's code reads all of them, and what stands on them goes on.

The stores of 2026-11 were written before records kept unknown fields, by `tests/journeys/test_older_releases.py`
over a demo of that release: sales, a delayed payment, declines, access that was granted, imported, moved and
revoked, intents that were signed, withdrawn and erased, a refused e-mail. One of them is a snapshot after `orrery
restore`. Every person in them is made up. Their store keys were the demo's.
"""

import lzma
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from orrery.adapters.sqlite import SqliteStore
from orrery.approvals.approval_log import ApprovalLog
from orrery.approvals.intent_store import IntentStore
from orrery.checkout.access.lookup import Lookup
from orrery.checkout.catalogue import Catalogue
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import AccessRecord
from orrery.ports.processor import ProcessorReads
from orrery.ports.store import Put
from orrery.runtime.collection import FOR_EVER, Collection
from orrery.runtime.index_key import index_key
from orrery.runtime.outbox import Outbox
from tests.support.clock import ManualClock
from tests.support.processor import ScriptedProcessor
from tests.support.reading import DECLARED, read, unreadable
from tests.support.stores import entries

FILES = sorted(Path(__file__).parent.glob("*.db.xz"))
WRITTEN = datetime(2026, 11, 22, 6, tzinfo=UTC)
"""When the stores of November 2026 were left: what they hold for a time has not run out yet."""


@pytest.fixture(params=FILES, ids=lambda file: file.name.partition(".")[0])
def store_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a copy of an old store."""
    file = tmp_path / "orrery.db"
    file.write_bytes(lzma.decompress(request.param.read_bytes()))
    return file


async def test_every_record_is_read(store_file: Path) -> None:
    """No record of an old store is unreadable, and none lies under a key that is not known any more."""
    clock = ManualClock(WRITTEN)
    assert await unreadable(store_file, clock) == []
    found = [entry.key async for entry in entries(store_file, clock)]
    assert len(found) > 80
    assert [key for key in found if not key.startswith(DECLARED)] == []


async def test_what_is_written_back_is_what_was_read(store_file: Path) -> None:
    """A record that a later release extended keeps the extension through each reader of this one."""
    async for entry in entries(store_file, ManualClock(WRITTEN)):
        extended = entry.value.replace(b"{", b'{"later":{"x":[1,2]},', 1)
        if record := read(replace(entry, value=extended)):
            assert b'"later":{"x":[1,2]}' in record.to_bytes(), entry.key


async def test_buyers_keep_their_access(store_file: Path) -> None:
    """Each access record opens what it opened, by its session and by its buyer's address."""
    clock = ManualClock(WRITTEN)
    store = await SqliteStore.open(store_file, clock)
    try:
        lookup = Lookup(
            CheckoutRecords(store, clock, await index_key(store)),
            Catalogue(),
            cast("ProcessorReads", ScriptedProcessor(clock)),
        )
        records = (await Collection(store, clock, AccessRecord, "access:", life=FOR_EVER).all()).whole()
        assert len(records) >= 7
        for record in records:
            found = await lookup.record(record.session_id)
            assert found == record
            if record.email:
                assert record in await lookup.records_of(record.email)
    finally:
        await store.close()


async def test_the_approval_log_holds(store_file: Path) -> None:
    """The chain and the digests of intents are those that were signed."""
    clock = ManualClock(WRITTEN)
    store = await SqliteStore.open(store_file, clock)
    try:
        log = ApprovalLog(store, clock)
        assert await log.broken_at() is None
        steps = IntentStore(store, clock, log)
        assert await steps.unreadable() == []
        proposals = await steps.proposals()
        assert len(proposals) == 2
        assert len(await steps.erased()) == 1
        digests = {entry.intent_id: entry.digest async for entry in log.entries() if entry}
        assert all(one.intent.digest() == digests[one.intent.id] for one in proposals)
    finally:
        await store.close()


async def test_unknown_fields_survive_the_owners_change(store_file: Path) -> None:
    """A notification that a later release extended is released by this one with its extension."""
    clock = ManualClock(WRITTEN)
    store = await SqliteStore.open(store_file, clock)
    try:
        rows = await store.scan("outbox:", limit=1000)
        dead = next(row for row in rows if b'"state":"dead"' in row.value)
        extended = dead.value.replace(b"{", b'{"later":"kept",', 1)
        await store.commit([Put(dead.key, extended)])
        await Outbox(store, clock, {}).release(dead.key.removeprefix("outbox:"))
        after = await store.get(dead.key)
        assert after
        assert b'"later":"kept"' in after.value
        assert b'"state":"waiting"' in after.value
    finally:
        await store.close()
