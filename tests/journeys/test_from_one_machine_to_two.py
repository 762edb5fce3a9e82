"""A shop becomes one of two nodes as the page says: who buys meanwhile has access, and either node may be away."""

import re
import signal
import subprocess
import tomllib
from collections.abc import Generator
from pathlib import Path

import httpx2
import pytest

from tests.docs.documents import ROOT
from tests.journeys import test_store_moves as moving
from tests.rehearsal.page import steps
from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.nginx import command, find_nginx, in_front
from tests.support.postgres import Server, running_postgres, skip_without_postgres
from tests.support.program import Program, typed
from tests.support.visiting import Visitor
from tests.support.waiting import IN_CLEAR, PATIENCE

PAGE = ROOT / "docs/how-to/from-one-machine-to-two.md"
RETRIED = 3700
"""Seconds after which the processor has sent a webhook again."""


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    """Yield a server."""
    skip_without_postgres()
    if find_nginx() is None:
        pytest.skip("nginx is not installed")
    with running_postgres() as server:
        yield server


class Owner(moving.Owner):
    """Types at `a`, and at `b` once that has its settings: both are this machine, with the edge in front."""

    def __init__(self, shop: Deployment, server: Server) -> None:
        super().__init__(shop, server)
        self.machine = "a"
        self.configs, self.running = dict[str, Path](), dict[str, Program]()
        self.late = Visitor(shop)
        self.session = ""
        """Paid while the shop is closed."""
        self.edge: subprocess.Popen[bytes] | None = None
        self.site = shop.folder / "edge"
        self.names: dict[str, str] = self.names | {
            "/etc/nginx/sites-available/orrery": str(self.site / "site.conf")
        }
        self.arrive("a", r"127\.0\.0\.1:8080")

    def arrive(self, machine: str, name: str) -> None:
        """Be at a machine that has the settings of the shop, and which the page calls by `name`."""
        self.machine = machine
        self.configs[machine], _ = self.shop.configure_another()
        self.names[name] = name.replace("8080", str(self.port())).replace("10.0.0.12", "127.0.0.1")

    def port(self) -> int:
        """Return where the node of the machine listens."""
        return int(tomllib.loads(self.configs[self.machine].read_text())["server"]["port"])

    def edit(self, text: str) -> None:
        """Write keys into their section of the settings."""
        if self.machine == "a":
            super().edit(text)
        heading, _, keys = text.partition("\n")
        config = self.configs[self.machine]
        names = "|".join(re.findall(r"(?m)^(\w+) =", keys))
        kept = re.sub(rf"(?m)^({names}) = .*\n", "", config.read_text())
        config.write_text(kept.replace(f"{heading}\n", f"{heading}\n{keys}"))

    def type(self, line: str) -> str:
        """Type a line, and return what it shows."""
        words = self.named(line).split()
        match words:
            case ["tar", *_]:
                self.arrive("b", "10.0.0.12:8080")
                self.names |= {"10.0.0.12": "127.0.0.1", "10.0.0.11": "127.0.0.1"}
            case ["chown", *_]:
                pass  # there is one user here
            case ["systemctl", "stop", "orrery"]:
                stop(self.running.pop(self.machine))
            case ["systemctl", "start", "orrery"] | ["systemctl", "enable", "--now", "orrery"]:
                self.start()
            case ["sudo", "-u", "orrery", "orrery", *asked] if asked[0] in {"config", "doctor"}:
                came = typed(*asked, "--config", str(self.configs[self.machine]))
                return came.stdout + came.stderr
            case ["curl", "-sS", address]:
                address = address.strip('"').replace("https://$SHOP", self.shop.public)
                return httpx2.get(address, verify=IN_CLEAR, timeout=PATIENCE, trust_env=False).text
            case ["sed", *_]:
                subprocess.run(self.named(line), shell=True, check=True)  # noqa: S602  the page's line
            case ["nginx", *_]:
                subprocess.run(command(self.site / "nginx.conf", "-t"), check=True, capture_output=True)  # noqa: S603  our own
                assert self.edge
                self.edge.send_signal(signal.SIGHUP)
            case [*_, "store", "copy", _, _]:
                self.late.pay(self.session)
                return super().type(line)
            case _:
                return super().type(line)
        return ""

    def start(self) -> None:
        """Start the node of the machine."""
        self.running[self.machine] = program = self.shop.launch_service(self.configs[self.machine])
        self.shop.await_answer(program, f"http://127.0.0.1:{self.port()}")


def test_a_shop_that_sells_all_the_while(server: Server, tmp_path: Path) -> None:
    """It is typed from top to bottom; one buyer pays while the shop is closed, others while one node is away."""
    shop = Deployment(tmp_path, closing=1.5)
    owner = Owner(shop, server)
    sooner = {"fail_timeout=4s;": "fail_timeout=1s;"}
    with beside_a_sandbox(shop), in_front(owner.site, shop.ports[0], owner.port(), sooner) as owner.edge:
        owner.type("systemctl start orrery")
        buyers = {moving.bought(shop), owner.late.email}
        owner.session = owner.late.start()
        _, _, _, node, edge, trying, _ = steps(PAGE).values()
        owner.follow(steps(moving.PAGE)["To a database"])
        shop.sandbox.advance(RETRIED)
        owner.late.await_access(owner.session)
        owner.follow([*node, *edge])
        away = 1 + [type(piece).__name__ for piece in trying].index("Seen")
        owner.machine = "a"
        owner.follow(trying[:away])
        buyers.add(moving.bought(shop))
        owner.follow(trying[away:])
        owner.machine = "b"
        owner.type("systemctl stop orrery")
        buyers.add(moving.bought(shop))
        assert moving.buyers(shop) == buyers
