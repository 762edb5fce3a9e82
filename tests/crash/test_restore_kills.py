"""A restore, and the service around it, are killed (`kill -9`): nobody gets a message twice, and none is lost."""

import asyncio
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore, create
from orrery.app.cli.restore import restored
from orrery.app.settings.reader import load
from orrery.runtime.collection import Changes
from orrery.runtime.index_key import index_key
from orrery.runtime.outbox import Outbox, OutboxDraft, commit_with, rows_of
from orrery.runtime.outbox_privacy import removed
from orrery.runtime.restored import RESTORED
from tests.chaos.checker import Ledgers, Told, counts, violations
from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.program import Program
from tests.support.soak import SOAKING
from tests.support.stores import backup
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import eventually

BUYERS = 40 if SOAKING else 6
KILLS = 300 if SOAKING else 8
LONGEST = 1.0
"""Seconds after which the last kill comes: a restore takes about half of that."""


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Deployment]:
    """Run a sandbox; the service is the test's to start."""
    with beside_a_sandbox(Deployment(tmp_path)) as deployment:
        yield deployment


def test_killed_as_soon_as_the_snapshot_is_in_place(shop: Deployment, tmp_path: Path) -> None:
    """What waited in the snapshot, and went out since, counts as sent as soon as the snapshot is the store."""
    shop.sandbox.fault("mail_451", count=None)
    service, visitor, snapshot = shop.start_service(), Visitor(shop), tmp_path / "snapshot.db"
    session = visitor.buy()
    visitor.await_access(session)
    eventually(lambda: expect_equal(f"buyer-{session}" in shop.records.notifications("waiting"), wanted=True))
    assert shop.orrery("backup", str(snapshot)).returncode == 0
    shop.sandbox.clear_faults()
    shop.sandbox.advance(3600)
    visitor.await_told(session)
    stop(service)
    kill_when_in_place(shop, snapshot)
    assert f"buyer-{session}" in shop.records.notifications("delivered")
    shop.start_service()
    shop.sandbox.advance(60)
    other = Visitor(shop)
    other.await_told(other.buy())
    eventually(lambda: expect_equal(shop.records.notifications("waiting"), wanted=[]))
    assert len(visitor.emails()) == 1


def kill_when_in_place(shop: Deployment, snapshot: Path) -> None:
    """Begin to restore, and kill that the moment the store's file is another one."""
    before = shop.store.stat().st_ino
    restoring = Program(("restore", str(snapshot), "--config", str(shop.config)), shop.folder / "restoring.log")
    while shop.store.stat().st_ino == before:
        restoring.require_alive()
    restoring.kill()
    assert shop.store.stat().st_ino != before


def test_restored_under_load_twice(shop: Deployment, tmp_path: Path) -> None:
    """A snapshot from the middle of many sales, a kill in the middle of more, and the same restore once again."""
    service, snapshot = shop.start_service(), tmp_path / "snapshot.db"
    ledgers = Ledgers(shop.folder / "sandbox", shop.store)
    sell_while(shop, lambda: shop.orrery("backup", str(snapshot)).returncode, wanted=0)
    sell_while(shop, lambda: service.kill_within(0.2), wanted=None)
    for number in range(2):
        came = shop.orrery("restore", str(snapshot))
        assert came.returncode == 0, came.stderr
        shop.store.with_name(f"{shop.store.name}.before-restore").rename(tmp_path / f"before-{number}")
        service = shop.start_service()
        shop.sandbox.advance(31)
        ledgers.settle(shop.sandbox)
        assert shop.records.notifications("held") == []
        stop(service)
    found, seen = [*violations(ledgers, Told())], counts(ledgers)
    assert (found, seen["sales"]) == ([], 2 * BUYERS)
    assert max(seen["e-mails again"], seen["pushes again"]) <= 1, seen  # by the one kill of the service


def sell_while(shop: Deployment, act: object, *, wanted: object) -> None:
    """Let all buyers pay at once while something is done."""
    assert callable(act)
    visitors = [Visitor(shop) for _ in range(BUYERS)]
    with ThreadPoolExecutor(BUYERS + 1) as pool:
        sessions = list(pool.map(Visitor.start, visitors))
        payments = [pool.submit(Visitor.pay, *each) for each in zip(visitors, sessions, strict=True)]
        done = pool.submit(act)
        for payment in payments:
            payment.result()
        assert done.result() == wanted


OLD = {"a": "delivered", "b": "waiting", "e": "delivered"}
NEW = {"a": "delivered", "b": "waiting", "c": "held", "e": "delivered"}


def test_killed_at_any_moment(tmp_path: Path) -> None:
    """There is the old store or the new one, whose messages are decided; what was not done is done by a repeat."""
    folder = tmp_path / "0"
    folder.mkdir(mode=0o700)
    (folder / "orrery.toml").write_text('mode = "test"\n[store]\npath = "store.db"\n')
    asyncio.run(prepare(folder))
    for number in range(1, KILLS + 1):
        place = tmp_path / str(number)
        shutil.copytree(folder, place)
        command = ("restore", str(place / "snapshot.db"), "--config", str(place / "orrery.toml"))
        Program(command, tmp_path / "printed").kill_within(LONGEST * number / KILLS)
        states, is_new = asyncio.run(look(place))
        assert states == (NEW if is_new else OLD)
        if not is_new:
            restored(place / "snapshot.db", *load(place / "orrery.toml"))
            assert asyncio.run(look(place)) == (NEW, True)


async def prepare(folder: Path) -> None:
    """Leave a snapshot with three messages that wait, and a store that went on."""
    clock, path = SystemClock(), folder / "store.db"
    create(path)
    store = await SqliteStore.open(path, clock)
    await index_key(store)
    await commit_with(store, Changes(), [draft(one) for one in "abc"], clock.now())
    await asyncio.to_thread(backup, path, folder / "snapshot.db")
    rows = rows_of(store, clock)
    await commit_with(store, Changes(), [draft("e")], clock.now())
    for sent in "ae":
        await rows.update(sent, lambda row: row.change(state="delivered"))
    (lost,) = [entry async for entry in rows.entries() if entry.key.endswith(":c")]
    await store.commit(removed(lost))
    await store.close()


async def look(folder: Path) -> tuple[dict[str, str], bool]:
    """Return each message's state, and whether the store is a restored one."""
    store = await SqliteStore.open(folder / "store.db", SystemClock())
    try:
        rows = {row.id: row.state async for row in Outbox(store, SystemClock(), {}).rows()}
        return rows, await store.get(RESTORED) is not None
    finally:
        await store.close()


def draft(name: str) -> OutboxDraft:
    """Return an e-mail."""
    return OutboxDraft(name, "email", "t", "b", to="a@b.example")
