"""Operations ahead of the framework: the same answers, headers and figures as behind it."""

import asyncio

import pytest
from pydantic import BaseModel
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from orrery.edge.direct import AnsweredDirectly, DirectRoute
from orrery.edge.http import public_app
from orrery.edge.metrics import STARTED, Metrics
from orrery.errors import Invalid, StoreUnavailable
from tests.support.requests import client_of, posted, scope
from tests.support.rounds import found

pytestmark = pytest.mark.anyio

PATH = "/guided/api/echo"
ERRORS = {"bad": Invalid("A sentence."), "away": StoreUnavailable("It is full.")}


class Said(BaseModel):
    """What was sent."""

    said: str


async def echo(request: Request) -> Said:
    """Return the body, or raise the error of that name."""
    said = (await request.body()).decode()
    if said in ERRORS:
        raise ERRORS[said]
    return Said(said=said)


@pytest.mark.parametrize(
    ("method", "said", "status", "count"),
    [("POST", "one", 200, 2), ("POST", "bad", 400, 2), ("POST", "away", 503, 2), ("GET", "", 405, 0)],
)
async def test_it_answers_as_behind_the_framework(method: str, said: str, status: int, count: int) -> None:
    """Ahead of the app or by its route: one status, one body, one set of headers, one count for each."""
    metrics, route = Metrics(), DirectRoute(PATH, echo)
    behind = public_app([], [route], found(), metrics)
    answers = list[tuple[int, bytes, dict[str, str]]]()
    for app in (AnsweredDirectly(behind, route, metrics), behind):
        async with client_of(app) as client:
            answer = await client.request(method, PATH, content=said.encode())
        answers.append((answer.status_code, answer.content, dict(answer.headers)))
    assert answers[0] == answers[1]
    assert answers[0][0] == status
    counted = f'orrery_http_requests_total{{method="POST",route="{PATH}",status="{status}"}} {count}.0'
    assert (counted in metrics.text().decode()) == (count > 0)


async def test_the_time_of_what_fails_is_that_of_its_operation() -> None:
    """A store that hangs before it fails does not look fast: the app counts from where the request began."""
    metrics, route = Metrics(), DirectRoute(PATH, echo)
    behind = public_app([], [route], found(), metrics)

    async def an_hour_later(now: Scope, receive: Receive, send: Send) -> None:
        await behind({**now, STARTED: now[STARTED] - 3600}, receive, send)

    async with client_of(AnsweredDirectly(an_hour_later, route, metrics)) as client:
        assert (await client.post(PATH, content=b"away")).status_code == 503
    figures = metrics.text().decode()
    assert f'orrery_http_request_seconds_bucket{{le="10.0",route="{PATH}"}} 0.0' in figures
    assert f'orrery_http_request_seconds_count{{route="{PATH}"}} 1.0' in figures


async def test_a_cancelled_request_is_counted() -> None:
    """Ahead of the app as behind it: it counts as a 500, and stays cancelled."""
    deadlines = list[asyncio.Timeout]()

    async def waiting(_: Request) -> Said:
        deadlines[-1].reschedule(0)
        await asyncio.Event().wait()
        return Said(said="never")

    metrics, route = Metrics(), DirectRoute(PATH, waiting)
    behind = public_app([], [route], found(), metrics)
    for count, app in enumerate((AnsweredDirectly(behind, route, metrics), behind), start=1):
        async with client_of(app) as client:
            deadlines.append(asyncio.timeout(None))
            with pytest.raises(TimeoutError):
                async with deadlines[-1]:
                    _ = await client.post(PATH)
        counted = f'orrery_http_requests_total{{method="POST",route="{PATH}",status="500"}} {count}.0'
        assert counted in metrics.text().decode()


async def test_an_answer_that_cannot_be_sent_is_counted() -> None:
    """Ahead of the app as behind it: what was answered counts, whoever has hung up."""

    async def broken(_: Message) -> None:
        raise ConnectionResetError

    metrics, route = Metrics(), DirectRoute(PATH, echo)
    behind = public_app([], [route], found(), metrics)
    for count, app in enumerate((AnsweredDirectly(behind, route, metrics), behind), start=1):
        with pytest.raises(ConnectionResetError):
            await app({**scope(), "path": PATH}, posted([b"one"]).receive, broken)
        counted = f'orrery_http_requests_total{{method="POST",route="{PATH}",status="200"}} {count}.0'
        assert counted in metrics.text().decode()
