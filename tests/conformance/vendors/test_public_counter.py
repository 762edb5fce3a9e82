"""The public reads by their adapter: what is asked, and what is taken for a count."""

import asyncio
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from orrery.adapters.public_counter import SECONDS, HttpCounter
from orrery.ports.counter import PublicCount, Scope
from tests.support.hasty_loop import run_ahead
from tests.support.serving import served
from tests.support.tables import each_case

AT = "2026-11-21T05:30:00.123456Z"
MOMENT = datetime(2026, 11, 21, 5, 30, 0, 123456, UTC)
SITE: dict[str, object] = {"active": 5, "pages": [], "generated_at": AT, "age_s": 12, "stale": False}
COSMOS: dict[str, object] = {
    "totalUnique": 5,
    "scope": "cosmos",
    "generated_at": AT,
    "age_s": 12.5,
    "stale": True,
    "error": "no-data",
}
MISSING = ...


@dataclass
class Stats:
    """A counter that answers as the test asks, by query."""

    site: bytes = b""
    cosmos: bytes = b""
    status: int = 200
    url: str = ""

    async def answer(self, request: Request) -> Response:
        """Answer one read."""
        answers = {"realtime=1": self.site, "realtime=cosmos": self.cosmos}
        return Response(answers.get(request.url.query, b"?"), self.status)


@pytest.fixture(scope="module")
def server() -> Iterator[Stats]:
    """One server for all tests: starting one takes a while."""
    stats = Stats()
    with served(Starlette(routes=[Route("/api/stats", stats.answer)])) as stats.url:
        yield stats


@pytest.fixture
def stats(server: Stats) -> Stats:
    """The server, with two reads that are well."""
    server.site, server.cosmos, server.status = changed(SITE), changed(COSMOS), 200
    return server


def read(url: str, scope: Scope) -> PublicCount | None:
    """Read one endpoint."""
    return asyncio.run(HttpCounter(url).read(scope))


def changed(fields: dict[str, object], **changes: object) -> bytes:
    """Return an answer with other values, or without those that are `MISSING`."""
    return json.dumps({name: value for name, value in (fields | changes).items() if value is not MISSING}).encode()


def test_both_reads(stats: Stats) -> None:
    """Each scope is its own endpoint with its own name for the count."""
    assert read(stats.url, "site") == PublicCount(5, MOMENT, 12.0, stale=False, error=None)
    assert read(f"{stats.url}/", "cosmos") == PublicCount(5, MOMENT, 12.5, stale=True, error="no-data")


def test_a_proxy_is_not_on_the_way_to_this_machine(stats: Stats, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that the environment names for the rest of the world is not asked for a local counter."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert read(stats.url, "site") is not None


def test_an_empty_cache(stats: Stats) -> None:
    """A read without data has neither time nor age, and has the reason."""
    stats.site = changed(SITE, active=0, generated_at=None, age_s=None, stale=True, error="no-data")
    assert read(stats.url, "site") == PublicCount(0, None, None, stale=True, error="no-data")


def test_fields_of_later(stats: Stats) -> None:
    """A field that the specification does not name yet is no reason to call the counter broken."""
    stats.site = changed(SITE, error=None, more=1)
    assert read(stats.url, "site") is not None


@each_case(
    "changes",
    [
        *({name: MISSING} for name in SITE),
        *({"active": value} for value in (True, 1.0, 1.5, -1, "5", None, 2**53, float("nan"), [5])),
        *({"age_s": value} for value in (True, -1, "12", float("nan"), float("inf"), 1e300)),
        *({"generated_at": value} for value in (1, "today", "2026-11-21T05:30:00", "2026-11-21", True, "")),
        *({"stale": value} for value in (0, "false", None)),
        *({"error": value} for value in (1, "", "<b>", "no data", "x" * 41, "a\nb", "no-data\n")),
        {"pages": None},
    ],
)
def test_what_is_no_count(stats: Stats, changes: dict[str, object]) -> None:
    """A field that is missing or not of its kind makes the whole read one that cannot be believed."""
    stats.site = changed(SITE, **changes)
    assert read(stats.url, "site") is None


@pytest.mark.parametrize("changes", [{"scope": "site"}, {"scope": MISSING}, {"totalUnique": True}])
def test_what_is_no_cosmos_read(stats: Stats, changes: dict[str, object]) -> None:
    """The cosmos read names its scope, and its count is whole."""
    stats.cosmos = changed(COSMOS, **changes)
    assert read(stats.url, "cosmos") is None


@each_case("body", [b"", b"null", b"[]", b"<html>", b"\xff", b'{"active": 5'])
def test_what_is_no_json_object(stats: Stats, body: bytes) -> None:
    """An answer that is no JSON object is no read."""
    stats.site = body
    assert read(stats.url, "site") is None


@pytest.mark.parametrize("status", [201, 302, 404, 500, 503])
def test_another_status(stats: Stats, status: int) -> None:
    """A public read answers 200 in any case (decision 20): anything else is no read."""
    stats.status = status
    assert read(stats.url, "site") is None


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[::1", "nonsense"])
def test_nobody_is_there(url: str) -> None:
    """An address that does not answer, or is none, gives no read."""
    assert read(url, "site") is None


def test_no_answer() -> None:
    """A counter that does not answer is given up after the deadline."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert run_ahead(HttpCounter(url).read("site"), SECONDS) is None
