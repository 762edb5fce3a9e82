"""The storage goes wrong while the service runs: readiness, doctor and one urgent push say so (decision 73)."""

import json
import os
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from orrery.adapters.sqlite import create
from tests.journeys.disks import full, small
from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.soak import SOAKING
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import PATIENCE, eventually

ROUND, PUSHED_AFTER, MINUTE, OVER = 10, 30, 60, 600
"""Seconds between two health rounds, until a push, between two writes on trial, and until an outage is over."""


@contextmanager
def cut_short(disk: Path) -> Generator[None]:
    """Have only the first half of the store file, until it is restored."""
    store = disk / "orrery.db"
    whole = store.read_bytes()
    os.truncate(store, len(whole) // 2)
    yield
    with store.open("r+b") as file:
        file.write(whole)


@contextmanager
def replaced(disk: Path) -> Generator[None]:
    """Have another file at the store's path."""
    store, aside = disk / "orrery.db", disk / "aside.db"
    store.rename(aside)
    shutil.copy(aside, store)
    yield
    aside.replace(store)


@contextmanager
def written_over(disk: Path) -> Generator[None]:
    """Have a text in the store file itself."""
    store = disk / "orrery.db"
    beginning = store.read_bytes()[:100]
    with store.open("r+b") as file:
        file.write(b"no store " * 11)
    yield
    with store.open("r+b") as file:
        file.write(beginning)


TROUBLES: dict[str, tuple[Callable[[Path], AbstractContextManager[None]], str]] = {
    "full": (full, "could not grow, because the disk is full: make room"),
    "cut short": (cut_short, "was cut short while it was in use: restart what uses it, or bring a snapshot back"),
    "replaced": (replaced, "was replaced while it was in use: restart what uses it, or bring a snapshot back"),
    "written over": (written_over, "was written over while it was in use: restart what uses it, or"),
}


@pytest.fixture
def shop(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Run service and sandbox, with the store on a disk of its own."""
    with small(tmp_path_factory.mktemp("disk"), "16m") as disk:
        deployment = Deployment(tmp_path, more_store="least_free_mib = 1")
        deployment.store = disk / "orrery.db"
        deployment.configure()
        create(deployment.store)
        with beside_a_sandbox(deployment):
            service = deployment.start_service()
            deployment.await_reconciled()
            yield deployment
            stop(service)


def broken_store(shop: Deployment) -> str:
    """Return why the private listener says that the store is broken, or ""."""
    parts = shop.client.get(f"{shop.private}/readyz").json()["parts"]
    return "".join(one["why"] for one in parts if one["part"] == "store" and one["state"] == "broken")


def pushes(shop: Deployment) -> list[tuple[str, int]]:
    """Return title and priority of the pushes about the store, the newest first."""
    return [(one["title"], one["priority"]) for one in shop.sandbox.pushes_about(": store")]


USUAL = [("full", True)]
CASES = [(trouble, sale) for trouble in TROUBLES for sale in (True, False)] if SOAKING else USUAL
"""What goes wrong, and whether a sale meets it before a health round does."""


@pytest.mark.parametrize(("trouble", "sale"), CASES)
def test_the_storage_goes_wrong(shop: Deployment, trouble: str, sale: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """It is known ten seconds after the first failed commit, and a minute without one, until it works again."""
    begin, sentence = TROUBLES[trouble]
    assert shop.readiness() == [200, 200]
    with begin(shop.store.parent):
        if sale:
            # What is written over is not seen by a commit: it goes to the log.
            assert Visitor(shop).check_out().status_code == (200 if trouble == "written over" else 503)
        else:
            shop.sandbox.advance(MINUTE - 2 * ROUND)
        assert shop.readiness() == [503, 503]
        assert sentence in broken_store(shop)
        if trouble == "full":
            (said,) = [one for one in json.loads(shop.orrery("doctor", "--json").stdout) if one["part"] == "store"]
            assert (said["state"], sentence in said["why"]) == ("broken", True)
        shop.sandbox.advance(PUSHED_AFTER)
        assert shop.readiness() == [503, 503]
        eventually(lambda: expect_equal(pushes(shop), [("Broken: store", 5)]))
        (push,) = shop.sandbox.pushes_about("Broken: store")
        assert sentence in push["message"]
        assert "until then nothing can be sold" in push["message"]
        assert str(shop.store.parent) not in push["message"]
    assert shop.readiness() == [200, 200]
    assert Visitor(shop).check_out().status_code == 200
    shop.sandbox.advance(OVER)
    eventually(lambda: expect_equal(pushes(shop), [("Works again: store", 2), ("Broken: store", 5)]))


def test_a_start_without_a_usable_store_is_pushed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a service manager would restart it every two seconds it stays, until a restore gives it a store."""
    shop, snapshot = Deployment(tmp_path), tmp_path / "snapshot.db"
    with beside_a_sandbox(shop):
        stop(shop.start_service())
        assert shop.orrery("backup", str(snapshot)).returncode == 0
        shop.store.unlink()
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "none"))
        service = shop.start_service()
        assert shop.readiness() == [503, 503]
        assert Visitor(shop).check_out().status_code == 503
        shop.sandbox.advance(PUSHED_AFTER)
        assert shop.readiness() == [503, 503]
        eventually(lambda: expect_equal(pushes(shop), [("Broken: store", 5)]))
        (push,) = shop.sandbox.pushes_about("There is no store at orrery.db: make one with")
        assert str(tmp_path) not in push["message"]
        assert shop.orrery("restore", str(snapshot)).returncode == 0
        shop.sandbox.advance(ROUND)
        assert service.process.wait(PATIENCE) == 1
        service = shop.start_service()
        assert shop.readiness() == [200, 200]
        assert Visitor(shop).check_out().status_code == 200
        assert len(pushes(shop)) == 1
        stop(service)
