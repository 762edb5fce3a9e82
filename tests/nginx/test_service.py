"""The service itself behind the edge: its headers make the edge do what the counter promises (decision 27)."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore, create
from orrery.live import keys
from orrery.live.freshness import TOO_OLD_ABOVE
from orrery.live.records import Active
from orrery.ports.store import Put
from orrery.runtime.index_key import index_key
from tests.nginx.edge import COSMOS_READ, SITE_READ, Edge, edge_before
from tests.support.ports import free_ports
from tests.support.program import Program
from tests.support.visiting import expect_equal
from tests.support.waiting import IN_CLEAR, PATIENCE, eventually

VISITORS = 37

SOON = timedelta(seconds=8)
"""After which the count is too old: long enough for one read before, on a machine ten times slower, too."""

ROUNDING = timedelta(seconds=3)
"""What was composed is sent for a second and kept for one at least, and nginx counts whole ones."""

_SETTINGS = """\
mode = "sandbox"
[server]
port = {port}
private_port = {private_port}
trusted_proxies = ["127.0.0.1/32"]
[store]
path = {store}
[log]
level = "error"
"""


@dataclass
class Counted:
    """A service whose store holds a count that was made at some time."""

    folder: Path

    def __post_init__(self) -> None:
        self.port, self.private_port = free_ports(2)
        self._programs: list[Program] = []
        create(self.store)

    @property
    def store(self) -> Path:
        """The store's file."""
        return self.folder / "orrery.db"

    def fill(self, generated_at: datetime) -> None:
        """Store a count of that time."""
        asyncio.run(_fill(self.store, generated_at))

    def start(self) -> Program:
        """Start the service; it takes requests when this returns, and has read no count yet."""
        settings = self.folder / "orrery.toml"
        path = json.dumps(str(self.store))
        text = _SETTINGS.format(port=self.port, private_port=self.private_port, store=path)
        settings.write_text(text, encoding="utf-8")
        program = Program(["serve", "--config", str(settings)], self.folder / "service.log")
        self._programs.append(program)
        eventually(lambda: self.get(self.port, "healthz"))
        return program

    def reads(self) -> int:
        """Return how many reads of the counter have reached the service."""
        text = self.get(self.private_port, "metrics").text
        lines = [line for line in text.splitlines() if '"/api/stats"' in line and "_total{" in line]
        return sum(int(float(line.rpartition(" ")[2])) for line in lines)

    def get(self, port: int, path: str) -> httpx2.Response:
        """Read from the service itself."""
        return httpx2.get(f"http://127.0.0.1:{port}/{path}", trust_env=False, timeout=PATIENCE, verify=IN_CLEAR)

    def clear_away(self) -> None:
        """Leave no process behind."""
        for program in self._programs:
            program.clear_away()


@pytest.fixture
def counted(tmp_path: Path) -> Iterator[Counted]:
    """Prepare a service."""
    service = Counted(tmp_path)
    try:
        yield service
    finally:
        service.clear_away()


@pytest.fixture
def front(counted: Counted, tmp_path: Path) -> Iterator[Edge]:
    """Run the edge as it is shipped in front of the service's place."""
    with edge_before(counted.port, tmp_path / "edge") as edge:
        yield edge


def test_a_thousand_reads_cost_the_service_one(counted: Counted, front: Edge) -> None:
    """Of five hundred reads of each address, one reaches the service."""
    counted.fill(_now())
    counted.start()
    for address in (SITE_READ, COSMOS_READ):
        shown = {front.read(address).text for _ in range(500)}
        assert len(shown) == 1
    assert front.active() == VISITORS
    assert counted.reads() == 2


def test_the_owners_reads_are_never_kept(counted: Counted, front: Edge) -> None:
    """Refresh and intel reach the service each time, and say that nobody may keep them."""
    counted.fill(_now())
    counted.start()
    headers = {"Authorization": "Bearer orrery-test-password"}
    for _ in range(2):
        for method, address in (("GET", f"{COSMOS_READ}&intel=1"), ("POST", "/api/stats?refresh=realtime")):
            answer = front.client.request(method, address, headers=headers)
            assert answer.json() == {"ok": False, "error": "Unauthorized"}
            assert "no-store" in answer.headers["cache-control"]
    assert counted.reads() == 4


def test_a_count_is_not_shown_past_30_minutes(counted: Counted, front: Edge) -> None:
    """With the service gone, the last good count is shown until it is 30 minutes old, and not after.

    An answer of the last minute is kept for `s-maxage`: the time to the boundary, no shorter (decision 27).
    """
    service = counted.start()
    end = _now() + SOON
    counted.fill(end - TOO_OLD_ABOVE)
    last = Seen(front)
    assert last.look()
    service.kill()
    eventually(lambda: expect_equal(last.look(), wanted=False))
    assert last.read().status_code >= 500
    assert last.at <= end + last.longest + ROUNDING


def test_a_count_turns_too_old_at_30_minutes(counted: Counted, front: Edge) -> None:
    """With the service there, the edge shows no count after 30 minutes either, but why there is none."""
    counted.start()
    end = _now() + SOON
    counted.fill(end - TOO_OLD_ABOVE)
    last = Seen(front)
    assert last.look()
    eventually(lambda: expect_equal(last.look(), wanted=False))
    told = last.read().json()
    assert (told["active"], told["error"]) == (0, "data-too-stale")
    assert last.at <= end + last.longest + ROUNDING


class Seen:
    """When the count was asked for and shown the last time, and how long a read took at most."""

    def __init__(self, front: Edge) -> None:
        self.front = front
        self.at = _now()
        self.longest = timedelta()

    def look(self) -> bool:
        """Read once; return whether the count was shown."""
        asked = _now()
        answer = self.read()
        self.longest = max(self.longest, _now() - asked)
        shown = answer.is_success and answer.json()["active"] == VISITORS
        self.at = asked if shown else self.at
        return shown

    def read(self) -> httpx2.Response:
        """Read from the edge."""
        return self.front.read()


def _now() -> datetime:
    return datetime.now(UTC)  # noqa: TID251  nginx knows the machine's clock only


async def _fill(path: Path, generated_at: datetime) -> None:
    store = await SqliteStore.open(path, SystemClock())
    value = Active(active=VISITORS, generated_at=generated_at).model_dump_json().encode()
    await index_key(store)
    await store.commit([Put(keys.ACTIVE, value, keys.VALUE_TTL)], [])
    await store.close()
