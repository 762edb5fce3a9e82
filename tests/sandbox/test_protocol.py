"""The API's protocol: lists and their pages, idempotency keys, headers."""

import asyncio

import httpx2

from tests.sandbox.conftest import KEY, SESSION, Running
from tests.sandbox.held import expect_met, held, posted

PATH = "/v1/checkout/sessions"
HEADERS = {"Authorization": f"Bearer {KEY}"}
DAY = 24 * 3600


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


def test_failures_are_kept(box: Running) -> None:
    """A 500 is kept under its key and repeated; a new key works."""
    box.fault("server_error")
    first = box.post(PATH, SESSION, Idempotency_Key="failed")
    again = box.post(PATH, SESSION, Idempotency_Key="failed")
    assert (first.status_code, again.status_code) == (500, 500)
    assert again.json() == first.json()
    assert again.headers["idempotent-replayed"] == "true"
    assert box.post(PATH, SESSION, Idempotency_Key="fresh").status_code == 200


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
