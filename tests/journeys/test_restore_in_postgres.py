"""A shop whose store is a database, saved and brought back; its snapshot is one of a file, too."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.postgres import Server, running_postgres, skip_without_postgres
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import eventually


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    """Yield a server; each shop has a database of its own."""
    skip_without_postgres()
    with running_postgres() as server:
        yield server


def over(server: Server, folder: Path, database: str) -> Deployment:
    """Return a shop whose store is to be in a new database, with nothing in the place of its file."""
    with server.connected() as connection:
        connection.execute(f"CREATE DATABASE {database}".encode())
    address = f'address = "postgresql://orrery@127.0.0.1:{server.port}/{database}"'
    shop = Deployment(folder, more_store=address, more='[backup]\ndirectory = "copies"')
    shop.store.unlink()
    return shop


def bought(shop: Deployment) -> Visitor:
    """Sell something, and wait until the buyer is told."""
    visitor = Visitor(shop)
    session = visitor.buy()
    visitor.await_access(session)
    eventually(lambda: expect_equal((len(visitor.emails()), len(visitor.pushes())), (1, 1)))
    return visitor


def buyers(shop: Deployment) -> set[str]:
    """Return who has access."""
    return {one["email"] for one in json.loads(shop.orrery("access", "list", "--json").stdout)}


def done(shop: Deployment, *words: str) -> str:
    """Type a command that succeeds, and return what it printed."""
    came = shop.orrery(*words)
    assert came.returncode == 0, came.stderr
    return came.stderr


def test_sold_saved_and_brought_back(server: Server, tmp_path: Path) -> None:
    """Each buyer has access and one e-mail, an erased one stays erased; the snapshot goes to other engines."""
    shop = over(server, tmp_path / "shop", "shop")
    done(shop, "store", "create")
    with beside_a_sandbox(shop):
        service = shop.start_service()
        early = bought(shop)
        done(shop, "backup")
        (snapshot,) = (shop.folder / "copies").iterdir()
        late, erased = bought(shop), bought(shop)
        done(shop, "privacy", "erase", erased.email, "--reason", "asked")
        refused = shop.orrery("restore", str(snapshot))
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "in use: stop the service on every machine" in refused.stderr
        stop(service)
        came = done(shop, "restore", str(snapshot))
        assert "Erased again, as in the store before: 1." in came
        assert "Reconciled: 1 granted" in came
        assert "orrery_entries_before_restore" in came
        shop.start_service()
        assert buyers(shop) == {early.email, late.email, "erased"}
        bought(shop)
        eventually(lambda: expect_equal([len(one.emails()) for one in (early, late)], [1, 1]))
        (shop.store.parent / f".{shop.store.name}.restoring").mkdir()  # as a kill leaves it
        again = done(shop, "privacy", "erase", late.email, "--reason", "asked")
        assert all(one in again for one in ("orrery_entries_before_restore", ".restoring"))
        assert "standbys, backups and write-ahead log" in again
    see_that_it_comes_back_elsewhere(server, tmp_path, snapshot, early.email)


def see_that_it_comes_back_elsewhere(server: Server, folder: Path, snapshot: Path, buyer: str) -> None:
    """Restore it as a file, save that, and restore it into a database where no store is."""
    file = Deployment(folder / "file")
    done(file, "restore", str(snapshot))
    assert buyers(file) == {buyer}
    done(file, "backup", str(folder / "of-a-file.db"))
    new = over(server, folder / "new", "new")
    assert new.orrery("backup").returncode == 2
    came = done(new, "restore", str(folder / "of-a-file.db"))
    assert "The store before cannot be read: erase again" in came
    assert buyers(new) == {buyer}
    done(new, "backup")
    findings = json.loads(new.orrery("doctor", "--json").stdout)
    assert next(one["state"] for one in findings if one["part"] == "backup") == "ok"
