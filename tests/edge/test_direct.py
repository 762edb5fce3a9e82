"""Operations ahead of the framework: the same answers, headers and figures as behind it."""

import pytest
from pydantic import BaseModel
from starlette.requests import Request

from orrery.edge.direct import AnsweredDirectly, DirectRoute
from orrery.edge.http import public_app
from orrery.edge.metrics import Metrics
from orrery.errors import Invalid, StoreUnavailable
from tests.support.requests import client_of
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
