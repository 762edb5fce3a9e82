"""All connections together: who is let go when there are too many, and when their requests are too much."""

import asyncio
from dataclasses import dataclass, field

import pytest
from structlog.testing import capture_logs

from orrery.edge.crowd import (
    ANSWER_SECONDS,
    MOST_CONNECTIONS,
    MOST_HELD,
    SMALL,
    TOLD_EVERY,
    Connection,
    Crowd,
    most_connections,
)
from tests.support.hasty_loop import HastyLoop

pytestmark = pytest.mark.anyio


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
class Guest(Connection):
    """Somebody connected."""

    transport: Line = field(default_factory=Line)  # pyright: ignore[reportIncompatibleVariableOverride]  the one of the test


def crowded(most: int) -> tuple[Crowd, list[Guest]]:
    """Return a crowd that is full."""
    crowd, guests = Crowd(most), [Guest() for _ in range(most)]
    for guest in guests:
        crowd.enter(guest)
    return crowd, guests


def cut(guests: list[Guest]) -> list[int]:
    """Return the numbers of those that were let go."""
    return [number for number, guest in enumerate(guests) if guest.transport.cut]


async def test_who_keeps_us_waiting_longest_goes_first() -> None:
    """A newcomer takes the place of whoever keeps us waiting longest; a connection just answered waits anew."""
    crowd, guests = crowded(4)
    crowd.our_turn(guests[0])
    crowd.clients_turn(guests[0])
    crowd.our_turn(guests[1])
    for _ in range(2):
        crowd.enter(Guest())
    assert cut(guests) == [2, 3]


async def test_whoever_waits_for_us_stays() -> None:
    """Nobody whose request is whole is let go: when all wait for us, the newcomer goes."""
    crowd, guests = crowded(3)
    for guest in guests:
        crowd.our_turn(guest)
    crowd.enter(newcomer := Guest())
    assert (cut(guests), newcomer.transport.cut) == ([], True)


async def test_who_has_left_makes_room() -> None:
    """A place that was left is free, and what its holder had sent counts no more."""
    crowd, guests = crowded(3)
    crowd.holds(guests[0], MOST_HELD)
    crowd.leave(guests[0])
    crowd.clients_turn(guests[0])
    crowd.enter(newcomer := Guest())
    crowd.holds(newcomer, MOST_HELD)
    assert cut([*guests, newcomer]) == []


async def test_large_requests_go_when_there_is_too_much() -> None:
    """Beyond the most that is held, whoever sends a large request is let go; small ones are still taken."""
    crowd, guests = crowded(4)
    crowd.holds(guests[0], MOST_HELD)
    crowd.holds(guests[1], SMALL)
    crowd.holds(guests[2], SMALL + 1)
    assert cut(guests) == [2]
    crowd.answered(guests[0])
    crowd.holds(guests[3], SMALL + 1)
    assert cut(guests) == [2]


async def test_each_trouble_is_one_line_a_minute() -> None:
    """However many are let go, the log says so once a minute, and each trouble by itself."""
    with capture_logs() as lines:
        crowd, guests = crowded(1)
        for _ in range(100):
            crowd.enter(Guest())
            crowd.holds(guests[0], MOST_HELD)
    assert [line["event"] for line in lines] == [
        "too many connections",
        "too much of requests without an answer",
    ]


def test_a_trouble_that_lasts_is_told_again() -> None:
    """After a minute of it the log says so again."""
    loop = HastyLoop()

    async def trouble() -> int:
        crowd, _ = crowded(1)
        with capture_logs() as lines:
            crowd.enter(Guest())
            loop.ahead += TOLD_EVERY
            crowd.enter(Guest())
        return len(lines)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        assert runner.run(trouble()) == 2


def test_an_answer_that_nobody_reads_has_a_deadline() -> None:
    """It is counted from when the answer began to wait, and anew once all of it has left."""
    loop = HastyLoop()

    async def later(crowd: Crowd, seconds: float) -> None:
        loop.ahead += seconds
        await crowd.look()

    async def unread() -> list[int]:
        crowd, guests = crowded(3)
        guests[0].transport.unread = guests[1].transport.unread = 1
        await later(crowd, 0)
        guests[1].transport.unread = 0
        await later(crowd, ANSWER_SECONDS / 2)
        guests[1].transport.unread = 1
        await later(crowd, ANSWER_SECONDS / 2)
        return cut(guests)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        assert runner.run(unread()) == [0]


@pytest.mark.parametrize(
    ("descriptors", "most"),
    [(64, 32), (256, 128), (1024, 896), (4096, MOST_CONNECTIONS), (2**30, MOST_CONNECTIONS)],
)
def test_descriptors_do_not_run_out(descriptors: int, most: int) -> None:
    """There are fewer connections than the process may have descriptors, and never more than the memory is for."""
    assert most_connections(descriptors) == most
