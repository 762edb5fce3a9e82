"""Webhooks that nobody should send: never a 500, and nothing is stored of what nobody signed."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.connections import read_to_end
from tests.support.deployment import Deployment
from tests.support.json_values import json_values
from tests.support.soak import rounds
from tests.support.waiting import PATIENCE
from tests.support.webhooks import WEBHOOK, send, sign_bytes, signed

MARKER = "hostile"
"""Is in every body that must not be stored."""

MOST_CHUNKS = 256
"""How many chunks of 64 KiB are pushed at most: some megabytes of them stay in the kernel's own buffers."""

LENT = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
"""The shop is lent to one test, and all that is generated goes to the same one."""


def event(**changes: object) -> dict[str, Any]:
    """Return a believable event that opens access when it is trusted."""
    session = {
        "id": f"cs_test_{MARKER}",
        "object": "checkout.session",
        "status": "complete",
        "payment_status": "paid",
        "created": 1,
        "livemode": False,
        "metadata": {"productType": "cert", "certCode": "cert-1", "vendorSlug": "northwind"},
    }
    whole = {"id": f"evt_{MARKER}", "object": "event", "type": "checkout.session.completed", "created": 1}
    return whole | {"livemode": False, "data": {"object": session}} | changes


BODY = json.dumps(event(), indent=2).encode()


@pytest.fixture(scope="module", autouse=True)
def stalled(running_shop: Deployment) -> Iterator[socket.socket]:
    """Leave a body half-way from the start of this module on, so that its time passes meanwhile."""
    head = f"POST {WEBHOOK} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n".encode()
    signature = f"Stripe-Signature: t=1,v1={'0' * 64}\r\n".encode()
    with closing(connected(running_shop)) as one:
        one.sendall(head + signature + b"Content-Length: 1000\r\n\r\n" + BODY[:200])
        yield one


def connected(shop: Deployment) -> socket.socket:
    """Connect to the public listener."""
    return socket.create_connection(("127.0.0.1", shop.ports[0]), timeout=PATIENCE)


def stored(shop: Deployment) -> list[str]:
    """Return the keys of everything in the store that came with a hostile webhook, but for pushes on their way."""
    records = [(key, value) for key, value in shop.records.scan().items() if not key.startswith("outbox")]
    return [key for key, value in records if MARKER in key or MARKER.encode() in value]


NOT_EVENTS: list[bytes] = [
    b"",
    b"[]",
    b"{}",
    b"null",
    b'"evt_hostile"',
    b"{" * 100_000,
    b'\xff\xfe{"id": "evt_hostile"}',
    b'{"id": "evt_hostile\xff", "object": "event"}',
    json.dumps(event(id="")).encode(),
    json.dumps(event(id="evt_hostile\n")).encode(),
    json.dumps(event(id="evt_hostile" * 100)).encode(),
    json.dumps(event(id=["evt_hostile"])).encode(),
    json.dumps(event(object="hostile")).encode(),
    json.dumps(event(type=None)).encode(),
    json.dumps(event(created=-1)).encode(),
    json.dumps(event(created=10**30)).encode(),
    json.dumps(event(livemode="false")).encode(),
    json.dumps(event(data=None)).encode(),
    json.dumps(event(data={"object": []})).encode(),
    json.dumps(event(data={"object": {"id": "cs_hostile"}})).encode(),
]


def test_signed_but_no_event(shop: Deployment) -> None:
    """What is rightly signed is kept and answered 200, whatever it is, and opens nothing (decision 44)."""
    for body in NOT_EVENTS:
        answer = send(shop, *sign_bytes(shop, body))
        assert answer.status_code == 200, body[:60]
        assert answer.json()["received"] in {"unreadable", "conflict"}, body[:60]
    assert shop.records.access(f"cs_test_{MARKER}") is None


@settings(max_examples=rounds(20), suppress_health_check=LENT)
@given(where=st.sampled_from(["object", "type", "created", "livemode", "api_version", "data"]), what=json_values)
def test_signed_events_with_a_wrong_part(shop: Deployment, where: str, what: object) -> None:
    """A signed event with anything at all in one place is acknowledged."""
    mutated = event(id="evt_mutated", type="charge.succeeded") | {where: what}
    assert send(shop, *signed(shop, mutated)).status_code == 200


@settings(max_examples=rounds(25), suppress_health_check=LENT)
@given(
    where=st.sampled_from(
        [
            "id",
            "status",
            "payment_status",
            "created",
            "metadata",
            "customer_details",
            "line_items",
            "custom_fields",
        ]
    ),
    what=json_values,
)
def test_signed_sessions_with_a_wrong_part(shop: Deployment, where: str, what: object) -> None:
    """A signed completed event with anything at all in its session opens no access and is no 500."""
    mutated = event(id="evt_mutated_session")
    mutated["data"]["object"] |= {"id": "cs_test_mutated", where: what}
    assert send(shop, *signed(shop, mutated)).status_code == 200
    assert shop.records.access("cs_test_mutated") is None


def test_endless_chunks(shop: Deployment) -> None:
    """A chunked body without an end is a 413 or cut off long before it fills the memory."""
    head = f"POST {WEBHOOK} HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with closing(connected(shop)) as connection:
        connection.sendall(head)
        sent = push_until_closed(connection, chunk)
        assert sent < MOST_CHUNKS * len(chunk)
    assert shop.client.get(f"{shop.public}/healthz").status_code == 200


def push_until_closed(connection: socket.socket, chunk: bytes) -> int:
    """Send a chunk again and again until the service hangs up; return the bytes sent."""
    sent = 0
    try:
        while sent < MOST_CHUNKS * len(chunk):
            connection.sendall(chunk)
            sent += len(chunk)
    except (BrokenPipeError, ConnectionResetError):
        pass
    return sent


def test_silence_in_the_body(shop: Deployment, stalled: socket.socket) -> None:
    """Half a body and then silence: a 408, and the service closes the connection."""
    before = stored(shop)
    assert read_to_end(stalled).startswith(b"HTTP/1.1 408 ")
    assert stored(shop) == before
