"""All connections together: who is let go when there are too many, and when their requests are too much."""

import asyncio
from dataclasses import dataclass, field

from orrery.edge.connection_limiter import (
    ANSWER_SECONDS,
    LOG_EVERY,
    MOST_CONNECTIONS,
    MOST_HELD,
    SMALL,
    ConnectionLimiter,
    LimitedConnection,
    most_connections,
)
from tests.support.hasty_loop import HastyLoop
from tests.support.logged import logged
from tests.support.tables import each_case


class Line(asyncio.Transport):
    """A connection that notes whether it was cut, with so many bytes that nobody has read."""

    cut = False
    unread = 0

    def abort(self) -> None:
        """Note the end."""
        self.cut = True

    def get_write_buffer_size(self) -> int:
        """Return what nobody has read."""
        return self.unread


@dataclass(eq=False)
class Guest(LimitedConnection):
    """Somebody connected."""

    transport: Line = field(default_factory=Line)  # pyright: ignore[reportIncompatibleVariableOverride]  the one of the test


def full_limiter(most: int) -> tuple[ConnectionLimiter, list[Guest]]:
    """Return a crowd that is full."""
    limiter, guests = ConnectionLimiter(most), [Guest() for _ in range(most)]
    for guest in guests:
        limiter.enter(guest)
    return limiter, guests


def cut(guests: list[Guest]) -> list[int]:
    """Return the numbers of those that were let go."""
    return [number for number, guest in enumerate(guests) if guest.transport.cut]


async def test_who_keeps_us_waiting_longest_goes_first() -> None:
    """A newcomer takes the place of the one that is slowest; a connection just answered waits anew."""
    limiter, guests = full_limiter(4)
    limiter.request_complete(guests[0])
    limiter.client_waits(guests[0])
    limiter.request_complete(guests[1])
    for _ in range(2):
        limiter.enter(Guest())
    assert cut(guests) == [2, 3]


async def test_whoever_waits_for_us_stays() -> None:
    """Nobody whose request is whole is let go: when all wait for us, the newcomer goes."""
    limiter, guests = full_limiter(3)
    for guest in guests:
        limiter.request_complete(guest)
    limiter.enter(newcomer := Guest())
    assert (cut(guests), newcomer.transport.cut) == ([], True)


async def test_who_has_left_makes_room() -> None:
    """A place that was left is free, and what its holder had sent counts no more."""
    limiter, guests = full_limiter(3)
    limiter.holds(guests[0], MOST_HELD)
    limiter.leave(guests[0])
    limiter.client_waits(guests[0])
    limiter.enter(newcomer := Guest())
    limiter.holds(newcomer, MOST_HELD)
    assert cut([*guests, newcomer]) == []


async def test_large_requests_go_when_there_is_too_much() -> None:
    """Beyond the most that is held, anyone who sends a large request is let go; small ones are still taken."""
    limiter, guests = full_limiter(4)
    limiter.holds(guests[0], MOST_HELD)
    limiter.holds(guests[1], SMALL)
    limiter.holds(guests[2], SMALL + 1)
    assert cut(guests) == [2]
    limiter.answered(guests[0])
    limiter.holds(guests[3], SMALL + 1)
    assert cut(guests) == [2]


async def test_each_trouble_is_one_line_a_minute() -> None:
    """However many are let go, the log says so once a minute, and each trouble by itself."""
    with logged() as lines:
        limiter, guests = full_limiter(1)
        for _ in range(100):
            limiter.enter(Guest())
            limiter.holds(guests[0], MOST_HELD)
    assert [line["event"] for line in lines] == [
        "too many connections",
        "too much of requests without an answer",
    ]


def test_a_trouble_that_lasts_is_told_again() -> None:
    """After a minute of it the log says so again."""
    loop = HastyLoop()

    async def trouble() -> int:
        limiter, _ = full_limiter(1)
        with logged() as lines:
            limiter.enter(Guest())
            loop.ahead += LOG_EVERY
            limiter.enter(Guest())
        return len(lines)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        assert runner.run(trouble()) == 2


def test_an_answer_that_nobody_reads_has_a_deadline() -> None:
    """It is counted from when the answer began to wait, and anew once all of it has left."""
    loop = HastyLoop()

    async def later(limiter: ConnectionLimiter, seconds: float) -> None:
        loop.ahead += seconds
        await limiter.close_unread()

    async def unread() -> list[int]:
        limiter, guests = full_limiter(3)
        guests[0].transport.unread = guests[1].transport.unread = 1
        await later(limiter, 0)
        guests[1].transport.unread = 0
        await later(limiter, ANSWER_SECONDS / 2)
        guests[1].transport.unread = 1
        await later(limiter, ANSWER_SECONDS / 2)
        return cut(guests)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        assert runner.run(unread()) == [0]


@each_case(
    ("descriptors", "most"),
    [(64, 32), (256, 128), (1024, 896), (4096, MOST_CONNECTIONS), (2**30, MOST_CONNECTIONS)],
)
def test_descriptors_do_not_run_out(descriptors: int, most: int) -> None:
    """There are fewer connections than the process may have descriptors, and never more than the memory is for."""
    assert most_connections(descriptors) == most
