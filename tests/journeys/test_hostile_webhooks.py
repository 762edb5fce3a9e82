"""Webhooks that nobody should send: never a 500, and nothing is stored of what nobody signed."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.connections import read_to_end
from tests.support.deployment import Deployment
from tests.support.json_values import json_values
from tests.support.marked import SECRETS
from tests.support.soak import rounds
from tests.support.visiting import Visitor
from tests.support.waiting import PATIENCE
from tests.support.webhooks import WEBHOOK, header, send, sign_bytes, signature, signed

MARKER = "hostile"
"""Is in every body that must not be stored."""

MOST_CHUNKS = 256
"""How many chunks of 64 KiB are pushed at most: some megabytes of them stay in the kernel's own buffers."""

LENT = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
"""The shop is lent to one test, and all that is generated goes to the same one."""

Attack = Callable[[bytes, int], tuple[bytes, str]]


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


def old(body: bytes, now: int) -> tuple[bytes, str]:
    """Sign 301 s ago; the service's clock may be a moment ahead, never behind."""
    return body, header(body, now - 301)


def ahead(body: bytes, now: int) -> tuple[bytes, str]:
    """Sign in the future, more than 300 s even after some seconds on a busy machine."""
    return body, header(body, now + 305)


def serialised_again(body: bytes, now: int) -> tuple[bytes, str]:
    """Sign one text and send another of the same meaning."""
    return json.dumps(json.loads(body)).encode(), header(body, now)


def v0_only(body: bytes, now: int) -> tuple[bytes, str]:
    """Send the right digest under the scheme that is not live."""
    return body, f"t={now},v0={signature(body, now)}"


def wrong_secret(body: bytes, now: int) -> tuple[bytes, str]:
    """Sign with a secret that is not ours."""
    return body, f"t={now},v1={signature(body, now, 'whsec_of_somebody_else')}"


def empty_secret(body: bytes, now: int) -> tuple[bytes, str]:
    """Sign with no secret at all."""
    return body, f"t={now},v1={signature(body, now, '')}"


def two_times(body: bytes, now: int) -> tuple[bytes, str]:
    """Say two times, of which one is signed."""
    return body, f"t={now - 5000},t={now},v1={signature(body, now)}"


ATTACKS: list[Attack] = [old, ahead, serialised_again, v0_only, wrong_secret, empty_secret, two_times]


@pytest.fixture(scope="module", autouse=True)
def stalled(running_shop: Deployment) -> Iterator["Stalled"]:
    """Leave two requests half-way from the start of this module on, so that their time passes meanwhile."""
    head = f"POST {WEBHOOK} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n".encode()
    signature = f"Stripe-Signature: t=1,v1={'0' * 64}\r\n".encode()
    half_body = head + signature + b"Content-Length: 1000\r\n\r\n" + BODY[:200]
    with closing(connected(running_shop)) as first, closing(connected(running_shop)) as second:
        first.sendall(head)
        second.sendall(half_body)
        yield Stalled(first, second)


@dataclass(frozen=True)
class Stalled:
    """Two connections that fell silent: in the headers, and in the body."""

    in_headers: socket.socket
    in_body: socket.socket


def connected(shop: Deployment) -> socket.socket:
    """Connect to the public listener."""
    return socket.create_connection(("127.0.0.1", shop.ports[0]), timeout=PATIENCE)


def stored(shop: Deployment) -> list[str]:
    """Return the keys of everything in the store that came with a hostile webhook."""
    return [key for key, value in shop.records.scan().items() if MARKER in key or MARKER.encode() in value]


def test_wrong_signatures(shop: Deployment) -> None:
    """What is not signed as it should be is a 400, and nothing of it is stored."""
    for attack in ATTACKS:
        answer = send(shop, *attack(BODY, shop.sandbox.now()))
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid-request"), attack.__name__
    assert stored(shop) == []


HEADERS = [b"", b"t=", b"t=1,v1=", b",,,", b"v1=00", b"t=9e9,v1=00", b"t=-1", b"\xe9"]
BEYOND_ASCII = [b"t=1,v1=\xff\xfe", b"t=\xd9\xa1,v1=\xd9\xa2", b"\xf0\x9f\x8e\x93"]


def test_wrong_headers(shop: Deployment) -> None:
    """A header that says nothing usable, with any bytes in it, is a 400."""
    for value in HEADERS + BEYOND_ASCII:
        said = raw_request(shop, [b"Stripe-Signature: " + value], BODY)
        assert said.startswith(b"HTTP/1.1 400 "), value
    assert stored(shop) == []


def test_two_signature_headers(shop: Deployment) -> None:
    """Two headers, of which one is right, are a 400: it is not told which one counts."""
    right = header(BODY, shop.sandbox.now()).encode()
    said = raw_request(shop, [b"Stripe-Signature: " + right, b"Stripe-Signature: t=1,v1=00"], BODY)
    assert said.startswith(b"HTTP/1.1 400 ")
    assert stored(shop) == []


def raw_request(shop: Deployment, headers: list[bytes], body: bytes) -> bytes:
    """Send a webhook byte by byte as given, and return the whole answer."""
    lines = [f"POST {WEBHOOK} HTTP/1.1".encode(), b"Host: 127.0.0.1", b"Connection: close", *headers]
    lines.append(f"Content-Length: {len(body)}".encode())
    with closing(connected(shop)) as connection:
        connection.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + body)
        return read_to_end(connection)


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


def test_second_of_two_signatures_is_right(shop: Deployment, visitor: Visitor) -> None:
    """Of two v1 signatures the second one may be the right one, as during a rotation."""
    shop.sandbox.fault("webhook_down", count=None)
    session = visitor.buy()
    body, right = signed(shop, shop.sandbox.completed(session))
    at, _, one = right.partition(",")
    assert send(shop, body, f"{at},v1={'0' * 64},{one}").json() == {"received": "granted"}


def test_each_of_two_secrets_is_accepted(shop: Deployment, visitor: Visitor) -> None:
    """During a rotation the old secret signs as well as the new one."""
    shop.sandbox.fault("webhook_down", count=None)
    session, now = visitor.buy(), shop.sandbox.now()
    body = json.dumps(shop.sandbox.completed(session)).encode()
    old_secret = SECRETS["webhook_signing_secret"].splitlines()[0]
    assert send(shop, body, f"t={now},v1={signature(body, now, old_secret)}").json() == {"received": "granted"}


def test_two_megabytes(shop: Deployment) -> None:
    """A body of 2 MB is a 413, however well it is signed."""
    before = stored(shop)
    body = json.dumps(event(padding="x" * 2_000_000)).encode()
    assert send(shop, *sign_bytes(shop, body)).status_code == 413
    assert stored(shop) == before


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


def test_no_secret_configured(bare: Deployment) -> None:
    """Without a signing secret every webhook is a 503, also one that is signed with an empty key."""
    now = int(time.time())  # noqa: TID251  this deployment runs on the machine's clock
    for attack in (empty_secret, wrong_secret):
        answer = send(bare, *attack(BODY, now))
        assert (answer.status_code, answer.json()["error"]) == (503, "not-configured")
    assert stored(bare) == []


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Run a service that has no secret at all, and no sandbox beside it."""
    deployment = Deployment(tmp_path_factory.mktemp("bare"), secrets={})
    try:
        deployment.start_service()
        yield deployment
    finally:
        deployment.clear_away()


def test_silence_in_the_headers(shop: Deployment, stalled: Stalled) -> None:
    """Half the headers and then silence: the service closes the connection."""
    before = stored(shop)
    read_to_end(stalled.in_headers)
    assert stored(shop) == before


def test_silence_in_the_body(shop: Deployment, stalled: Stalled) -> None:
    """Half a body and then silence: a 408, and the service closes the connection."""
    before = stored(shop)
    assert read_to_end(stalled.in_body).startswith(b"HTTP/1.1 408 ")
    assert stored(shop) == before
