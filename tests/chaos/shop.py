"""A shop on two nodes, with an edge in front, a database with a standby behind, and the sandbox as its vendors."""

import json
import os
import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from tests.chaos.checker import Ledgers
from tests.chaos.line import Line, lines_to
from tests.chaos.witness import named, post
from tests.journeys.disks import small
from tests.support.deployment import CounterSettings, Deployment, Product, beside_a_sandbox
from tests.support.marked import MARK, SECRETS
from tests.support.nginx import beside, in_front
from tests.support.nodes import Node
from tests.support.postgres import Server, a_pair
from tests.support.soak import SOAKING
from tests.support.ssh_keys import make_key, public_half
from tests.support.waiting import until

LIVE_KEY = f"rk_live_{MARK}_key"
NODES = ("a", "b")
INTERVAL = 10
"""Seconds of one live count to the next, by the shop's clock; somebody asks a node for each."""

_MORE = """\
[[sites]]
origin = "http://127.0.0.1"
name = "North"
seller = "Northwind"
number_series = "NW"

[approvals]
owner_keys = [{public}]
signing_key = {private}
"""


@dataclass
class Database:
    """A primary, and the standby that each of its commits waits for; a failover exchanges them."""

    primary: Server
    standby: Server

    def fail_over(self) -> None:
        """Promote the standby, and let it wait for none: what the primary does no longer counts."""
        self.standby.wait_for_none()
        self.standby.promote()
        self.primary, self.standby = self.standby, self.primary

    def rebuild(self) -> None:
        """Throw away what the former primary has, and make it the standby."""
        self.standby.kill()
        self.standby.follow(self.primary)


@dataclass
class ChaosShop:
    """All of it, running. What it sells is asked at `deployment.public`, which is the edge."""

    deployment: Deployment
    database: Database
    nodes: list[Node]
    lines: list[list[Line]]
    """Those of each node to the servers of the database."""

    key: Path

    @property
    def ledgers(self) -> Ledgers:
        """What the checker reads."""
        return Ledgers(self.deployment.folder / "sandbox", self.database.primary.address())

    @property
    def is_live(self) -> bool:
        """Whether it sells in live mode, in which nobody moves the clock."""
        return self.deployment.mode == "live"

    def advance(self, seconds: float) -> None:
        """Move the clock of all, if it can be moved."""
        if not self.is_live:
            self.deployment.sandbox.advance(seconds)

    def settle(self) -> None:
        """Wait until each sale is known and has its number, and each message is delivered."""
        if self.is_live:
            assert self.deployment.orrery("checkout", "reconcile").returncode == 0
            until(lambda: not self.ledgers.entries("access-unnumbered:"))
            until(lambda: not self.ledgers.entries("outbox-next:"))
        else:
            self.ledgers.settle(self.deployment.sandbox)

    def accept(self) -> None:
        """Have the processor accept the product, as the owner does before live mode sells it."""
        tried = self.deployment.orrery("checkout", "preflight", "--product", "northwind/hosted", "--sign")
        assert tried.returncode == 0, tried.stdout + tried.stderr


@contextmanager
def own_disk() -> Generator[Path | None]:
    """Have a disk for the database that may become full: in a soak, where one may be mounted."""
    if not (SOAKING and os.geteuid() == 0):
        yield None
        return
    with TemporaryDirectory(prefix="orrery-disk-") as name:
        disk = Path(name)
        disk.chmod(0o755)
        with small(disk, "1500m"):
            yield disk


@contextmanager
def chaos_shop(folder: Path, mode: Literal["sandbox", "live"] = "sandbox") -> Generator[ChaosShop]:
    """Run a shop until the end of the block."""
    key = make_key(folder / "owner")
    more = _MORE.format(public=json.dumps(public_half(key)), private=json.dumps(str(key)))
    with (
        own_disk() as disk,
        a_pair(disk=disk) as pair,
        lines_to(*(one.port for one in pair for _ in NODES)) as lines,
    ):
        products, counter = [Product("hosted", site="North")], CounterSettings(refresh=False, interval=INTERVAL)
        secrets = SECRETS | ({"processor_api_key": LIVE_KEY} if mode == "live" else {})
        deployment = Deployment(folder, products, more=more, mode=mode, plain=0, counter=counter, secrets=secrets)
        deployment.store.unlink()
        of_nodes = [lines[at :: len(NODES)] for at in range(len(NODES))]
        nodes = [_node(deployment, name, own) for name, own in zip(NODES, of_nodes, strict=True)]
        deployment.more_store = f'address = "{_url(pair)}"'
        deployment.configure()
        assert deployment.orrery("store", "create").returncode == 0
        post(pair[0])
        first, other = (int(node.address.rpartition(":")[2]) for node in nodes)
        edge = in_front(folder / "edge", deployment.ports[0], first, beside(first, other))
        with beside_a_sandbox(deployment), edge:
            deployment.sandbox.quota(cost=0)  # else more counts are put off
            for node in nodes:
                node.start()
            shop = ChaosShop(deployment, Database(*pair), nodes, of_nodes, key)
            if shop.is_live:
                shop.accept()
            try:
                yield shop
            finally:
                for name, server in zip(NODES, pair, strict=True):
                    _ = shutil.copy(server.folder / "server.log", folder / f"database-{name}.log")


def _node(deployment: Deployment, name: str, lines: Sequence[Line]) -> Node:
    deployment.more_store = f'address = "{_url(lines)}?{named(name)}"'
    return Node(deployment, *deployment.configure_another(name))


def _url(ends: Sequence[Line | Server]) -> str:
    return f"postgresql://orrery@{','.join(f'127.0.0.1:{end.port}' for end in ends)}/postgres"
