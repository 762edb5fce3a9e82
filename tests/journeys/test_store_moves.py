"""A shop moves from a file to a database as the page says, and back; a node that was forgotten sells nothing."""

import json
from collections.abc import Generator, Sequence
from pathlib import Path

import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.postgres.place import PostgresDatabase
from orrery.app.store_copy import digest
from orrery.app.store_place import file_place
from orrery.ports.store import StoreContents, StoredCommit, StoredRow
from tests.docs.documents import ROOT
from tests.rehearsal.page import Edited, Piece, Seen, Typed, steps
from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.postgres import Server, running_postgres, skip_without_postgres
from tests.support.program import Program
from tests.support.soak import rounds
from tests.support.visiting import CHECKOUT, Visitor

PAGE = ROOT / "docs/how-to/move-the-store.md"
ROWS, KILLS = 20_000, rounds(3)
LONGEST = 1.5
"""Seconds after which the last kill comes: a copy takes about that."""
FILE, ADDRESS = "/var/lib/orrery/orrery.db", "postgresql://orrery@db-a.example,db-b.example/orrery"


@pytest.fixture(scope="module")
def server() -> Generator[Server]:
    """Yield a server."""
    skip_without_postgres()
    with running_postgres() as server:
        yield server


class Owner:
    """Types what the page says, at a shop and a database of the test."""

    def __init__(self, shop: Deployment, server: Server) -> None:
        self.shop = shop
        self._server = server
        self._service: Program | None = None
        self.names = {FILE: str(shop.store), ADDRESS: f"postgresql://orrery@127.0.0.1:{server.port}/orrery"}
        self.shown = ""

    def follow(self, pieces: Sequence[Piece]) -> None:
        """Do what a step of a page asks for, and see what it promises."""
        for piece in pieces:
            match piece:
                case Typed(lines):
                    self.shown = "".join(map(self.type, lines))
                case Edited(text):
                    self.edit(self.named(text))
                case Seen():
                    assert piece.missing_from(self.shown) == []

    def edit(self, text: str) -> None:
        """Write the key of the store into the settings."""
        self.shop.more_store = text.partition("\n")[2]
        self.shop.configure()

    def type(self, line: str) -> str:
        """Type a line, and return what it shows."""
        match self.named(line).split():
            case ["sudo", "-u", "postgres", "createuser", *_]:
                pass  # the server's own
            case ["sudo", "-u", "postgres", "createdb", *_]:
                with self._server.connected() as connection:
                    connection.execute("CREATE DATABASE orrery")
            case ["systemctl", "stop", "orrery"]:
                assert self._service
                stop(self._service)
            case ["systemctl", "start", "orrery"]:
                self._service = self.shop.start_service()
            case ["sudo", "-u", "orrery", "orrery", *words]:
                return self._orrery(words)
            case other:
                pytest.fail(f"nobody types {other}")
        return ""

    def _orrery(self, words: list[str]) -> str:
        came = self.shop.orrery(*words)
        assert came.returncode == 0 or words == ["doctor"], came.stderr
        return came.stdout + came.stderr

    def named(self, text: str) -> str:
        for name, real in self.names.items():
            text = text.replace(name, real)
        return text


def test_there_and_back(server: Server, tmp_path: Path) -> None:
    """Each sale is there at every place in turn; a node that was forgotten at the place before sells nothing."""
    owner = Owner(Deployment(tmp_path), server)
    shop, (file, address) = owner.shop, owner.names.values()
    with beside_a_sandbox(shop):
        owner.type("systemctl start orrery")
        sold = {bought(shop)}
        refused = shop.orrery("store", "copy", file, f"{file}.other")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert "in use: stop the service" in refused.stderr
        owner.follow(steps(PAGE)["To a database"])
        assert "is up to date" in owner.type("sudo -u orrery orrery store migrate")
        sold.add(bought(shop))
        assert buyers(shop) == sold
        forgotten, its_address = shop.launch_another_service()
        shop.await_answer(forgotten, its_address)
        owner.type("systemctl stop orrery")
        owner.type(f"sudo -u orrery orrery store copy {address} {file}")
        assert shop.client.post(its_address + CHECKOUT, json=Visitor(shop).wanted()).status_code == 503
        assert "is closed: it was moved to" in shop.orrery("access", "list").stderr
        shop.more_store = ""
        shop.configure()
        assert "is up to date" in owner.type("sudo -u orrery orrery store migrate")
        owner.type("systemctl start orrery")
        sold.add(bought(shop))
        assert buyers(shop) == sold


def bought(shop: Deployment) -> str:
    """Sell something, wait until the buyer has access, and return who that is."""
    visitor = Visitor(shop)
    visitor.await_access(visitor.buy())
    return visitor.email


def buyers(shop: Deployment) -> set[str]:
    """Return who has access."""
    return {one["email"] for one in json.loads(shop.orrery("access", "list", "--json").stdout)}


def test_a_copy_that_is_killed(server: Server, tmp_path: Path) -> None:
    """Whenever that is: the same line typed again ends it, and nothing is missing."""
    with server.connected() as connection:
        connection.execute("CREATE DATABASE killed")
    shop, address = Deployment(tmp_path), f"postgresql://orrery@127.0.0.1:{server.port}/killed"
    place = file_place(shop.store)
    rows = (StoredRow(b"row:%06d" % number, b"v" * 300, number, None) for number in range(ROWS))
    commits = (StoredCommit(b"id-%d" % number, number, 0) for number in range(1, ROWS))
    place.load(StoreContents(rows, commits, ROWS))
    kept, words = digest(place), ("store", "copy", str(shop.store), address, "--config", str(shop.config))
    for kill in range(KILLS):
        Program(words, tmp_path / "copying.log").kill_within(LONGEST * kill / KILLS)
    ended = shop.orrery(*words[:-2])
    assert ended.returncode == 0 or "was moved by" in ended.stderr, ended.stderr
    assert digest(PostgresDatabase.at(address, None, None, SystemClock())) == kept
    assert shop.store.with_name(f"{shop.store.name}.moved").exists()
    assert not shop.store.exists()
