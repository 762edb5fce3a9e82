"""Refreshing by hand: when it asks, and what it makes of the answers (spec 2, What the service does 4)."""

import asyncio
import json
from pathlib import Path

import pytest
from anyio.lowlevel import checkpoint
from typer.testing import CliRunner

from orrery.app.runner import runner_of
from orrery.errors import Invalid
from orrery.live.cli.live import group
from orrery.live.cli.refresh import RefreshAnswer, Refresher
from orrery.ports.refresh import RefreshReply
from tests.support.clock import START, ManualClock
from tests.support.refresh_endpoint import DONE, EXHAUSTED, PASSWORD, REFUSED, answer
from tests.support.tables import each_case
from tests.support.waiting import PATIENCE

BASE = "https://counter.example.org"


class Replies:
    """A service that gives these replies, one after the other."""

    def __init__(self, *replies: RefreshReply) -> None:
        self._replies = iter(replies)

    async def post(self, path: str, password: str) -> RefreshReply:
        """Give the next."""
        assert (path, password) == ("/api/stats?refresh=realtime", PASSWORD)
        return next(self._replies)


def replied(status: int, body: dict[str, object] | bytes) -> RefreshReply:
    return RefreshReply(status, answer(body)[1])


async def told(status: int, body: dict[str, object] | bytes) -> RefreshAnswer:
    """Return what becomes of one answer of the service."""
    return await Refresher(Replies(replied(status, body)), ManualClock(), PASSWORD).once()


async def test_a_refresh_is_told_in_one_line() -> None:
    """A refresh that succeeded is told with its time, count, pages and age."""
    clock = ManualClock()
    clock.advance(3)
    seen = await Refresher(Replies(replied(200, DONE)), clock, PASSWORD).once()
    assert seen.line() == "2026-03-01T12:00:03Z ok active=12 pages=7 age=3s"
    assert json.loads(seen.json()) == {
        "at": "2026-03-01T12:00:03+00:00",
        "ok": True,
        "active": 12,
        "pages": 7,
        "age_s": 3,
        "error": None,
        "message": None,
    }


async def test_a_refresh_without_pages() -> None:
    """A refresh that left the pages out succeeded all the same."""
    assert (await told(200, DONE | {"pages_count": None})).line().endswith("ok active=12 pages=- age=0s")


@each_case(
    ("status", "body", "line"),
    [
        (200, EXHAUSTED, "failed quota-exhausted: The day's tokens are used up."),
        (401, REFUSED, "failed Unauthorized"),
        (503, {"ok": False, "error": "kv-not-bound"}, "failed kv-not-bound"),
        (500, DONE, "failed not-an-answer: HTTP 500."),
        (200, b"", "failed not-an-answer: HTTP 200."),
        (404, b"<!doctype html><title>Not found</title>", "failed not-an-answer: HTTP 404."),
        (200, {"ok": True}, "failed not-an-answer: HTTP 200."),
        (200, DONE | {"active": "many"}, "failed not-an-answer: HTTP 200."),
        (200, DONE | {"generated_at": "yesterday"}, "failed not-an-answer: HTTP 200."),
        (308, b"", "failed not-an-answer: HTTP 308. Redirects are not followed: the password would travel."),
        (200, b'"' + b"\xff" * 10, "failed not-an-answer: HTTP 200."),
    ],
)
async def test_anything_else_is_a_failure(status: int, body: dict[str, object] | bytes, line: str) -> None:
    """An answer that says why it failed is told in its words; what is no answer of ours, by its status."""
    seen = await told(status, body)
    assert (seen.ok, seen.line()) == (False, f"2026-03-01T12:00:00Z {line}")


async def test_what_comes_back_is_cleaned() -> None:
    """A service that repeats the password, or sends what moves a terminal's cursor, is shown without both."""
    seen = await told(200, {"ok": False, "error": "x\x1b[2J", "message": f"Bearer {PASSWORD}\r\nno {'x' * 1000}"})
    assert PASSWORD not in seen.line() + seen.json()
    assert "\x1b" not in seen.line()
    assert seen.line().isprintable()
    assert len(seen.line()) < 300


@pytest.mark.parametrize("space", [" ", "\r\n ", "\t"])
async def test_a_password_of_several_words(space: str) -> None:
    """A password that is repeated over several lines is not put together again."""
    repeated = PASSWORD.replace(" ", space)
    seen = await told(200, {"ok": False, "error": "x", "message": f"Bearer {repeated}"})
    assert "Bearer [password]" in seen.line()


async def test_no_answer() -> None:
    """Why none came is told; one that is too late is a time-out."""
    for late, error in ((False, "unreachable"), (True, "timeout")):
        reply = RefreshReply(why="The service is away.", late=late)
        seen = await Refresher(Replies(reply), ManualClock(), PASSWORD).once()
        assert seen.line().endswith(f"failed {error}: The service is away.")


async def times_of(durations: list[float], interval: float, seconds: int) -> list[float]:
    """Return when each refresh began, in seconds from the first, when they take so long."""
    clock, begun = ManualClock(), list[float]()

    class Slow:
        async def post(self, path: str, password: str) -> RefreshReply:
            del path, password
            begun.append((clock.now() - START).total_seconds())
            await clock.sleep(durations[len(begun) - 1])
            return replied(200, DONE)

    async def work() -> list[bool]:
        caller = Refresher(Slow(), clock, PASSWORD)
        return [each.ok async for each in caller.answers(len(durations), interval)]

    task = asyncio.create_task(work())
    for _ in range(seconds):
        for _ in range(20):
            await checkpoint()
        clock.advance(1)
    assert await asyncio.wait_for(task, PATIENCE) == [True] * len(durations)
    return begun


async def test_refreshes_keep_to_the_interval() -> None:
    """The time that refreshes take does not add up: each begins a whole number of intervals after the first."""
    assert await times_of([0, 7, 20, 0], 60, 200) == [0, 60, 120, 180]


async def test_a_slow_refresh_is_followed_by_no_burst() -> None:
    """What became due while a refresh took long is done at the next interval, and not at once."""
    assert await times_of([19, 1, 0, 0], 5, 60) == [0, 20, 25, 30]


@pytest.mark.parametrize(
    ("arguments", "password", "sentence"),
    [
        ([BASE], None, "The admin password is missing"),
        ([BASE], "", "The admin password is missing"),
        ([BASE], "pässword-pässword", "printable ASCII"),
        ([BASE], "one\ntwo", "printable ASCII"),
        ([BASE, "--password-file", "gone"], None, "cannot be read"),
        (["http://counter.example.org"], PASSWORD, "must begin with https://"),
        (["not an address"], PASSWORD, "The address must be like"),
    ],
)
def test_bad_input_asks_nobody(
    arguments: list[str], password: str | None, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bad input is refused in one sentence, before anything is sent and without the password."""
    monkeypatch.delenv("ADMIN_PASSWORD", raising=False)
    if password is not None:
        monkeypatch.setenv("ADMIN_PASSWORD", password)
    result = CliRunner().invoke(group, ["refresh", *arguments], obj=runner_of)
    assert isinstance(result.exception, Invalid)
    assert sentence in str(result.exception)
    assert not password or password not in str(result.exception)
    assert result.output == ""


@pytest.mark.parametrize(
    "option", [("--iterations", "26"), ("--iterations", "0"), ("--interval", "0"), ("--password", PASSWORD)]
)
def test_an_option_out_of_bounds(option: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 25 refreshes, at least a second apart, and no password among the arguments (issue 3, item 6)."""
    monkeypatch.setenv("ADMIN_PASSWORD", PASSWORD)
    result = CliRunner().invoke(group, ["refresh", BASE, *option], obj=runner_of)
    assert (result.exit_code, result.stdout) == (2, "")


def test_a_deployment_that_listens_elsewhere_needs_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the service listens on another address than this machine's own, it is not asked in clear."""
    monkeypatch.setenv("ADMIN_PASSWORD", PASSWORD)
    (tmp_path / "orrery.toml").write_text('[server]\nhost = "192.0.2.7"\n')
    result = CliRunner().invoke(group, ["refresh", "--config", str(tmp_path / "orrery.toml")], obj=runner_of)
    assert isinstance(result.exception, Invalid)
    assert "must begin with https://" in str(result.exception)
