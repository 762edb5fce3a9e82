"""What a health round asks of the store: once a minute, or after a failed commit, all that a sale needs."""

import asyncio
from pathlib import Path

import pytest
from anyio import Path as AsyncPath

from orrery.adapters.memory import MemoryStore
from orrery.errors import OutcomeUnknown, StoreError, StoreUnavailable
from orrery.ports.health import Finding
from orrery.ports.store import Delete, Inspection, Put, Store, StoreRisk
from orrery.runtime.index_key import INDEX_KEY, index_key
from orrery.runtime.outbox import Outbox
from orrery.runtime.store_probe import MIB, SALE, StoreProbe
from orrery.runtime.watch import OutageWatch
from tests.support.clock import ManualClock
from tests.support.stores import new_store
from tests.support.unreliable_store import UnreliableStore

FULL = StoreUnavailable("The disk is full.")
ROUND = 10
LOG = 1000 * 4120
"""Bytes of a log that is brought into the file (SQLite's wal_autocheckpoint)."""


class Examined:
    """A probe over a store, and what it says of it."""

    def __init__(self, least_free: int = 0) -> None:
        self.clock = ManualClock()
        self.store = UnreliableStore(MemoryStore(self.clock))
        self.probe = StoreProbe(self.store, self.clock, least_free)

    async def round(self, seconds: float = ROUND) -> str:
        """Return why the store is broken in the next health round, or ""."""
        self.clock.advance(seconds)
        await self.probe.examine()
        found = await self.probe.findings("Do that.")
        return "; ".join(one.why for one in found if one.state == "broken")


async def test_a_round_rarely_writes() -> None:
    """While no commit fails, one round of six writes, as much as a sale, under one key."""
    one = Examined()
    for _ in range(24):
        assert await one.round() == ""
    assert one.store.commits == 4
    (entry,) = await one.store.scan("")
    assert len(entry.value) == SALE


@pytest.mark.parametrize("error", [FULL, OutcomeUnknown("The disk is full.", "id")])
async def test_after_a_failed_commit_the_next_round_writes(error: StoreError) -> None:
    """Whoever met it: the store is broken in the next round, and well in the first that can write again."""
    one = Examined()
    assert await one.round() == ""
    one.store.commit_errors = [error] * 4
    with pytest.raises(StoreError):
        await one.store.commit([Put("a", b"")])
    assert [await one.round() for _ in range(4)] == ["The disk is full."] * 3 + [""]


async def test_without_a_commit_a_minute_shows_it() -> None:
    """A store that cannot be written is found within a minute though nobody writes to it."""
    one = Examined()
    assert await one.round() == ""
    one.store.commit_errors = [FULL]
    assert [await one.round() for _ in range(6)] == [""] * 5 + ["The disk is full."]


async def test_a_store_that_is_emptied_in_use_is_broken() -> None:
    """Another program deletes what is in it: that is seen, though each call succeeds."""
    one = Examined()
    await index_key(one.store)
    assert await one.round() == ""
    await one.store.commit([Delete(INDEX_KEY)])
    assert "was emptied by another program: stop the service" in await one.round()


async def test_a_store_that_was_emptied_is_no_new_one() -> None:
    """A store that gave out versions and has no key gets none: what it held is lost, not unborn."""
    store = MemoryStore(ManualClock())
    key = await index_key(store)
    assert await index_key(store) == key
    await store.commit([Delete(INDEX_KEY)])
    with pytest.raises(StoreUnavailable, match="was emptied by another program"):
        await index_key(store)
    assert await store.scan("") == []


async def test_processes_that_start_together_share_the_key() -> None:
    """One of them makes it, and no other takes the store for an emptied one."""
    store = UnreliableStore(MemoryStore(ManualClock()))
    assert len(set(await asyncio.gather(*(index_key(store) for _ in range(8))))) == 1


class Inspected(UnreliableStore):
    """A store with so much room, and such risks."""

    free: int | None = None
    risks: tuple[StoreRisk, ...] = ()
    summary = ""

    async def inspect(self) -> Inspection:
        """Return what a test has set."""
        return Inspection(1, self.free, 0, self.risks, self.summary)


@pytest.mark.parametrize(("free", "low"), [(None, False), (64 * MIB, False), (64 * MIB - 1, True), (0, True)])
async def test_a_disk_that_is_nearly_full_is_named(free: int | None, low: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """Below the setting it is a part of its own, which follows from the store and stops no sale."""
    one = Examined()
    store = Inspected(one.store.inside)
    store.free = free
    probe = StoreProbe(store, one.clock, 64 * MIB)
    await probe.examine()
    disk = [found for found in await probe.findings("") if found.part == "disk"]
    assert [(found.state, found.essential, found.cause) for found in disk] == [("broken", False, "store")] * low


async def test_each_risk_of_a_database_is_an_outage_of_its_own() -> None:
    """One that comes beside another is a push, and so is the end of each; the database itself stays described."""
    one = Examined()
    store = Inspected(one.store.inside)
    store.summary = "PostgreSQL 15"
    probe = StoreProbe(store, one.clock)
    watch = OutageWatch(store, one.clock, lambda: looked(probe))
    flush, standby = (StoreRisk(name, f"The {name} is bad.", "Mend it.") for name in ("flush", "standby"))
    for risks in ((flush,), (flush, standby), (standby,), ()):
        store.risks = risks
        for _ in range(12):
            await watch.notify()
            one.clock.advance(60)
    rows = [row async for row in Outbox(store, one.clock, {}).rows()]
    assert [row.title for row in sorted(rows, key=lambda row: row.created_at)] == [
        "Broken: database flush",
        "Broken: database standby",
        "Works again: database flush",
        "Works again: database standby",
    ]
    assert [(one.part, one.state, one.why) for one in await looked(probe)][1:] == [
        ("database", "ok", "PostgreSQL 15")
    ]


async def looked(probe: StoreProbe) -> list[Finding]:
    await probe.examine()
    return probe.examined("Do that.")


async def test_the_file_does_not_grow_by_being_tried(tmp_path: Path) -> None:
    """However often it is tried, the file takes the room of a few trials, and the log what any log takes."""
    clock = ManualClock()
    store: Store = await new_store(tmp_path / "store.db", clock)
    probe = StoreProbe(store, clock)
    sizes: list[int] = []
    files = [AsyncPath(tmp_path / name) for name in ("store.db", "store.db-wal")]
    for _ in range(120):
        clock.advance(60)
        await probe.examine()
        assert probe.unusable == ""
        sizes.append(sum([(await file.stat()).st_size for file in files]))
    await store.close()
    assert max(sizes) < LOG + 4 * SALE
    assert (await files[0].stat()).st_size < 4 * SALE
