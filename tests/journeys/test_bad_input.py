"""Requests that are not as they should be: the right 4xx, and the processor hears nothing (decisions 2, 3)."""

import json
from collections.abc import Iterator, Mapping

import httpx2
import pytest

from tests.support.deployment import Deployment
from tests.support.sandbox import SESSIONS
from tests.support.visiting import CHECKOUT, Visitor, expect_equal
from tests.support.waiting import eventually

GOOD = {"productType": "cert", "certCode": "cert-1", "vendorSlug": "northwind"}
MINUTE = 60


@pytest.fixture
def silence(shop: Deployment) -> Iterator[None]:
    """See that the processor is not asked: a fault set for the next question is still there afterwards."""
    sessions = shop.sandbox.sessions()
    shop.sandbox.fault("server_error", path=SESSIONS)
    yield
    assert shop.sandbox.faults() == ["server_error"]
    shop.sandbox.clear_faults()
    assert shop.sandbox.sessions() == sessions


def check_out(shop: Deployment, body: bytes, content_type: str = "application/json") -> httpx2.Response:
    """Send any body to the checkout operation, as a new visitor."""
    headers = {"X-Forwarded-For": shop.fresh_address(), "Content-Type": content_type}
    return shop.client.post(shop.public + CHECKOUT, content=body, headers=headers)


def refused(shop: Deployment, body: bytes, content_type: str = "application/json") -> tuple[int, str]:
    """Return status and tag of what must be refused in the documented shape."""
    answer = check_out(shop, body, content_type)
    assert set(answer.json()) == {"error", "message"}
    return answer.status_code, answer.json()["error"]


CERT_CODES: list[object] = [
    "../x",
    "CISSP",
    "x" * 65,
    "x" * 3000,
    None,
    ["cert-1"],
    {"cert-1": 1},
    1,
    True,
    "🎓",
    "",
    "-cert",
    "cert--1",
    "cert-1\n",
    "cert-1 ",
    "cert_1",
    "cert-1\x00",
    "ｃert-1",  # noqa: RUF001  a letter that only looks like c
]


@pytest.mark.usefixtures("silence")
def test_cert_codes_that_are_none(shop: Deployment) -> None:
    """What is no certification code is a 422."""
    for code in CERT_CODES:
        assert refused(shop, json.dumps(GOOD | {"certCode": code}).encode()) == (422, "invalid-field"), code


OTHER_FIELDS: list[Mapping[str, object]] = [
    {name: value for name, value in GOOD.items() if name != "certCode"},
    {name: value for name, value in GOOD.items() if name != "vendorSlug"},
    {name: value for name, value in GOOD.items() if name != "productType"},
    GOOD | {"price": 1},
    GOOD | {"productType": "tier"},
    GOOD | {"vendorSlug": "North/wind"},
    {},
]


@pytest.mark.usefixtures("silence")
def test_missing_extra_and_wrong_fields(shop: Deployment) -> None:
    """A missing, unknown or wrong field is a 422."""
    for body in OTHER_FIELDS:
        assert refused(shop, json.dumps(body).encode()) == (422, "invalid-field"), body


@pytest.mark.usefixtures("silence")
def test_unknown_product(shop: Deployment) -> None:
    """A well-formed code that is not sold is a 404."""
    assert refused(shop, json.dumps(GOOD | {"certCode": "unheard-of"}).encode()) == (404, "unknown-product")


NOT_OBJECTS = [b"", b"[]", b"null", b'"cert"', b"1", b"{", b"\xff\xfe", b'{"a": 1}}', b"[" * 4000, b"\x00"]


@pytest.mark.usefixtures("silence")
def test_bodies_that_are_no_object(shop: Deployment) -> None:
    """A body that is no JSON object is a 400."""
    for body in NOT_OBJECTS:
        assert refused(shop, body) == (400, "not-json"), body


@pytest.mark.usefixtures("silence")
def test_wrong_content_type(shop: Deployment) -> None:
    """A body that is sent as neither JSON nor what a form may send is a 415."""
    for kind in ("", "application/jsonp"):
        assert refused(shop, json.dumps(GOOD).encode(), kind) == (415, "unsupported-media-type"), kind


@pytest.mark.usefixtures("silence")
def test_ten_kilobytes(shop: Deployment) -> None:
    """A code of 10 kB is too large a body: 413."""
    assert refused(shop, json.dumps(GOOD | {"certCode": "x" * 10_000}).encode()) == (413, "too-large")


def test_four_kibibytes_and_no_more(shop: Deployment) -> None:
    """A body of 4 KiB is read; one byte more is a 413."""
    whole = json.dumps(GOOD).encode().ljust(4096)
    assert check_out(shop, whole).status_code == 200
    assert refused(shop, whole + b" ") == (413, "too-large")


@pytest.mark.usefixtures("silence")
def test_idempotency_keys_that_are_none(shop: Deployment) -> None:
    """An Idempotency-Key that is empty, too long or not plain ASCII is a 422."""
    for key in ("", "two words", "x" * 256, "é"):
        headers = {"X-Forwarded-For": shop.fresh_address(), b"Idempotency-Key": key.encode()}
        answer = shop.client.post(shop.public + CHECKOUT, json=GOOD, headers=headers)  # pyright: ignore[reportArgumentType] bytes as a name are fine with bytes as a value
        assert (answer.status_code, answer.json()["error"]) == (422, "invalid-field"), key


def test_eleventh_in_a_minute(shop: Deployment, visitor: Visitor) -> None:
    """The eleventh request of a minute is a 429 that says when to come again, and writes nothing."""
    for _ in range(10):
        assert visitor.check_out().status_code == 200
    before = shop.records.keys("offer") | shop.records.keys("attempt")
    answer = visitor.check_out("a-key-of-its-own")
    assert (answer.status_code, answer.json()["error"]) == (429, "too-many-requests")
    assert 1 <= int(answer.headers["Retry-After"]) <= MINUTE
    assert shop.records.keys("offer") | shop.records.keys("attempt") == before
    assert Visitor(shop, visitor.product).check_out().status_code == 200
    shop.sandbox.advance(int(answer.headers["Retry-After"]))
    eventually(lambda: expect_equal(visitor.check_out().status_code, 200))
