"""What says yes and is no session: an error of ours each time, whatever stands between us and the processor."""

import asyncio
import gzip
import json
from typing import Any

import pytest
from starlette.responses import Response

from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.sales import StripeProcessor
from orrery.ports.processor.errors import ProcessorError, ProcessorRefused, ProcessorUnreachable
from tests.support.serving import served
from tests.support.tables import each_case

SESSION: dict[str, Any] = {
    "id": "cs_1",
    "object": "checkout.session",
    "status": "open",
    "payment_status": "unpaid",
    "created": 1,
    "livemode": False,
    "url": "https://pay.example/cs_1",
}


def session(**other: object) -> bytes:
    """Return a session with other fields where given; None takes a field away."""
    return json.dumps({name: value for name, value in (SESSION | other).items() if value is not None}).encode()


NESTED = b'{"id": "cs_1", "metadata": ' + b'{"a": ' * 600 + b"1" + b"}" * 600 + b"}"

ODD: dict[str, tuple[int, bytes]] = {
    "no id": (200, session(id=None)),
    "an empty id": (200, session(id="")),
    "an id that is a number": (200, session(id=7)),
    "an unknown status": (200, session(status="weird")),
    "a time beyond all calendars": (200, session(created=1e300)),
    "an address that is a number": (200, session(url=5)),
    "a list": (200, b"[]"),
    "null": (200, b"null"),
    "a text": (200, b'"cs_1"'),
    "nothing": (200, b""),
    "HTML": (200, b"<html>Welcome to the hotel's network</html>"),
    "no content": (204, b""),
    "an answer for later": (202, b"{}"),
    "not UTF-8": (200, b"\xff\xfe{}"),
    "a surrogate": (200, b'{"id": "cs_1", "url": "\\ud800"}'),
    "not a number": (200, b'{"id": NaN}'),
    "a number without end": (200, b'{"id": "cs_1", "created": ' + b"9" * 5000 + b"}"),
    "deep": (200, b"[" * 100_000),
    "deep, and well-formed": (200, NESTED),
    "names of the library's own": (
        200,
        b'{"id": "cs_1", "_data": {}, "self": 1, "items": 5, "object": "list", "data": 5}',
    ),
    "an error that is a text": (400, b'{"error": "no"}'),
    "an error that is null": (400, b'{"error": null}'),
    "an error of another protocol": (400, b'{"error": "invalid_grant", "error_description": "no"}'),
    "a refusal without a type": (400, b'{"error": {"message": "no"}}'),
    "a refusal of numbers": (400, b'{"error": {"message": 5, "type": 7, "param": [1], "code": {}}}'),
    "a refusal with a surrogate": (400, b'{"error": {"message": "\\ud800", "type": "invalid_request_error"}}'),
    "a refused key without a reason": (403, b'{"error": {"message": null}}'),
    "an unknown status code": (600, b"{}"),
}


ZIPPED = {"Content-Encoding": "gzip"}


def ask(status: int, body: bytes, headers: dict[str, str] | None = None) -> str:
    """Ask for a session of somebody who answers like this; return the address that comes of it."""
    with served(Response(body, status, headers, "application/json")) as url:
        processor = StripeProcessor(StripeConnection("sk_test_orrery_sandbox", base_url=url))
        created = asyncio.run(processor.create_session({"mode": "payment"}, idempotency_key="key", deadline=10))
    return created.url or ""


def test_a_session() -> None:
    """A session is read, also a compressed one."""
    assert ask(200, session()) == SESSION["url"]
    assert ask(200, gzip.compress(session()), ZIPPED) == SESSION["url"]


@each_case("case", ODD)
def test_an_odd_answer(case: str) -> None:
    """The error is one of the port's, and its sentence is printable and short."""
    with pytest.raises(ProcessorError) as failed:
        ask(*ODD[case])
    assert isinstance(failed.value, ProcessorRefused | ProcessorUnreachable)
    assert str(failed.value).isprintable()
    assert len(str(failed.value)) <= 500


def test_a_broken_compression() -> None:
    """An answer that says that it is compressed and is not, is one too."""
    with pytest.raises(ProcessorUnreachable):
        ask(200, b"no gzip", ZIPPED)
