"""Two nodes behind the edge are restarted one after the other while visitors buy: nobody gets an error.

`./run soak` does so with the settings as they are shipped, several times, and upgrades the release before.
"""

import re
import subprocess
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.version import version_of
from tests.chaos.checker import Ledgers, Told, violations
from tests.support.buying import OK, Buyers
from tests.support.deployment import Deployment, Product, beside_a_sandbox
from tests.support.nginx import beside, find_nginx, in_front
from tests.support.nodes import Node
from tests.support.postgres import Server, running_postgres, skip_without_postgres
from tests.support.soak import SOAKING
from tests.support.waiting import until

BUYERS = 3
SOLD = 4
"""So many sales before, between and after the restarts."""

ROUNDS, CLOSING, AWAY = (5, 6.0, "4s") if SOAKING else (1, 1.5, "1s")
"""How often all nodes are restarted, for how long each is closing, and for how long the edge leaves one out."""

SITE = '[[sites]]\norigin = "http://127.0.0.1"\nname = "North"\n'
ROOT = Path(__file__).resolve().parents[2]
FIRST = "src/orrery/app/cli/closing.py"
"""What the first release has whose nodes go on for a while when they are told to end."""


@contextmanager
def two_nodes(server: Server, folder: Path) -> Generator[list[Node]]:
    """Run a shop whose public address is an edge before two nodes, which are not started."""
    database = f'address = "postgresql://orrery@127.0.0.1:{server.port}/postgres"'
    products = [Product("hosted", site="North")]
    shop = Deployment(folder, products, more_store=database, more=SITE, plain=0, closing=CLOSING)
    shop.store.unlink()
    assert shop.orrery("store", "create").returncode == 0
    nodes = [Node(shop, *shop.configure_another()) for _ in range(2)]
    first, other = (int(node.address.rpartition(":")[2]) for node in nodes)
    values = {old: new.replace("=4s", f"={AWAY}") for old, new in beside(first, other).items()}
    values["repeated.\n    keepalive_timeout 4s;"] = f"repeated.\n    keepalive_timeout {AWAY};"
    with beside_a_sandbox(shop), in_front(folder / "edge", shop.ports[0], first, values):
        yield nodes


@pytest.fixture
def server() -> Generator[Server]:
    """Yield a server."""
    skip_without_postgres()
    if find_nginx() is None:
        pytest.skip("nginx is not installed")
    with running_postgres() as server:
        yield server


def test_a_rolling_restart(server: Server, tmp_path: Path) -> None:
    """Each node is restarted once the other one answers: every request is answered well, at its first attempt."""
    with two_nodes(server, tmp_path) as nodes:
        for node in nodes:
            node.start()
        with buying(server, nodes[0].shop) as buyers:
            for node in [*nodes] * ROUNDS:
                buyers.await_sales(SOLD)
                node.end()
                node.start()


@pytest.mark.skipif(not SOAKING, reason="takes an older release out of git: ./run soak")
def test_an_upgrade_and_a_way_back(server: Server, tmp_path: Path) -> None:
    """Nodes of the release before become this release's one by one, go back, and come again."""
    added = git("log", "--diff-filter=A", "--format=%H", "--", FIRST).split()
    before = version_of(f"{added[-1]}^").root / "src"
    with two_nodes(server, tmp_path) as nodes:
        settings = {node.config: node.config.read_text() for node in nodes}
        known = {one: re.sub(r"(?m)^(closing_seconds|node) = .*$", "", text) for one, text in settings.items()}
        for node in nodes:
            node.config.write_text(known[node.config])
            node.start(before)
        with buying(server, nodes[0].shop) as buyers:
            for release in (None, before, None):
                for node in nodes:
                    buyers.await_sales(SOLD)
                    node.end()
                    node.config.write_text((known if release else settings)[node.config])
                    node.start(release)
                    # The release before ends at once: by then the edge must know that the other one is back.
                    until(lambda node=node: requests(node) > SOLD)


def requests(node: Node) -> int:
    """Return how many requests the process of a node has answered."""
    (port,) = re.findall(r"(?m)^private_port = (\d+)$", node.config.read_text())
    figures = node.shop.client.get(f"http://127.0.0.1:{port}/metrics").text
    return sum(int(float(one)) for one in re.findall(r"(?m)^orrery_http_requests_total\{.*\} (\S+)$", figures))


def git(*words: str) -> str:
    """Return what git says of this checkout."""
    command = ("/usr/bin/git", "-C", str(ROOT), *words)
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  our own


@contextmanager
def buying(server: Server, shop: Deployment) -> Generator[Buyers]:
    """Have buyers meanwhile; expect that nobody got an error, and each webhook was taken at once.

    Beyond that it is the checker that says what became of the sales.
    """
    buyers = Buyers(shop, BUYERS)
    with buyers.running():
        yield buyers
        buyers.await_sales(SOLD)
    assert {outcome for _, outcome in buyers.answers} == {str(OK)}, buyers.answers
    ledgers = Ledgers(shop.folder / "sandbox", server.address())
    until(lambda: not ledgers.due())
    attempts = Counter(len(one["attempts"]) for one in ledgers.documents("_delivery"))
    assert attempts == {1: attempts.total()}
    assert [*violations(ledgers, Told(granted=buyers.granted))] == []
