"""The owner's bearer (spec 2, Authentication 2; issue 3, item 8)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from orrery.edge.auth import (
    FIRST_DELAY,
    FORGOTTEN_AFTER,
    LONGEST_DELAY,
    MOST_GUESSES,
    AdminBearer,
    GuessLimiter,
    hashed,
)
from orrery.edge.problem import Problem
from orrery.errors import Invalid
from orrery.syntax.admin_password import sendable
from tests.support.clock import ManualClock, settled
from tests.support.requests import request
from tests.support.tables import each_case
from tests.support.waiting import PATIENCE

PASSWORD = "open sesame, please"  # noqa: S105  a password of the tests
HASH = hashed(PASSWORD.encode())


async def admits(bearer: AdminBearer, token: str | bytes) -> bool:
    """Ask whether a bearer is admitted."""
    text = token.encode() if isinstance(token, str) else token
    return await bearer.admits(request(("authorization", b"Bearer " + text)))


@asynccontextmanager
async def waiting(bearer: AdminBearer, count: int) -> AsyncGenerator[list[asyncio.Task[bool]]]:
    """Ask with wrong passwords, so many at once, while the block lasts."""
    tasks = [asyncio.create_task(admits(bearer, f"wrong-{number}")) for number in range(count)]
    try:
        await settled()
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("configured", [HASH, HASH.upper(), f"  {HASH}\n"])
async def test_the_right_password_is_admitted(configured: str) -> None:
    """The password of the hash is admitted at once, whatever the hash's case and the space around it."""
    clock = ManualClock()
    assert await asyncio.wait_for(admits(AdminBearer(configured, GuessLimiter(clock)), PASSWORD), PATIENCE)
    assert clock.sleepers == 0


@each_case(
    "token",
    [
        "wrong",
        PASSWORD + "x",
        PASSWORD[:-1],
        PASSWORD.upper(),
        HASH,
        "é",
        "日本語",
        b"\xff\xfe",
        PASSWORD.encode() + b"\x00",
    ],
)
async def test_a_wrong_password_is_refused_after_a_while(token: str | bytes) -> None:
    """Any other bearer, the hash itself among them, is refused once its delay is over and not before."""
    clock = ManualClock()
    task = asyncio.create_task(admits(AdminBearer(HASH, GuessLimiter(clock)), token))
    await settled()
    assert (task.done(), clock.sleepers) == (False, 1)
    clock.advance(FIRST_DELAY)
    assert await asyncio.wait_for(task, PATIENCE) is False


@each_case(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer    ",
        f"Basic {PASSWORD}",
        PASSWORD,
        "Bearer " + "x" * 4097,
        "Bearer " + "x" * 1_000_000,
    ],
)
async def test_what_can_be_no_password_is_refused_at_once(authorization: str | None) -> None:
    """A missing, empty or over-long bearer is refused without a delay."""
    headers = [] if authorization is None else [("authorization", authorization)]
    clock = ManualClock()
    assert not await asyncio.wait_for(AdminBearer(HASH, GuessLimiter(clock)).admits(request(*headers)), PATIENCE)
    assert clock.sleepers == 0


async def test_an_empty_password_is_never_one() -> None:
    """The hash of nothing admits no empty bearer."""
    bearer = AdminBearer(hashed(b""), GuessLimiter(ManualClock()))
    for token in ("", " ", "   "):
        assert not await admits(bearer, token)


async def test_a_password_outside_ascii_is_never_one() -> None:
    """A bearer outside ASCII is refused even under its own hash: each program would send it in its own way."""
    clock, password = ManualClock(), "pässword-pässword"
    task = asyncio.create_task(admits(AdminBearer(hashed(password.encode()), GuessLimiter(clock)), password))
    await settled()
    clock.advance(FIRST_DELAY)
    assert await asyncio.wait_for(task, PATIENCE) is False


@each_case("configured", [None, "", " ", "x" * 64, HASH[:-1], HASH + "0", PASSWORD, "é" * 64])
async def test_a_hash_that_is_none_admits_nobody(configured: str | None) -> None:
    """Without 64 hexadecimal digits nothing is admitted, neither the password nor what stands there instead."""
    bearer = AdminBearer(configured, GuessLimiter(ManualClock()))
    assert bearer.usable is False
    for token in (PASSWORD, configured or "", "x"):
        assert not await asyncio.wait_for(admits(bearer, token), PATIENCE)


async def test_a_hash_is_told_to_be_usable() -> None:
    """64 hexadecimal digits are told to be usable."""
    assert AdminBearer(HASH, GuessLimiter(ManualClock())).usable


async def delay_of(bearer: AdminBearer, clock: ManualClock) -> float:
    """Return how many seconds one wrong password waits."""
    task = asyncio.create_task(admits(bearer, "wrong"))
    await settled()
    seconds = 0.0
    while not task.done():
        clock.advance(FIRST_DELAY)
        seconds += FIRST_DELAY
        await settled()
    return seconds


async def test_the_delay_grows_to_a_few_seconds() -> None:
    """Each wrong password waits longer than the one before, up to the longest delay."""
    clock = ManualClock()
    bearer = AdminBearer(HASH, GuessLimiter(clock))
    delays = [await delay_of(bearer, clock) for _ in range(40)]
    assert delays[:4] == [FIRST_DELAY, 2 * FIRST_DELAY, 4 * FIRST_DELAY, 8 * FIRST_DELAY]
    assert set(delays[4:]) == {LONGEST_DELAY}


async def test_wrong_passwords_are_forgotten() -> None:
    """After a minute without a wrong one, the next waits as briefly as the first."""
    clock = ManualClock()
    bearer = AdminBearer(HASH, GuessLimiter(clock))
    for _ in range(5):
        await delay_of(bearer, clock)
    clock.advance(FORGOTTEN_AFTER)
    assert await delay_of(bearer, clock) == FIRST_DELAY


async def test_the_right_password_does_not_wait_behind_wrong_ones() -> None:
    """While as many wrong ones wait as may, and more come, the right one is admitted at once."""
    clock = ManualClock()
    bearer = AdminBearer(HASH, GuessLimiter(clock))
    async with waiting(bearer, 2 * MOST_GUESSES):
        assert clock.sleepers == MOST_GUESSES
        assert await asyncio.wait_for(admits(bearer, PASSWORD), PATIENCE)


async def test_only_so_many_are_judged_in_a_minute() -> None:
    """Of wrong ones side by side so many are refused in a minute; all others are told when to come again."""
    clock = ManualClock()
    wrong = GuessLimiter(clock)
    doors = [AdminBearer(HASH, wrong), AdminBearer(HASH, wrong)]
    for _ in range(2):
        async with waiting(doors[0], MOST_GUESSES) as first, waiting(doors[1], 10 * MOST_GUESSES) as more:
            clock.advance(LONGEST_DELAY)
            await settled()
            assert [task.result() for task in first] == [False] * MOST_GUESSES
            assert {told(task) for task in more} == {(429, "60")}
        clock.advance(60)


def told(task: asyncio.Task[bool]) -> tuple[int, str]:
    """Return the status of a refusal and when to come again."""
    error = task.exception()
    assert isinstance(error, Problem)
    assert error.headers is not None
    return error.status, error.headers["Retry-After"]


async def test_a_client_that_leaves_leaves_its_guess() -> None:
    """A wrong one whose client goes away was a guess all the same."""
    bearer = AdminBearer(HASH, GuessLimiter(ManualClock()))
    async with waiting(bearer, MOST_GUESSES):
        pass
    async with waiting(bearer, 1) as tasks:
        assert told(tasks[0])[0] == 429


@each_case("password", [PASSWORD, f"  {PASSWORD}\r\n", "x", "~" * 4095, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}"])
async def test_what_can_be_sent_is_admitted(password: str) -> None:
    """A password that is said to be sendable is admitted by its hash, white space around it or not."""
    bearer = AdminBearer(hashed(sendable(password).encode()), GuessLimiter(ManualClock()))
    assert await asyncio.wait_for(admits(bearer, sendable(password)), PATIENCE)
    assert await asyncio.wait_for(admits(bearer, f"{sendable(password)} "), PATIENCE)


@each_case("password", ["", "  ", "pässword", "日本語", "a\nb", "a\tb", "a\x00b", "x" * 4097, "\ud800"])
async def test_what_cannot_be_sent_is_refused(password: str) -> None:
    """A password that cannot travel in a header, or not alike everywhere, is refused without repeating it."""
    with pytest.raises(Invalid, match="printable ASCII") as refused:
        sendable(password)
    assert not password.strip() or password not in str(refused.value)
