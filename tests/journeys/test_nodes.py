"""Two services over one PostgreSQL database know each other: who is there, and what is wrong with whom."""

import json
import re
from collections.abc import Generator
from pathlib import Path

import psycopg
import pytest

from tests.support.deployment import Deployment, beside_a_sandbox, running, stop
from tests.support.marked import ADMIN_PASSWORD
from tests.support.postgres import Server, running_postgres, skip_without_postgres
from tests.support.program import FAKETIME
from tests.support.soak import SOAKING
from tests.support.visiting import Visitor
from tests.support.waiting import eventually
from tests.support.webhooks import WEBHOOK, signed


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


def problems(shop: Deployment) -> dict[str, str]:
    """Let time for a round pass, and return what the first node finds broken, with its line of the nodes."""
    shop.sandbox.advance(10)
    return problems_at(shop, shop.private)


def problems_at(shop: Deployment, private: str) -> dict[str, str]:
    """Return the same of a node's last round."""
    parts: list[dict[str, str]] = shop.client.get(f"{private}/readyz").json()["parts"]
    return {one["part"]: one["why"] for one in parts if one["state"] == "broken" or one["part"] == "nodes"}


def shown(shop: Deployment, part: str, words: str = "") -> None:
    """Fail unless the first node shows a part with these words."""
    assert words in problems(shop).get(part, "?")


def ready(shop: Deployment, address: str) -> bool:
    """Return whether a node says that it is ready."""
    return shop.client.get(f"{address}/readyz").json()["ready"]


def test_a_node_is_there_silent_and_forgotten(shop: Deployment) -> None:
    """What is wrong on a machine is shown by its name; a killed node is missed, and a stopped one is not."""
    backup = f'[backup]\ndirectory = "{shop.folder / "nowhere"}"\n'
    with running(shop):
        program, _ = shop.launch_another_service("shop-b", more=backup)
        eventually(lambda: shown(shop, "backup on shop-b", "no snapshot"))
        eventually(lambda: shown(shop, "nodes", "UTC, ready; "))
        assert shop.orrery("ack", "backup on shop-b").returncode == 0
        page = shop.client.get(f"{shop.private}/owner?open", auth=("owner", ADMIN_PASSWORD)).text
        assert "2 of 2 run" in page
        shop.sandbox.advance(600)
        eventually(lambda: shown(shop, "nodes: [checkout]", "differs from"))  # another address to return to
        program.kill()
        eventually(lambda: shown(shop, "node shop-b", "has not been heard of since"))
        assert "backup on shop-b" not in problems(shop)
        assert shop.orrery("nodes", "forget", "shop-b").returncode == 0
        program, address = shop.launch_another_service("shop-b")
        shop.await_answer(program, address)
        eventually(lambda: shown(shop, "nodes", "shop-b"))
        program.end()
        shop.sandbox.advance(300)
        listed: list[dict[str, str]] = json.loads(shop.orrery("nodes", "--json").stdout)
        assert {one["node"]: one["state"] for one in listed}["shop-b"] == "stopped"
        assert problems(shop).keys() & {"node shop-b", "backup on shop-b"} == set()


def test_a_changed_secret_of_two_nodes(shop: Deployment) -> None:
    """Once one has taken it, `orrery secrets reload` names the other until that has it, too."""

    def reloaded() -> str:
        came = shop.orrery("secrets", "reload")
        assert came.returncode == 0, came.stderr
        return came.stderr

    with beside_a_sandbox(shop):
        first = shop.start_service()
        other, address = shop.launch_another_service("shop-b")
        shop.await_answer(other, address)
        eventually(lambda: shown(shop, "nodes", "shop-b"))
        (shop.folder / "secrets/access_service_token").write_text("of-the-next-year")
        announced = shop.orrery("secrets", "announce", "access_service_token", "--reason", "a test")
        assert announced.returncode == 0, announced.stderr
        stop(first)
        _ = shop.start_service()
        assert "shop-b still holds another value of access_service_token: write it there" in reloaded()
        stop(other)
        other, address = shop.launch_another_service("shop-b")
        shop.await_answer(other, address)
        eventually(lambda: shown(shop, "nodes", "shop-b"))
        assert "shop-b" not in reloaded()


def holders(shop: Deployment) -> tuple[dict[str, str], set[str]]:
    """Return the process of each node, and the processes that hold leases."""
    with psycopg.connect(shop.more_store.split('"')[1]) as connection:
        rows = connection.execute("SELECT convert_from(key, 'UTF8'), value FROM orrery_entries").fetchall()
    found = {key: json.loads(value)["holder"] for key, value in rows if key.startswith(("lease:", "node:"))}
    return (
        {key.removeprefix("node:"): one for key, one in found.items() if key.startswith("node:")},
        {one for key, one in found.items() if key.startswith("lease:")},
    )


@pytest.mark.skipif(not FAKETIME, reason="there is no libfaketime here")
@pytest.mark.parametrize(
    ("ahead", "words"),
    [("-1h", "is 3600 s behind"), ("+3d", "is 259200 s ahead of"), *[("-3d", "s behind")] * SOAKING],
)
def test_a_node_whose_clock_is_wrong(shop: Deployment, ahead: str, words: str) -> None:
    """It is not ready, says why at both nodes, takes no lease, and webhooks all the same."""
    with running(shop):
        program, address = shop.launch_another_service("shop-b", ahead=ahead)
        shop.await_answer(program, address)

        def seen() -> None:
            shown(shop, "clock on shop-b", f"{words} the store's.")
            assert not ready(shop, address)
            processes, held = holders(shop)
            assert held
            assert processes["shop-b"] not in held

        eventually(seen)
        body, signature = signed(
            shop, {"id": "evt_1", "object": "event", "type": "price.updated", "livemode": False}
        )
        answer = shop.client.post(address + WEBHOOK, content=body, headers={"Stripe-Signature": signature})
        assert answer.status_code == 200, answer.text
        program.end()
        program, address = shop.launch_another_service("shop-b")
        shop.await_answer(program, address)

        def well() -> None:
            assert "clock on shop-b" not in problems(shop)
            assert ready(shop, address)

        eventually(well)


@pytest.mark.skipif(not FAKETIME, reason="there is no libfaketime here")
def test_a_database_whose_clock_is_an_hour_ahead(shop: Deployment) -> None:
    """Both nodes are ready and sell, and name the database."""
    with beside_a_sandbox(shop):
        first, (other, address) = (
            shop.launch_service(ahead="-1h"),
            shop.launch_another_service("shop-b", ahead="-1h"),
        )
        shop.await_answer(first, shop.public)
        shop.await_answer(other, address)
        eventually(lambda: shown(shop, "database clock", "The clock of the database is wrong"))
        assert ready(shop, shop.public)
        assert ready(shop, address)
        assert holders(shop)[1]
        visitor = Visitor(shop)
        visitor.await_access(visitor.buy())


def test_two_services_of_one_name_share_no_lease(shop: Deployment) -> None:
    """The second is not ready; a process holds a lease, and not a name, so the second takes it only later."""
    with beside_a_sandbox(shop):
        first = shop.start_service()
        shop.await_reconciled()
        ((name, process),) = holders(shop)[0].items()
        assert holders(shop)[1] == {process}
        config, _ = shop.configure_another(name)
        _ = shop.launch_service(config)
        (port,) = re.findall(r"(?m)^private_port = (\d+)$", config.read_text())
        second = f"http://127.0.0.1:{port}"

        def refused() -> None:
            shop.readiness()  # the first writes its record before time goes on
            assert "Another service on this store" in problems_at(shop, second).get("node name", "")
            assert holders(shop)[0] == {name: process}

        eventually(refused)
        first.end()

        def taken_over() -> None:
            shop.sandbox.advance(10)
            assert "node name" not in problems_at(shop, second)
            named, held = holders(shop)
            assert held == {*named.values()}
            assert process not in held

        eventually(taken_over)
