"""Two nodes behind the edge are restarted one after the other while visitors buy: nobody gets an error.

`./run soak` does so with the settings as they are shipped, several times, and upgrades the release before.
"""

import json
import re
import sqlite3
import subprocess
import threading
from collections import Counter
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest

from bench.version import version_of
from tests.support.deployment import Deployment, Product, beside_a_sandbox
from tests.support.nginx import beside, find_nginx, in_front
from tests.support.postgres import Server, running_postgres, skip_without_postgres
from tests.support.program import Program
from tests.support.soak import SOAKING
from tests.support.visiting import CHECKOUT, expect_equal
from tests.support.waiting import IN_CLEAR, PATIENCE, eventually, until

BUYERS = 3
SOLD = 4
"""So many sales before, between and after the restarts."""

ROUNDS, CLOSING, AWAY = (5, 6.0, "4s") if SOAKING else (1, 1.5, "1s")
"""How often all nodes are restarted, for how long each is closing, and for how long the edge leaves one out."""

SITE = '[[sites]]\norigin = "http://127.0.0.1"\nname = "North"\n'
ROOT = Path(__file__).resolve().parents[2]
FIRST = "src/orrery/app/cli/closing.py"
"""What the first release has whose nodes go on for a while when they are told to end."""


@dataclass
class Node:
    """One `orrery serve` behind the edge."""

    shop: Deployment
    config: Path
    address: str
    program: Program | None = None

    def start(self, release: Path | None = None) -> None:
        """Start it, or an older release with the settings that it knows; it takes requests when this returns."""
        if release is None:
            self.program = self.shop.launch_service(self.config)
        else:
            config = self.config.with_suffix(".older.toml")
            config.write_text(re.sub(r"(?m)^(closing_seconds|node) = .*$", "", self.config.read_text()))
            with pytest.MonkeyPatch.context() as here:
                here.setenv("PYTHONPATH", str(release / "src"))
                words = ("serve", "--config", str(config))
                self.program = Program(words, config.with_suffix(".log"), forked=False)
        self.shop.await_answer(self.program, self.address)

    def restart(self, release: Path | None = None) -> None:
        """Do as the service manager does."""
        self.end()
        self.start(release)

    def end(self) -> None:
        """Do the first half of that."""
        assert self.program
        assert self.program.end() == 0, self.program.printed()

    def requests(self) -> int:
        """Return how many requests this process has answered."""
        (port,) = re.findall(r"(?m)^private_port = (\d+)$", self.config.read_text())
        figures = self.shop.client.get(f"http://127.0.0.1:{port}/metrics").text
        return sum(int(float(one)) for one in re.findall(r"(?m)^orrery_http_requests_total\{.*\} (\S+)$", figures))


@dataclass
class Load:
    """Buyers who click, pay and come back, and how many answers of each kind they got."""

    shop: Deployment
    came: Counter[tuple[str, int]] = field(default_factory=Counter[tuple[str, int]])
    sold: list[str] = field(default_factory=list[str])
    ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Generator["Load"]:
        """Let them buy until the end of the block; raise what one of them met."""
        with ThreadPoolExecutor(BUYERS) as pool:
            buying = [pool.submit(self._buy, number) for number in range(BUYERS)]
            try:
                yield self
            finally:
                self.ended.set()
            for one in buying:
                one.result()

    def go_on(self) -> None:
        """Wait until some more were sold."""
        aim = len(self.sold) + SOLD
        until(lambda: self.ended.is_set() or len(self.sold) >= aim)

    def _buy(self, number: int) -> None:
        try:
            for sale in count(1):
                if self.ended.is_set():
                    return
                # The edge limits how often one address asks.
                transport = httpx2.HTTPTransport(verify=IN_CLEAR, local_address=f"127.1.{number}.{sale % 250 + 1}")
                with httpx2.Client(base_url=self.shop.public, transport=transport, timeout=PATIENCE) as client:
                    self._sale(client)
        finally:
            self.ended.set()

    def _sale(self, client: httpx2.Client) -> None:
        wanted = {"productType": "cert", "certCode": "hosted", "vendorSlug": "northwind"}
        headers = {"Idempotency-Key": uuid4().hex}
        session = self._answered(client.post(CHECKOUT, json=wanted, headers=headers))["id"]
        self.shop.sandbox.pay(session, f"{uuid4().hex}@buyer.example.test")

        def look() -> None:
            self._answered(client.get("/guided/api/products"))
            assert self._answered(client.get(f"/guided/api/access/{session}"))["state"] == "granted"

        eventually(look)
        self.sold.append(session)

    def _answered(self, answer: httpx2.Response) -> Any:  # noqa: ANN401  any JSON
        self.came[answer.request.method, answer.status_code] += 1
        return answer.json() if answer.is_success else pytest.fail(f"{answer.request.url}: {answer.text}")


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
        with Load(nodes[0].shop).running() as load:
            for node in [*nodes] * ROUNDS:
                load.go_on()
                node.restart()
            load.go_on()
        expect_sold(server, load)


@pytest.mark.skipif(not SOAKING, reason="takes an older release out of git: ./run soak")
def test_an_upgrade_and_a_way_back(server: Server, tmp_path: Path) -> None:
    """Nodes of the release before become this release's one by one, go back, and come again."""
    added = git("log", "--diff-filter=A", "--format=%H", "--", FIRST).split()
    before = version_of(f"{added[-1]}^").root
    with two_nodes(server, tmp_path) as nodes:
        for node in nodes:
            node.start(before)
        with Load(nodes[0].shop).running() as load:
            for release in (None, before, None):
                for node in nodes:
                    load.go_on()
                    node.restart(release)
                    # The release before ends at once: by then the edge must know that the other one is back.
                    until(lambda node=node: load.ended.is_set() or node.requests() > SOLD)
            load.go_on()
        expect_sold(server, load)


def git(*words: str) -> str:
    """Return what git says of this checkout."""
    command = ("/usr/bin/git", "-C", str(ROOT), *words)
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603  our own


def expect_sold(server: Server, load: Load) -> None:
    """Expect that nobody got an error, each webhook was taken at once, and each paid session has one access."""
    assert {status for _, status in load.came} == {200}, load.came
    eventually(lambda: expect_equal(waiting(load.shop), []))
    attempts = Counter(len(one["attempts"]) for one in deliveries(load.shop))
    assert attempts == {1: attempts.total()}
    with server.connected() as connection:
        query = b"SELECT value FROM orrery_entries WHERE key >= 'access:' AND key < 'access;'"
        granted = [json.loads(value)["session_id"] for (value,) in connection.execute(query)]
    assert sorted(granted) == sorted(load.sold)


def deliveries(shop: Deployment) -> list[dict[str, Any]]:
    """Return the webhooks of the sandbox's ledger."""
    ledger = shop.folder / "sandbox" / "sandbox.db"
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as database:
        found = database.execute("SELECT body FROM documents WHERE object = '_delivery'").fetchall()
    return [json.loads(body) for (body,) in found]


def waiting(shop: Deployment) -> list[dict[str, Any]]:
    """Return the webhooks that were not taken yet."""
    return [one for one in deliveries(shop) if one["state"] == "pending"]
