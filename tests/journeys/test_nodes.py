"""Two services over one PostgreSQL database know each other: who is there, and what is wrong with whom."""

import json
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.deployment import Deployment, running
from tests.support.marked import ADMIN_PASSWORD
from tests.support.postgres import Server, running_postgres, skip_without_postgres
from tests.support.waiting import eventually

FAKETIME = shutil.which("faketime")


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    """Yield a server."""
    skip_without_postgres()
    with running_postgres() as server:
        yield server


@pytest.fixture
def shop(server: Server, tmp_path: Path) -> Deployment:
    """Return a shop whose store is in a schema of its own."""
    name = server.new_schema()
    address = f"postgresql://orrery@127.0.0.1:{server.port}/postgres?options=-csearch_path%3D{name}"
    made = Deployment(tmp_path, more_store=f'address = "{address}"')
    made.store.unlink()
    assert made.orrery("store", "create").returncode == 0
    return made


def nodes(shop: Deployment) -> dict[str, dict[str, str]]:
    """Return what `orrery nodes` lists, by name."""
    listed: list[dict[str, str]] = json.loads(shop.orrery("nodes", "--json").stdout)
    return {one["node"]: one for one in listed}


def problems(shop: Deployment) -> dict[str, str]:
    """Return the problems that `orrery doctor` lists, by their keys."""
    found: list[dict[str, Any]] = json.loads(shop.orrery("doctor", "--json").stdout)
    return {one["part"]: one["why"] for one in found if one["state"] == "broken"}


def test_a_node_is_there_silent_and_forgotten(shop: Deployment) -> None:
    """What is wrong on a machine is shown by its name; a killed node is missed, and a stopped one is not."""
    backup = f'[backup]\ndirectory = "{shop.folder / "nowhere"}"\n'
    with running(shop):
        program, _ = shop.launch_another_service("shop-b", more=backup)

        def both() -> None:
            shop.sandbox.advance(10)
            assert [one["state"] for one in nodes(shop).values()] == ["ready", "ready"]
            assert "backup on shop-b" in problems(shop)

        def on_the_page() -> None:
            page = shop.client.get(f"{shop.private}/owner?open", auth=("owner", ADMIN_PASSWORD)).text
            assert "backup on shop-b" in page
            assert "2 of 2 run" in page

        eventually(both)
        eventually(on_the_page)
        assert shop.orrery("ack", "backup on shop-b").returncode == 0
        program.kill()

        def missed() -> None:
            shop.sandbox.advance(30)
            found = problems(shop)
            assert "node shop-b" in found
            assert "backup on shop-b" not in found

        eventually(missed)
        assert shop.orrery("nodes", "forget", "shop-b").returncode == 0
        assert ["node shop-b" in problems(shop), [*nodes(shop)].count("shop-b")] == [False, 0]
        program, address = shop.launch_another_service("shop-b")
        shop.await_answer(program, address)
        eventually(lambda: nodes(shop)["shop-b"])
        program.end()
        shop.sandbox.advance(300)
        assert (nodes(shop)["shop-b"]["state"], "node shop-b" in problems(shop)) == ("stopped", False)


def holders(shop: Deployment) -> tuple[dict[str, str], set[str]]:
    """Return the process of each node, and the processes that hold leases."""
    with psycopg.connect(shop.more_store.split('"')[1]) as connection:
        rows = connection.execute("SELECT convert_from(key, 'UTF8'), value FROM orrery_entries").fetchall()
    found = {key: json.loads(value)["holder"] for key, value in rows if key.startswith(("lease:", "node:"))}
    return (
        {key.removeprefix("node:"): one for key, one in found.items() if key.startswith("node:")},
        {one for key, one in found.items() if key.startswith("lease:")},
    )


@pytest.mark.skipif(not FAKETIME, reason="it needs faketime")
def test_a_node_whose_clock_is_an_hour_ahead(shop: Deployment) -> None:
    """It is not ready, says why, and takes no lease; the other node goes on."""
    with running(shop):
        program, address = shop.launch_another_service("shop-b", ahead="+1h")
        shop.await_answer(program, address)
        assert shop.client.get(f"{address}/readyz").json() == {"ready": False}

        def seen() -> None:
            shop.sandbox.advance(10)
            assert nodes(shop)["shop-b"]["state"].startswith(
                "not ready: clock on shop-b: The clock of this machine"
            )
            assert problems(shop)["clock on shop-b"].endswith("is 3600 s ahead of the store's.")

        eventually(seen)
        processes, held = holders(shop)
        assert held
        assert processes["shop-b"] not in held
