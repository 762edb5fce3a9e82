"""A restore is killed (`kill -9`) while it is under way: anyone who starts the service then tells nobody twice."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import eventually


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Deployment]:
    """Run a sandbox; the service is the test's to start."""
    with beside_a_sandbox(Deployment(tmp_path)) as deployment:
        yield deployment


def test_killed_as_soon_as_the_snapshot_is_in_place(shop: Deployment, tmp_path: Path) -> None:
    """What waited in the snapshot, and went out since, is held back as soon as the snapshot is the store."""
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
    assert f"buyer-{session}" in shop.records.notifications("held")
    shop.start_service()
    shop.sandbox.advance(60)
    other = Visitor(shop)
    other.await_told(other.buy())
    eventually(lambda: expect_equal(shop.records.notifications("waiting"), wanted=[]))
    assert len(visitor.emails()) == 1


def kill_when_in_place(shop: Deployment, snapshot: Path) -> None:
    """Begin to restore, and kill that the moment the store's file is another one."""
    before = shop.store.stat().st_ino
    command = [sys.executable, "-m", "orrery", "restore", str(snapshot), "--config", str(shop.config)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as restoring:  # noqa: S603  our own command
        while shop.store.stat().st_ino == before:
            assert restoring.poll() is None
        restoring.kill()
    assert shop.store.stat().st_ino != before
