"""A site whose store is a PostgreSQL database: two nodes sell from it, and go on when its primary is killed."""

import json
import subprocess
from collections.abc import Generator

import pytest

from tests.docs.documents import ROOT
from tests.rehearsal.page import Edited, Seen, Typed, section
from tests.support.deployment import Deployment, running
from tests.support.postgres import Server, a_pair, skip_without_postgres
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import eventually

PAGE = ROOT / "docs/how-to/when-a-database-machine-is-dead.md"


@pytest.fixture(scope="module")
def pair() -> Generator[tuple[Server, Server]]:
    """Yield a primary and a standby that each sale waits for."""
    skip_without_postgres()
    with a_pair() as servers:
        yield servers


@pytest.fixture(scope="module")
def shop(pair: tuple[Server, Server], tmp_path_factory: pytest.TempPathFactory) -> Generator[Deployment]:
    """Yield a running deployment over them; its file is taken away."""
    hosts = ",".join(f"127.0.0.1:{server.port}" for server in pair)
    store = f'address = "postgresql://orrery@{hosts}/postgres"'
    shop = Deployment(tmp_path_factory.mktemp("shop"), more_store=store)
    shop.store.unlink()
    made = shop.orrery("store", "create")
    assert made.returncode == 0, made.stderr
    with running(shop):
        yield shop


def type_section(server: Server, title: str) -> None:
    """Type what a section of the page has, on the machine of a server."""
    here = {"PGHOST": "127.0.0.1", "PGPORT": str(server.port), "PGUSER": "orrery", "PGDATABASE": "postgres"}
    shown = ""
    for piece in section(PAGE, title):
        match piece:
            case Typed(lines):
                # The tests' servers do not belong to a user postgres.
                script = "\n".join(['sudo() { shift 2; "$@"; }', *lines])
                command = ["/bin/bash", "-ec", script]
                done = subprocess.run(command, env=here, capture_output=True, text=True, check=False)  # noqa: S603  the page's
                shown = done.stdout
                assert done.returncode == 0, done.stderr
            case Seen():
                assert not piece.missing_from(shown), shown
            case Edited():
                pytest.fail("there is no settings file here")


def test_a_standby_that_is_dead(shop: Deployment, pair: tuple[Server, Server]) -> None:
    """Doctor names it, sales wait; typed on, they go on; once it is back they wait for it again."""
    primary, standby = pair
    standby.kill()
    doctor = shop.orrery("doctor")
    assert (doctor.returncode, "waits for a standby, and none" in doctor.stdout) == (1, True)
    type_section(primary, "Without Patroni: the standby is dead")
    visitor = Visitor(shop)
    sold = eventually(visitor.buy)
    visitor.await_access(sold)
    standby.start()
    eventually(lambda: type_section(primary, "Without Patroni: the standby is back"))
    assert "database standby" not in shop.orrery("doctor").stdout


def test_two_nodes_and_a_failover(shop: Deployment, pair: tuple[Server, Server]) -> None:
    """A sale on one node is known to the other; the primary is killed, and both sell on with the standby."""
    primary, standby = pair
    program, other = shop.launch_another_service()
    shop.await_answer(program, other)
    early = Visitor(shop)
    sold = early.buy()
    early.await_access(sold)
    elsewhere = shop.client.get(f"{other}/guided/api/access/{sold}", headers={"X-Forwarded-For": early.address})
    assert elsewhere.json()["state"] == "granted"

    late = Visitor(shop)
    started = late.start()
    primary.kill()
    late.pay(started)  # the webhook finds no store
    type_section(standby, "Without Patroni: the primary is dead")
    eventually(lambda: late.await_access(started))
    for visitor in (early, late):
        eventually(lambda one=visitor: expect_equal((len(one.emails()), len(one.pushes())), (1, 1)))
    sales = shop.orrery("access", "list", "--json")
    assert sales.returncode == 0
    assert {sold, started} <= {one["session_id"] for one in json.loads(sales.stdout)}


def test_the_doctor_finds_what_could_lose_sales(shop: Deployment) -> None:
    """The servers of the tests do not flush what they commit: that is a broken part."""
    doctor = shop.orrery("doctor")
    assert doctor.returncode == 1
    assert "a power cut can lose sales" in doctor.stdout


def test_a_database_is_made_a_store_once(shop: Deployment) -> None:
    """A second time nothing is made."""
    again = shop.orrery("store", "create")
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "nothing was made" in again.stderr
