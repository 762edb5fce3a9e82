"""Our adapter before servers that are not the provider: what is no report, and token endpoints that are none."""

import asyncio
import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from orrery.adapters.ga4 import LONGEST_REPORT, GoogleAnalytics
from orrery.adapters.movable_clock import MovableClock
from orrery.ports.analytics import AnalyticsFailed, By, Quotas, QuotaState, UserReport
from orrery.sandbox.analytics.access import service_account_key
from tests.support.hasty_loop import run_ahead
from tests.support.serving import bound, serving
from tests.support.tables import each_case
from tests.support.waiting import PATIENCE

KIND = "analyticsData#runRealtimeReport"
TOKEN = "token-of-the-sandbox"  # noqa: S105  a fixture's token, named so
Answer = Callable[[], Response]
Body = Answer | dict[str, Any] | list[object] | str | None


@cache
def any_key() -> str:
    """Return a key, made once since that takes a moment."""
    return service_account_key("https://token.example.test/")


def a_token() -> Response:
    """Give a token."""
    return JSONResponse({"access_token": TOKEN, "expires_in": 3599, "token_type": "Bearer"})


@contextmanager
def stranger(folder: Path, report: Answer, token: Answer = a_token) -> Generator[GoogleAnalytics]:
    """Run a server that gives these two answers; yield the adapter that takes it for the provider."""

    async def to_token(_: Request) -> Response:
        return token()

    async def to_report(request: Request) -> Response:
        assert request.headers["authorization"] == f"Bearer {TOKEN}"
        return report()

    routes = [Route("/token", to_token, methods=["POST"]), Route("/{rest:path}", to_report, methods=["POST"])]
    listener, url = bound()
    key = json.dumps(json.loads(any_key()) | {"token_uri": f"{url}/token"})
    clock = MovableClock(folder / "clock")
    with serving(Starlette(routes=routes), listener):
        yield GoogleAnalytics(
            key, "1", base_url=url, planet_dimension="streamName", window_minutes=30, clock=clock
        )


def asked(
    folder: Path, report: Body, dimension: By | None = None, token: Answer = a_token, deadline: float = PATIENCE
) -> UserReport:
    """Return what the adapter makes of this answer: a response's maker, or the body of a 200."""
    with stranger(folder, lambda: report() if callable(report) else JSONResponse(report), token) as adapter:
        return asyncio.run(adapter.active_users(dimension, deadline=deadline))


def failure(
    folder: Path, report: Body, dimension: By | None = None, token: Answer = a_token, deadline: float = PATIENCE
) -> AnalyticsFailed:
    """Return how it fails."""
    with pytest.raises(AnalyticsFailed) as failed:
        asked(folder, report, dimension, token, deadline)
    assert TOKEN not in str(failed.value)
    assert len(str(failed.value)) < 280
    assert str(failed.value).isprintable()
    return failed.value


def row(figure: object, *labels: object) -> dict[str, object]:
    """Return a row as the provider writes it."""
    return {"dimensionValues": [{"value": label} for label in labels], "metricValues": [{"value": figure}]}


FIGURES = (1, None, "-1", "1.5", "", "one", "1e3", "\u0663", " 1", "\u00b2")
"""What is no whole number of users in digits."""

NO_REPORTS: list[tuple[Body, By | None]] = [
    ({}, None),
    ([], None),
    (None, None),
    ("text", None),
    ({"kind": "analyticsData#runReport"}, None),
    ({"kind": "analyticsData#runReport", "rows": [row("1")]}, None),
    ({"rows": [row("1")]}, None),
    ({"kind": KIND, "rows": None}, None),
    ({"kind": KIND, "rows": {}}, None),
    ({"kind": KIND, "rows": [5]}, None),
    ({"kind": KIND, "rowCount": 3}, None),
    ({"kind": KIND, "rows": [row("1"), row("2")]}, None),
    ({"kind": KIND, "rows": [row("1", "a page")]}, None),
    ({"kind": KIND, "rows": [row("1")]}, "page"),
    ({"kind": KIND, "rows": [row("1", "a", "b")]}, "page"),
    ({"kind": KIND, "rows": [row("1", 5)]}, "page"),
    ({"kind": KIND, "rows": [{"dimensionValues": [], "metricValues": []}]}, None),
    ({"kind": KIND, "rows": [{"metricValues": [{"value": "1"}, {"value": "2"}]}]}, None),
    *(({"kind": KIND, "rows": [row(figure)]}, None) for figure in FIGURES),
]


@each_case(("body", "dimension"), NO_REPORTS)
def test_what_is_no_report(tmp_path: Path, body: Body, dimension: By | None) -> None:
    """A 200 whose body is anything but the report that was asked for is a failure, never a zero."""
    failed = failure(tmp_path, body, dimension)
    assert (failed.cause, failed.status) == ("not-a-report", 200)


def test_a_report_that_is_too_long(tmp_path: Path) -> None:
    """An answer without end is given up before it fills the memory."""
    endless = (b" " * 65536 for _ in range(2 * LONGEST_REPORT // 65536))
    assert failure(tmp_path, lambda: StreamingResponse(endless)).cause == "not-a-report"


def test_a_figure_without_end(tmp_path: Path) -> None:
    """A figure of ten thousand digits is no figure."""
    assert failure(tmp_path, {"kind": KIND, "rows": [row("9" * 10_000)]}).cause == "not-a-report"


def test_a_figure_that_no_reader_can_hold(tmp_path: Path) -> None:
    """A figure beyond what JSON's readers hold exactly is no figure; the one just below it is."""
    assert asked(tmp_path, {"kind": KIND, "rows": [row(str(2**53 - 1))]}).total == 2**53 - 1
    assert failure(tmp_path, {"kind": KIND, "rows": [row(str(2**53))]}).cause == "not-a-report"


@each_case(
    ("quota", "read"),
    [
        (None, None),
        ("much", None),
        ({"tokensPerDay": {"remaining": -1}}, None),
        ({"tokensPerHour": {"consumed": 2**63}}, None),
        ({"tokensPerDay": "much"}, None),
        ({}, Quotas()),
        ({"tokensPerDay": {"remaining": 5}}, Quotas(day=QuotaState(0, 5))),
        ({"tokensPerHour": {"consumed": 4}, "tokensPerWeek": {}}, Quotas(hour=QuotaState(4, 0))),
    ],
)
def test_quotas(tmp_path: Path, quota: object, read: Quotas | None) -> None:
    """A missing figure is 0; quotas that cannot be read leave the rows as they are."""
    report = asked(tmp_path, {"kind": KIND, "rows": [row("7")], "propertyQuota": quota})
    assert (report.total, report.quotas) == (7, read)


def test_a_label_that_is_empty(tmp_path: Path) -> None:
    """An empty label, which the provider leaves out, is a label."""
    body: Body = {"kind": KIND, "rows": [{"dimensionValues": [{}], "metricValues": [{"value": "2"}]}]}
    assert asked(tmp_path, body, "page").rows[0].label == ""


@each_case(
    ("status", "cause"),
    [
        (204, "not-a-report"),
        (302, "unreachable"),
        (400, "refused"),
        (404, "unreachable"),
        (405, "unreachable"),
        (429, "hour"),
        (500, "server"),
        (502, "server"),
        (503, "server"),
    ],
)
def test_other_statuses(tmp_path: Path, status: int, cause: str) -> None:
    """A status has its advice even where the body is not the provider's; an unknown 429 is an hourly one."""
    failed = failure(tmp_path, lambda: PlainTextResponse("" if status == 204 else "<html>no", status))
    assert (failed.cause, failed.status) == (cause, status)
    assert "html" not in str(failed)


def test_redirects_are_not_followed(tmp_path: Path) -> None:
    """A redirect, which would carry the token elsewhere, is an answer like any other that is no report."""
    assert failure(tmp_path, lambda: RedirectResponse("/elsewhere")).cause == "unreachable"


@pytest.mark.parametrize(
    "message", ["x" * 5000, "two\nlines\r\nand \x1b[31mcolours\x00", f"your token was {TOKEN}", "\u2028\u202e"]
)
def test_messages_are_cut(tmp_path: Path, message: str) -> None:
    """The vendor's message is shown on one line, cut short, and never with the token in it."""
    body = {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}
    assert failure(tmp_path, lambda: JSONResponse(body, 400)).cause == "refused"


@each_case(
    ("token", "cause"),
    [
        (lambda: JSONResponse({"error": "invalid_grant"}, 400), "unauthorized"),
        (lambda: JSONResponse({"error": "invalid_client", "error_description": "secret"}, 401), "unauthorized"),
        (lambda: PlainTextResponse("<html>no", 404), "unreachable"),
        (lambda: PlainTextResponse("<html>fine", 200), "unreachable"),
        (lambda: JSONResponse({"token": 1}), "unreachable"),
        (lambda: JSONResponse([]), "unreachable"),
        (lambda: JSONResponse({"access_token": "tökén"}), "unreachable"),
    ],
)
def test_token_endpoints(tmp_path: Path, token: Answer, cause: str) -> None:
    """Only an OAuth error is about the key; everything else is an endpoint that does not work."""
    failed = failure(tmp_path, {"kind": KIND}, token=token)
    assert failed.cause == cause
    assert "secret" not in str(failed)


def test_a_token_endpoint_that_fails_until_the_deadline(tmp_path: Path) -> None:
    """A token endpoint that fails again and again is given up at the deadline."""
    asked_for = list[None]()

    def refused() -> Response:
        asked_for.append(None)
        return PlainTextResponse("no", 503)

    with stranger(tmp_path, a_token, refused) as adapter, pytest.raises(AnalyticsFailed) as failed:
        run_ahead(adapter.active_users(deadline=PATIENCE), PATIENCE, lambda: expect_asked(asked_for))
    assert failed.value.cause == "unreachable"


def expect_asked(asked_for: list[None]) -> None:
    """Fail, for now, unless a token was asked for twice."""
    assert len(asked_for) > 1
