"""An erasure beside a running service, and what a restore makes of it (decision 51)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.visiting import Visitor


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Deployment]:
    """Run a sandbox; the service is the test's to start."""
    with beside_a_sandbox(Deployment(tmp_path)) as deployment:
        yield deployment


def bought(shop: Deployment) -> tuple[Visitor, str]:
    """Sell something, and wait until the buyer is told."""
    visitor = Visitor(shop)
    session = visitor.buy()
    visitor.await_access(session)
    visitor.await_told(session)
    return visitor, session


def erased(shop: Deployment, address: str) -> str:
    """Erase an address; return the answer."""
    came = shop.orrery("privacy", "erase", address, "--reason", "asked")
    assert came.returncode == 0
    return came.stderr


def files_with(shop: Deployment, address: str) -> list[str]:
    """Return which files of the store hold an address."""
    folder = shop.store.parent
    return [one.name for one in folder.glob(f"{shop.store.name}*") if address.encode() in one.read_bytes()]


def test_nothing_is_left_beside_a_running_service(shop: Deployment) -> None:
    """The address is in no file of the store, its log included; what was not reached is said."""
    shop.start_service()
    visitor, _ = bought(shop)
    assert files_with(shop, visitor.email)
    answer = erased(shop, visitor.email)
    assert files_with(shop, visitor.email) == []
    assert "Not reached: older backups, and the processor's own records." in answer
    assert "before-restore" not in answer


def test_a_restore_brings_no_erased_buyer_back(shop: Deployment, tmp_path: Path) -> None:
    """One of the snapshot and one of after it stay erased, and the copy of the store before is named."""
    service, snapshot = shop.start_service(), tmp_path / "snapshot.db"
    early, session = bought(shop)
    assert shop.orrery("backup", str(snapshot)).returncode == 0
    late, later_session = bought(shop)
    for visitor in (early, late):
        erased(shop, visitor.email)
    third, last_session = bought(shop)
    stop(service)
    came = shop.orrery("restore", str(snapshot))
    assert came.returncode == 0
    assert "Erased again, as in the store before: 2." in came.stderr
    assert "Reconciled: 1 granted" in came.stderr
    assert "What was there before is in " in came.stderr
    assert f"{shop.store.name}.before-restore: delete that" in came.stderr
    listed = json.loads(shop.orrery("access", "list", "--json").stdout)
    assert {one["session_id"]: one["email"] for one in listed} == {
        session: "erased",
        later_session: "erased",
        last_session: third.email,
    }
    assert f"{shop.store.name}.before-restore, left by a restore, " in erased(shop, third.email)
