"""`orrery doctor` writes to the store, because reading does not see a full disk, a lock or a read-only file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orrery.adapters.sqlite import create
from tests.journeys.disks import full, locked, read_only, small
from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.program import run_orrery

OTHERS = {"processor key", "processor account", "processor webhook", "push", "email", "approvals"}
"""What is told whether there is a store or not."""

Found = dict[str, dict[str, Any]]


@pytest.fixture
def shop(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Run a sandbox beside a deployment whose store is on a disk of its own; the test starts the service."""
    with small(tmp_path_factory.mktemp("disk"), "32m") as disk:
        deployment = Deployment(tmp_path, more_store="least_free_mib = 8")
        deployment.store = disk / "orrery.db"
        deployment.configure()
        create(deployment.store)
        with beside_a_sandbox(deployment):
            yield deployment


def examined(shop: Deployment) -> tuple[int, Found]:
    """Return what `orrery doctor` exits with, and each part; it ends without a traceback.

    It is a process: a lock that this one holds holds up others only.
    """
    came = run_orrery("doctor", "--json", "--config", str(shop.config))
    assert came.stderr == ""
    return came.returncode, {one["part"]: one for one in json.loads(came.stdout)}


def see_well(shop: Deployment) -> None:
    """See nothing broken."""
    code, found = examined(shop)
    assert (code, found["store"]["state"]) == (0, "ok")


def see_broken(shop: Deployment, sentence: str) -> Found:
    """See the store broken, why, and every other part."""
    code, found = examined(shop)
    assert (code, found["store"]["state"]) == (1, "broken")
    assert sentence in found["store"]["why"]
    assert found["store"]["todo"]
    assert set(found) >= OTHERS
    assert found["processor account"]["state"] == found["push"]["state"] == "ok"
    return found


@pytest.mark.parametrize("serving", [True, False], ids=["serving", "stopped"])
def test_a_store_that_cannot_be_written(shop: Deployment, serving: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """A full disk and a lock are named, and every other part is shown beside them."""
    service = shop.start_service() if serving else None
    see_well(shop)
    with full(shop.store.parent):
        found = see_broken(shop, "could not grow, because the disk is full: make room")
        assert not serving or found["disk"]["state"] == "broken"  # without a log to open, the store says it alone
    with locked(shop.store):
        see_broken(shop, "is locked by another process for too long")
    see_well(shop)
    if service:
        stop(service)


def test_a_disk_that_may_only_be_read(shop: Deployment) -> None:
    """A disk that is mounted read-only is named."""
    see_well(shop)
    with read_only(shop.store.parent):
        see_broken(shop, "see that its disk is not mounted read-only")
    see_well(shop)


def test_a_store_that_cannot_be_opened(shop: Deployment) -> None:
    """A file that is no store is named, and so are the parts that cannot be told without one."""
    shop.store.write_bytes(b"no store" * 1000)
    found = see_broken(shop, "is damaged or no store at all")
    for part in ("approval log", "webhook deliveries"):
        assert (found[part]["state"], found[part]["cause"]) == ("broken", "store")


def test_a_disk_that_is_nearly_full(shop: Deployment) -> None:
    """A disk with little room left is told before commits fail."""
    see_well(shop)
    (shop.store.parent / "filler").write_bytes(b"\0" * (28 << 20))
    code, found = examined(shop)
    assert (code, found["store"]["state"], found["disk"]["state"]) == (1, "ok", "broken")
    assert "MiB are free" in found["disk"]["why"]
