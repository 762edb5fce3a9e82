"""The processor fails in every way it has: the visitor gets one session or a typed error."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx2
import pytest

from tests.support.deployment import Deployment
from tests.support.marked import assert_unmarked
from tests.support.sandbox import SESSIONS
from tests.support.visiting import Visitor


def as_problem(answer: httpx2.Response) -> tuple[int, str]:
    """Return status and tag of an error, having seen that it has the documented shape and says no secret."""
    body = answer.json()
    assert set(body) == {"error", "message"}
    assert_unmarked(answer.text)
    return answer.status_code, body["error"]


@pytest.mark.parametrize("fault", ["server_error", "rate_limit", "html_200", "html_502", "cut", "cut_after"])
def test_once_is_made_good(shop: Deployment, visitor: Visitor, fault: str) -> None:
    """One failure is repeated, and the visitor gets a session that can be paid, and no second one."""
    shop.sandbox.fault(fault, path=SESSIONS)
    session = visitor.buy()
    visitor.await_access(session)
    assert [one["id"] for one in shop.sandbox.sessions(visitor.product)] == [session]


def test_answer_lost_after_creating(shop: Deployment, visitor: Visitor) -> None:
    """The processor creates the session and never answers: the visitor gets that one, and pays once."""
    shop.sandbox.fault("lost_answer", path=SESSIONS)
    session = visitor.buy()
    visitor.await_access(session)
    visitor.await_told(session)
    assert [one["id"] for one in shop.sandbox.sessions(visitor.product)] == [session]
    charges = shop.sandbox.ask("GET", "/v1/charges", limit="100")["data"]
    assert [one["billing_details"]["email"] for one in charges].count(visitor.email) == 1
    assert (len(visitor.emails()), len(visitor.pushes())) == (1, 1)


def test_refused_by_the_processor(shop: Deployment) -> None:
    """What the processor refuses is a 502 with a tag, not tried twice, and says nothing of the reason outside."""
    shop.sandbox.price("price_withdrawn", unit_amount=4900, active=False)
    answer = Visitor(shop, "withdrawn").check_out()
    assert as_problem(answer) == (502, "processor-refused")
    assert "price_withdrawn" not in answer.text
    assert "the price specified is inactive" in shop.printed().lower()


def test_double_click(shop: Deployment, visitor: Visitor) -> None:
    """Two clicks at once under one Idempotency-Key give the same session, also while the processor is slow."""
    shop.sandbox.fault("latency", value=1.5, path=SESSIONS)
    key = uuid4().hex
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(visitor.check_out, [key, key]))
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json() == visitor.check_out(key).json()
    assert [one["id"] for one in shop.sandbox.sessions(visitor.product)] == [answers[0].json()["id"]]
