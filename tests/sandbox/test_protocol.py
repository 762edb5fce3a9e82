"""The API's protocol: lists and their pages, idempotency keys, headers."""

import asyncio

import httpx2
import pytest
import stripe

from tests.sandbox.conftest import KEY, SESSION, Running, until
from tests.sandbox.held import expect_met, held, posted

PATH = "/v1/checkout/sessions"
HEADERS = {"Authorization": f"Bearer {KEY}"}
DAY = 24 * 3600


def test_paging_forwards(box: Running) -> None:
    """Pages follow each other newest first, without gap or repeat, until `has_more` is false."""
    made = [box.session()["id"] for _ in range(5)]
    sessions = box.client().checkout.sessions
    first = sessions.list({"limit": 2})
    second = sessions.list({"limit": 2, "starting_after": first.data[-1].id})
    assert [one.id for one in [*first.data, *second.data]] == made[:0:-1]
    assert first.has_more
    walked = [one.id for one in sessions.list({"limit": 2}).auto_paging_iter()]
    assert walked[:5] == made[::-1]
    assert len(walked) == len(set(walked))


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "starting_after=cs_none", "colour=red"])
def test_wrong_queries(box: Running, query: str) -> None:
    """A wrong limit, cursor or name is refused and names the parameter."""
    answer = box.get(f"{PATH}?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == query.partition("=")[0]


def test_same_key_same_answer(box: Running) -> None:
    """A key that was used returns the first answer, marked as a repeat, and makes nothing new."""
    first = box.post(PATH, SESSION, Idempotency_Key="twice")
    again = box.post(PATH, SESSION, Idempotency_Key="twice")
    assert again.json() == first.json()
    assert first.headers["idempotency-key"] == "twice"
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["original-request"] == first.headers["request-id"]
    other = box.post(PATH, SESSION, Idempotency_Key="another")
    assert other.json()["id"] != first.json()["id"]


def test_same_key_other_parameters(box: Running) -> None:
    """Other parameters under a used key are an idempotency error."""
    box.post(PATH, SESSION, Idempotency_Key="changed")
    with pytest.raises(stripe.IdempotencyError):
        box.client().checkout.sessions.create({"mode": "payment"}, {"idempotency_key": "changed"})


def test_failures_are_kept(box: Running) -> None:
    """A 500 is kept under its key and repeated; a new key works."""
    box.fault("server_error")
    first = box.post(PATH, SESSION, Idempotency_Key="failed")
    again = box.post(PATH, SESSION, Idempotency_Key="failed")
    assert (first.status_code, again.status_code) == (500, 500)
    assert again.json() == first.json()
    assert again.headers["idempotent-replayed"] == "true"
    assert box.post(PATH, SESSION, Idempotency_Key="fresh").status_code == 200


def test_refusals_of_execution_are_kept(box: Running) -> None:
    """A refusal that came after validation is kept: expiring under the same key stays refused."""
    expire = f"{PATH}/{box.session()['id']}/expire"
    box.post(expire, {})
    first = box.post(expire, {}, Idempotency_Key="expire")
    assert first.status_code == 400
    assert box.post(expire, {}, Idempotency_Key="expire").headers["idempotent-replayed"] == "true"


@pytest.mark.parametrize("fault", ["rate_limit", None])
def test_what_is_not_kept(box: Running, fault: str | None) -> None:
    """A rate limit or a failed validation leaves the key unused."""
    key = f"unused-{fault}"
    if fault:
        box.fault(fault)
        assert box.post(PATH, SESSION, Idempotency_Key=key).status_code == 429
    else:
        assert box.post(PATH, {"mode": "payment"}, Idempotency_Key=key).status_code == 400
    answer = box.post(PATH, SESSION, Idempotency_Key=key)
    assert answer.status_code == 200
    assert "idempotent-replayed" not in answer.headers


def test_keys_in_use(box: Running) -> None:
    """While a request is carried out, a second one under its key is a conflict."""
    box.fault("latency", value=60)
    headers = HEADERS | {"Idempotency-Key": "busy"}

    async def both() -> list[httpx2.Response]:
        first = posted(box.web, PATH, data=SESSION, headers=headers)
        async with held(first, lambda: expect_met(box.web)) as answer:
            second = await posted(box.web, PATH, data=SESSION, headers=headers)
            box.advance(60)
            return [await answer, second]

    answers = asyncio.run(both())
    assert [answer.status_code for answer in answers] == [200, 409]
    assert answers[1].json()["error"]["code"] == "idempotency_key_in_use"
    assert answers[1].headers["stripe-should-retry"] == "true"


def test_keys_are_forgotten(box: Running) -> None:
    """After 24 hours a key is as good as new."""
    first = box.post(PATH, SESSION, Idempotency_Key="daily").json()
    box.advance(DAY - 60)
    assert box.post(PATH, SESSION, Idempotency_Key="daily").json() == first
    box.advance(120)
    assert box.post(PATH, SESSION, Idempotency_Key="daily").json()["id"] != first["id"]


def test_a_session_expires_by_itself(box: Running) -> None:
    """At `expires_at` an open session becomes expired and the event goes out, without anybody asking."""
    session = box.session()
    assert session["expires_at"] == session["created"] + DAY
    box.advance(DAY - 60)
    assert box.get(f"{PATH}/{session['id']}").json()["status"] == "open"
    box.receiver.arrived.clear()
    box.clock.advance(61)
    until(lambda: session["id"] in [event["data"]["object"]["id"] for event in box.receiver.events()])
    assert box.get(f"{PATH}/{session['id']}").json()["status"] == "expired"


def test_expires_at(box: Running) -> None:
    """A session may live from 30 minutes to 24 hours."""
    now = box.session()["created"]
    for lifetime in (1801, DAY):
        assert box.session(expires_at=str(now + lifetime))["expires_at"] == now + lifetime
