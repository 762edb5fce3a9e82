"""The webhook's signature scheme (decision 7), held to frozen vectors (change rule 5) and the vendor's library."""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import stripe
from hypothesis import given, settings
from hypothesis import strategies as st

from orrery.adapters.clock import SystemClock
from orrery.checkout.signature import TOLERANCE, verify
from orrery.errors import Invalid
from tests.support.tables import each_case

VECTORS = sorted(Path(__file__).with_name("vectors").glob("*.json"))
SUMS = Path(__file__).with_name("vectors") / "SHA256SUMS"

SECRET = b"whsec_of_the_tests"
BODY = b'{"id":"evt_1"}'
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
AT = int(NOW.timestamp())


def digest(body: bytes = BODY, at: int | str = AT, secret: bytes = SECRET) -> str:
    """Return the hex signature of a body."""
    return hmac.digest(secret, f"{at}.".encode() + body, "sha256").hex()


def accepts(body: bytes, header: str, secrets: list[bytes], now: datetime = NOW) -> bool:
    """Tell whether the signature is found good; any error but `Invalid` is a failure of the test."""
    try:
        verify(body, header, secrets, now)
    except Invalid:
        return False
    return True


@dataclass(frozen=True)
class Vector:
    """One frozen delivery."""

    fact: str
    secrets: list[str]
    body_base64: str
    header: str
    now: int
    accepted: bool


@each_case("path", VECTORS)
def test_a_frozen_delivery_is_judged_as_ever(path: Path) -> None:
    """Every frozen vector is accepted or refused as it says."""
    vector = Vector(**json.loads(path.read_text(encoding="utf-8")))
    body, secrets = base64.b64decode(vector.body_base64), [secret.encode() for secret in vector.secrets]
    now = datetime.fromtimestamp(vector.now, UTC)
    assert accepts(body, vector.header, secrets, now) is vector.accepted, vector.fact


def test_the_vectors_are_frozen() -> None:
    """Every vector is listed in SHA256SUMS, and is what it was when it was listed."""
    found = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in VECTORS]
    assert SUMS.read_text(encoding="ascii").splitlines() == found


@each_case("path", [path for path in VECTORS if path.stem != "not-utf-8"])
def test_the_vendor_signs_alike(path: Path) -> None:
    """The vendor's library finds the signature of each accepted vector good, its time aside."""
    vector = Vector(**json.loads(path.read_text(encoding="utf-8")))
    if vector.accepted:
        body = base64.b64decode(vector.body_base64).decode()
        assert any(vendor_accepts(body, vector.header, secret, tolerance=None) for secret in vector.secrets)


def verify_as_vendor(body: str | bytes, header: str, secret: str, tolerance: int | None) -> bool:
    """Call the vendor's library."""
    signature = stripe.WebhookSignature
    return signature.verify_header(body, header, secret, tolerance)  # pyright: ignore[reportUnknownMemberType] its tolerance has no type


def vendor_accepts(body: str, header: str, secret: str, *, tolerance: int | None = 300) -> bool:
    """Tell what the vendor's library says."""
    try:
        return verify_as_vendor(body, header, secret, tolerance)
    except stripe.SignatureVerificationError:
        return False


@dataclass(frozen=True)
class Delivery:
    """A delivery as hypothesis makes it: signed, then perhaps altered."""

    body: str
    header: str
    secret: str


secrets = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
texts = st.text(st.characters(codec="utf-8"), max_size=60)
ages = st.integers(0, 240) | st.integers(360, 10_000)
"""Seconds since the signing; the vendor's library asks the real clock, so the edge is left to the vectors."""


@st.composite
def deliveries(draw: st.DrawFn) -> Delivery:
    """Make a delivery with up to three signatures, of which any may be right, and perhaps a changed body."""
    at = int(SystemClock().now().timestamp()) - draw(ages)
    body, secret = draw(texts), draw(secrets)
    right = digest(body.encode(), at, secret.encode())
    values = draw(st.lists(st.sampled_from([right, right[:-1], right.upper(), "0" * 64, ""]), max_size=3))
    schemes = [draw(st.sampled_from(["v1", "v0", "v2"])) for _ in values]
    parts = [f"t={at}", *(f"{scheme}={value}" for scheme, value in zip(schemes, values, strict=True))]
    sent = draw(st.sampled_from([body, body + " ", ""]))
    return Delivery(sent, ",".join(draw(st.permutations(parts))), draw(st.sampled_from([secret, secret + "x"])))


@settings(max_examples=300)
@given(deliveries())
def test_the_vendor_agrees(delivery: Delivery) -> None:
    """For signed and altered deliveries of the past, the vendor's library and ours say the same."""
    ours = accepts(delivery.body.encode(), delivery.header, [delivery.secret.encode()], SystemClock().now())
    assert ours is vendor_accepts(delivery.body, delivery.header, delivery.secret)


@given(st.binary(max_size=80), st.binary(min_size=1, max_size=40), st.integers(-300, 300))
def test_what_is_signed_is_accepted(body: bytes, secret: bytes, age: int) -> None:
    """A signature over any bytes under any secret is good for 300 s either way."""
    header = f"t={AT},v1={digest(body, AT, secret)}"
    assert accepts(body, header, [secret], NOW + timedelta(seconds=age))


@given(st.binary(max_size=40), st.text(max_size=120))
def test_no_header_breaks_it(body: bytes, header: str) -> None:
    """Whatever the header says, the answer is a refusal and no other error."""
    assert not accepts(body, header, [SECRET])


def test_difference_the_vendor_accepts_the_future() -> None:
    """Ours refuses a time that lies more than 300 s ahead; the vendor's library takes it."""
    at = int(SystemClock().now().timestamp()) + 10_000
    header = f"t={at},v1={digest(BODY, at)}"
    assert vendor_accepts(BODY.decode(), header, SECRET.decode())
    assert not accepts(BODY, header, [SECRET], SystemClock().now())


def test_difference_a_header_beyond_ascii() -> None:
    """Ours refuses a signature that is not ASCII; the vendor's library breaks with a TypeError."""
    at = int(SystemClock().now().timestamp())
    header = f"t={at},v1=é"
    with pytest.raises(TypeError):
        vendor_accepts(BODY.decode(), header, SECRET.decode())
    assert not accepts(BODY, header, [SECRET], SystemClock().now())


def test_difference_no_tolerance_is_no_check() -> None:
    """Ours always checks the time; the vendor's library does not when the tolerance is 0."""
    header = f"t=1,v1={digest(BODY, 1)}"
    assert vendor_accepts(BODY.decode(), header, SECRET.decode(), tolerance=0)
    assert not accepts(BODY, header, [SECRET])
    assert timedelta(seconds=300) == TOLERANCE


def test_difference_two_times() -> None:
    """Ours refuses a header with two times; the vendor's library takes the first."""
    at = int(SystemClock().now().timestamp())
    header = f"t={at},t=1,v1={digest(BODY, at)}"
    assert vendor_accepts(BODY.decode(), header, SECRET.decode())
    assert not accepts(BODY, header, [SECRET], SystemClock().now())


def test_difference_bad_utf_8() -> None:
    """Ours judges the signature of bytes that are no UTF-8; the vendor's library breaks on them."""
    body = b"\xff"
    header = f"t={AT},v1={digest(body)}"
    with pytest.raises(UnicodeDecodeError):
        verify_as_vendor(body, header, SECRET.decode(), None)
    assert accepts(body, header, [SECRET])


@pytest.mark.parametrize("microsecond", [0, 1, 999_999])
def test_the_edge_is_whole_seconds(microsecond: int) -> None:
    """The 300 s are counted in whole seconds, as the header's time is."""
    header = f"t={AT},v1={digest()}"
    assert accepts(BODY, header, [SECRET], NOW + timedelta(seconds=300, microseconds=microsecond))
    assert not accepts(BODY, header, [SECRET], NOW + timedelta(seconds=301, microseconds=microsecond))
    assert accepts(BODY, header, [SECRET], NOW - timedelta(seconds=300) + timedelta(microseconds=microsecond))
    assert not accepts(BODY, header, [SECRET], NOW - timedelta(seconds=301) + timedelta(microseconds=microsecond))


@each_case("configured", [[], [b""], [b"", b""], [SECRET, b""], [b"", SECRET]])
def test_an_empty_secret_never_checks(configured: list[bytes]) -> None:
    """Without a secret, or with an empty one among them, nothing is accepted, not even an empty key's."""
    for key in (b"", SECRET):
        assert not accepts(BODY, f"t={AT},v1={digest(secret=key)}", configured)


@each_case("filler", ["a" * 60_000, "," * 60_000, "=" * 60_000, "v1=" + "0" * 60_000, "v1=," * 15_000])
def test_a_huge_header_is_refused(filler: str) -> None:
    """A header of 60 kB without a right signature is refused like any other."""
    assert not accepts(BODY, f"t={AT},{filler}", [SECRET])


def test_the_right_signature_among_hundreds() -> None:
    """However many v1 there are, one that is right is enough."""
    wrong = ",".join(f"v1={number:064x}" for number in range(500))
    assert accepts(BODY, f"t={AT},{wrong},v1={digest()}", [SECRET])


@each_case(
    "at",
    [
        "",
        "1e9",
        "+1772366400",
        " 1772366400 ",
        "1_772_366_400",
        "9" * 13,
        "9" * 5000,
        "\N{ARABIC-INDIC DIGIT ONE}",
    ],
)
def test_a_time_is_plain_digits(at: str) -> None:
    """A time of anything but up to twelve ASCII digits is refused, even when it was signed so."""
    assert not accepts(BODY, f"t={at},v1={digest(at=at)}", [SECRET])


def test_the_refusal_holds_nothing_secret() -> None:
    """No refusal repeats the header, the body or a secret."""
    header = f"t={AT},v1={digest(secret=b'another')}"
    with pytest.raises(Invalid) as refused:
        verify(BODY, header, [SECRET], NOW)
    assert str(refused.value) == "No signature matches."
    assert refused.value.__cause__ is None
