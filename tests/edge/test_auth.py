"""Bearer and basic credentials (spec 2, Authentication; decision 11)."""

import asyncio
import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.edge.auth import FIRST_DELAY, LONGEST_DELAY, MOST_GUESSES, ServiceBearer, basic_password, bearer
from orrery.edge.problem import Problem
from tests.support.clock import ManualClock, settled
from tests.support.requests import request
from tests.support.tables import each_case
from tests.support.waiting import PATIENCE

TOKEN = b"the-token-of-the-tests"


def require(authorization: str | bytes | None, *tokens: bytes) -> None:
    """Ask with that header; raise the refusal as soon as it comes."""
    headers = [] if authorization is None else [("authorization", authorization)]

    async def ask() -> None:
        clock = ManualClock()
        task = asyncio.create_task(ServiceBearer(tokens, clock).require(request(*headers)))
        await settled()
        clock.advance(FIRST_DELAY)
        await task

    asyncio.run(ask())


def status(authorization: str | bytes | None, *tokens: bytes) -> int:
    """Return 200 or the status of the refusal."""
    try:
        require(authorization, *(tokens or [TOKEN]))
    except Problem as problem:
        return problem.status
    return 200


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_right_token(scheme: str) -> None:
    """The configured token is accepted, whatever the case of the scheme's name."""
    assert status(f"{scheme} {TOKEN.decode()}") == 200


@each_case(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer  ",
        "Bearer wrong",
        TOKEN,
        b"Basic " + TOKEN,
        b"Bearer " + TOKEN + b"x",
        b"Bearer " + TOKEN[:-1],
        b"Bearer " + TOKEN.upper(),
        b"Bearer x, Bearer " + TOKEN,
        "Bearer é",
        "Bearer 日本語",
        b"Bearer \xff\xfe\x80",
        b"Bearer " + b"x" * 1_000_000,
        b"Bearer " + TOKEN + b" " * 1_000_000,
    ],
)
def test_any_other_credentials(authorization: str | bytes | None) -> None:
    """Missing, wrong, foreign and huge credentials are unauthorized, and nothing worse."""
    assert status(authorization) == 401


def test_how_to_be_let_in() -> None:
    """A refusal names the scheme and repeats nothing that was sent."""
    with pytest.raises(Problem) as refused:
        require("Bearer marked-value", TOKEN)
    assert refused.value.headers == {"WWW-Authenticate": "Bearer"}
    assert "marked-value" not in str(refused.value)


@pytest.mark.parametrize("authorization", [None, "Bearer ", "Bearer x", "Bearer"])
def test_no_token_is_configured(authorization: str | None) -> None:
    """Without a token nobody is let in, not even with an empty one: the part is not configured."""
    with pytest.raises(Problem) as refused:
        require(authorization)
    assert refused.value.status == 503
    assert status(authorization, b"") == 503


def test_each_token_of_a_rotation_holds() -> None:
    """While a token is changed, the old one and the new one open, and nothing that is made of both."""
    old, new = b"the-old-token", b"the-new-token"
    assert [status(b"Bearer " + token, old, new) for token in (old, new, old + new, TOKEN)] == [200, 200, 401, 401]


def test_wrong_tokens_are_slowed_down() -> None:
    """Of wrong tokens side by side so many are judged in a minute; the right one is let in meanwhile, at once."""

    async def guess() -> None:
        clock = ManualClock()
        service = ServiceBearer([TOKEN], clock)
        wrong = request(("authorization", "Bearer wrong"))
        tasks = [asyncio.create_task(service.require(wrong)) for _ in range(3 * MOST_GUESSES)]
        await settled()
        await asyncio.wait_for(service.require(request(("authorization", b"Bearer " + TOKEN))), PATIENCE)
        clock.advance(LONGEST_DELAY)
        errors = await asyncio.gather(*tasks, return_exceptions=True)
        statuses = [error.status for error in errors if isinstance(error, Problem)]
        assert statuses == [401] * MOST_GUESSES + [429] * 2 * MOST_GUESSES

    asyncio.run(guess())


@given(st.binary(max_size=60))
def test_only_one_value_opens(value: bytes) -> None:
    """Whatever the header holds, only the token is accepted."""
    assert (status(b"Bearer " + value) == 200) is (value.strip() == TOKEN)


def test_a_token_beyond_ascii() -> None:
    """A token of any bytes can be sent as it is."""
    assert status(b"Bearer \xc3\xa9t\xc3\xa9-token", "été-token".encode()) == 200


def test_a_token_of_a_sane_length() -> None:
    """4096 characters are read and one more is not."""
    assert bearer(request(("authorization", b"Bearer " + b"x" * 4096))) == b"x" * 4096
    assert bearer(request(("authorization", b"Bearer " + b"x" * 4097))) is None


def basic(credentials: bytes) -> str:
    """Return the header of HTTP Basic."""
    return f"Basic {base64.b64encode(credentials).decode()}"


@each_case("credentials", [b"owner:open: sesame", b":open: sesame", b"\xff:open: sesame"])
@each_case("scheme", ["Basic", "basic", "BASIC"])
def test_the_password_of_http_basic(scheme: str, credentials: bytes) -> None:
    """What follows the first colon is the password, whatever name stands before it."""
    header = f"{scheme} {base64.b64encode(credentials).decode()}"
    assert basic_password(request(("authorization", header))) == b"open: sesame"


@each_case(
    "authorization",
    ["", "Basic", "Basic ", "Basic !!!", "Basic é", "Basic YQ", basic(b"open sesame"), "Bearer b3duZXI6b3Blbg=="],
)
def test_no_password_of_http_basic(authorization: str) -> None:
    """Missing and malformed credentials, and those of another scheme, hold no password."""
    assert not basic_password(request(("authorization", authorization)))


def test_huge_credentials_of_http_basic_are_not_read() -> None:
    """Credentials beyond 4096 characters hold no password, whatever is in them."""
    assert basic_password(request(("authorization", basic(b"owner:" + b"x" * 3060)))) is not None
    assert basic_password(request(("authorization", basic(b"owner:" + b"x" * 3070)))) is None
