"""Reading a body with a limit in size and time (decisions 2 and 3)."""

import asyncio

import pytest

from orrery.edge.body import BODY_SECONDS, read_body, read_object
from orrery.edge.problem import Problem
from tests.support.hasty_loop import run_ahead
from tests.support.requests import posted
from tests.support.tables import each_case

JSON = ("content-type", "application/json")


async def refusal(awaitable: object) -> tuple[int, str]:
    """Return status and tag of the refusal that must come."""
    assert asyncio.iscoroutine(awaitable)
    with pytest.raises(Problem) as refused:
        await awaitable
    return refused.value.status, refused.value.tag


@pytest.mark.parametrize("chunks", [[b"a" * 100], [b"a"] * 100, [b"", b"a" * 100, b""]])
async def test_a_body_of_the_limit(chunks: list[bytes]) -> None:
    """A body of exactly the limit is read, in however many pieces it comes."""
    assert await read_body(posted(chunks), 100) == b"a" * 100


@pytest.mark.parametrize("chunks", [[b"a" * 101], [b"a"] * 101, [b"a" * 60, b"a" * 60]])
async def test_a_byte_too_many(chunks: list[bytes]) -> None:
    """One byte more is refused, whatever length was declared."""
    assert await refusal(read_body(posted(chunks), 100)) == (413, "too-large")
    assert await refusal(read_body(posted(chunks, ("content-length", "5")), 100)) == (413, "too-large")


async def test_a_declared_length_is_refused_unread() -> None:
    """A length beyond the limit is refused before a byte was read, and the connection is closed."""
    with pytest.raises(Problem) as refused:
        await read_body(posted([], ("content-length", "101"), then="silence"), 100)
    assert refused.value.status == 413
    assert refused.value.headers == {"Connection": "close"}


@each_case("length", ["", "x", "-5", "1e9", "0x10", " 5"])
async def test_a_senseless_length(length: str) -> None:
    """A length that is no number is left to what really comes."""
    assert await read_body(posted([b"abc"], ("content-length", length)), 100) == b"abc"


async def test_it_stops_reading_at_the_limit() -> None:
    """Of a body without end only as much as the limit is read."""
    read = posted([b"a" * 50] * 4, then="silence")
    assert await refusal(read_body(read, 100)) == (413, "too-large")


async def test_a_cut_connection() -> None:
    """A client that leaves in the middle of the body is a refusal, and no other error."""
    assert await refusal(read_body(posted([b"abc"], then="cut"), 100)) == (400, "disconnected")


def test_silence_is_cut_off() -> None:
    """A client that sends half a body and then nothing is refused when the time for bodies is over."""
    with pytest.raises(Problem) as refused:
        run_ahead(read_body(posted([b"abc"], then="silence"), 100), BODY_SECONDS)
    assert (refused.value.status, refused.value.headers) == (408, {"Connection": "close"})
    assert BODY_SECONDS == 10


def test_slow_is_no_silence() -> None:
    """A body that is complete just before the time is over is read."""
    assert run_ahead(read_body(posted([b"abc"]), 100), BODY_SECONDS - 0.5) == b"abc"


@pytest.mark.parametrize(
    "media_type",
    ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", " application/json ;x=y"],
)
async def test_json_by_its_type(media_type: str) -> None:
    """JSON is what says that it is JSON."""
    assert await read_object(posted([b'{"a":1}'], ("content-type", media_type)), 100) == {"a": 1}


@each_case(
    "media_type",
    ["", "text/plain", "application/x-www-form-urlencoded", "text/json", "application/jsonp", "application/xml"],
)
async def test_another_type(media_type: str) -> None:
    """A form or a text, which another site's page could send unasked, is refused."""
    assert await refusal(read_object(posted([b"{}"], ("content-type", media_type)), 100)) == (
        415,
        "unsupported-media-type",
    )


@each_case(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"null",
        b"[]",
        b'["a"]',
        b'"text"',
        b"1",
        b"NaN",
        b'{"a":1}x',
        b"\xff\xfe",
        b'{"a":"\xff"}',
        b"[" * 3000,
        b'{"a":' * 800,
        b"1" * 3900,
        b"{'a':1}",
    ],
)
async def test_what_is_no_object(body: bytes) -> None:
    """Anything but one JSON object is refused, however deep or long."""
    assert await refusal(read_object(posted([body], JSON), 4096)) == (400, "not-json")


async def test_the_limit_goes_before_the_content() -> None:
    """A body that is too large is too large, whatever is in it."""
    assert await refusal(read_object(posted([b"x" * 5000], JSON), 4096)) == (413, "too-large")
