"""The clock that service and sandbox share."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from orrery.adapters.clock import SystemClock
from orrery.adapters.movable_clock import MovableClock
from tests.support.waiting import PATIENCE

DAY = 86400.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file that the clocks share."""
    return tmp_path / "deep" / "clock"


def test_it_starts_at_real_time(path: Path) -> None:
    """Without a file the clock shows real time."""
    before = SystemClock().now()
    assert before <= MovableClock(path).now() <= SystemClock().now()


def test_advancing(path: Path) -> None:
    """Advancing moves both wall-clock and monotonic time, and adds up."""
    clock = MovableClock(path)
    wall, steady = clock.now(), clock.monotonic()
    assert clock.advance(DAY) == DAY
    assert clock.advance(DAY) == 2 * DAY
    assert clock.now() - wall >= timedelta(days=2)
    assert clock.monotonic() - steady >= 2 * DAY


def test_it_is_shared(path: Path) -> None:
    """Another clock on the same file follows, and so does one that is made later."""
    here, there = MovableClock(path), MovableClock(path)
    here.advance(DAY)
    assert there.offset() == DAY
    assert MovableClock(path).offset() == DAY


def test_it_never_goes_back(path: Path) -> None:
    """A file that shows less, or is gone, does not turn time back."""
    clock = MovableClock(path)
    clock.advance(DAY)
    path.write_text("5.0")
    assert clock.advance(1) == DAY + 1
    path.unlink()
    assert clock.advance(1) == DAY + 2


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_only_forward(path: Path, seconds: float) -> None:
    """A step back, or one that is no number, is refused."""
    with pytest.raises(ValueError, match="forward"):
        MovableClock(path).advance(seconds)


def test_sleepers_wake(path: Path) -> None:
    """Who sleeps for a day wakes once the clock was moved by a day."""
    clock = MovableClock(path)

    async def sleep_and_advance() -> None:
        sleeper = asyncio.create_task(clock.sleep(DAY))
        await asyncio.sleep(0)
        assert not sleeper.done()
        clock.advance(DAY)
        await asyncio.wait_for(sleeper, PATIENCE)

    asyncio.run(sleep_and_advance())


def test_each_sleeper_wakes_in_its_time(path: Path) -> None:
    """One that gave up wakes nobody; one that sleeps longer sleeps on; one that comes when all are awake wakes."""
    clock = MovableClock(path)

    async def sleep_and_advance() -> None:
        first, second, long = (asyncio.create_task(clock.sleep(days * DAY)) for days in (1, 1, 2))
        await asyncio.sleep(0)
        first.cancel()
        clock.advance(DAY)
        await asyncio.wait_for(second, PATIENCE)
        assert (first.done(), long.done()) == (True, False)
        clock.advance(DAY)
        await asyncio.wait_for(long, PATIENCE)
        late = asyncio.create_task(clock.sleep(DAY))
        await asyncio.sleep(0)
        clock.advance(DAY)
        await asyncio.wait_for(late, PATIENCE)

    asyncio.run(sleep_and_advance())


def test_no_time_to_sleep(path: Path) -> None:
    """Sleeping for no time, or less, returns at once."""
    clock = MovableClock(path)
    for seconds in (0, -5):
        with pytest.raises(StopIteration):
            clock.sleep(seconds).send(None)
