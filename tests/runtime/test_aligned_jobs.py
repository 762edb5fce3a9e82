"""Jobs that run at whole multiples of their interval on the wall clock."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.errors import StoreUnavailable
from orrery.ports.store import Store
from orrery.runtime.jobs import Job, Workers
from tests.support.clock import START, WallClock, settled
from tests.support.shift import at_work
from tests.support.unreliable_store import UnreliableStore

MINUTE = timedelta(minutes=1)
LATE = timedelta(seconds=37)


@dataclass
class Shift:
    """Workers over one store and clock, begun 37 seconds after a full minute; `runs` are the times of the runs."""

    clock: WallClock = field(default_factory=lambda: WallClock(START + LATE))
    runs: list[datetime] = field(default_factory=list[datetime])
    gate: asyncio.Event | None = None

    def __post_init__(self) -> None:
        self.store: Store = MemoryStore(self.clock)

    async def run(self) -> None:
        """Note the time; with a `gate`, wait for that."""
        self.runs.append(self.clock.now())
        if self.gate is not None:
            await self.gate.wait()

    @asynccontextmanager
    async def at_work(
        self, name: str = "one", every: timedelta = MINUTE, *, everywhere: bool = False
    ) -> AsyncGenerator[Workers]:
        """Run one aligned job while the block lasts."""
        job = Job("refresh", every, self.run, aligned=True, everywhere=everywhere)
        async with at_work(self.store, self.clock, [job], name) as workers:
            yield workers

    async def seconds(self, count: float, step: float = 1.0) -> None:
        """Let seconds pass, one after the other."""
        for _ in range(round(count / step)):
            self.clock.advance(step)
            await settled()

    def minutes(self) -> list[float]:
        """Return when the job ran, in minutes since the full minute before the beginning."""
        return [(run - START) / MINUTE for run in self.runs]


async def test_a_job_runs_at_full_minutes() -> None:
    """A job begun between two minutes runs first at the next one, and then at each."""
    shift = Shift()
    async with shift.at_work():
        await shift.seconds(22)
        assert shift.runs == []
        await shift.seconds(200)
    assert shift.minutes() == [1, 2, 3, 4]


async def test_any_interval_is_aligned() -> None:
    """A job of every five seconds runs at whole multiples of five seconds."""
    shift = Shift()
    async with shift.at_work(every=timedelta(seconds=5)):
        await shift.seconds(14)
    assert [run.second for run in shift.runs] == [40, 45, 50]


async def test_a_timer_that_fires_early_runs_nothing_early() -> None:
    """When the wall clock is behind the time that was waited, the job waits for the rest."""
    shift = Shift()
    async with shift.at_work():
        shift.clock.put(timedelta(seconds=-0.25))
        await shift.seconds(23)
        assert shift.runs == []
        await shift.seconds(0.25, step=0.25)
    assert shift.minutes() == [1]


async def test_missed_minutes_are_skipped() -> None:
    """A run that takes longer than the interval is followed by the next full minute, once."""
    shift = Shift(gate=asyncio.Event())
    async with shift.at_work():
        await shift.seconds(23 + 150)
        assert shift.gate is not None
        shift.gate.set()
        await shift.seconds(100)
    assert shift.minutes() == [1, 4, 5]


async def test_a_run_that_ends_within_its_minute_is_not_repeated() -> None:
    """A run is followed by none in the same minute, however short it was."""
    shift = Shift()
    async with shift.at_work():
        await shift.seconds(23 + 59)
    assert shift.minutes() == [1]


async def test_a_clock_that_is_put_back_an_hour() -> None:
    """The job goes on at the full minutes of the clock as it is now, without a burst and without a silent hour."""
    shift = Shift()
    async with shift.at_work():
        await shift.seconds(30)
        shift.clock.put(timedelta(hours=-1))
        await shift.seconds(180)
    assert shift.minutes() == [1, -58, -57, -56]


@pytest.mark.parametrize("back", [0.5, 20, 59])
async def test_a_clock_that_is_put_back_a_little(back: float) -> None:
    """A minute that comes twice, because the clock was put back by less than that, has one run."""
    shift = Shift()
    async with shift.at_work():
        await shift.seconds(23)
        shift.clock.put(timedelta(seconds=-back))
        await shift.seconds(180, step=0.5)
    assert shift.minutes() == [1, 2, 3]


async def test_a_clock_put_back_during_a_run() -> None:
    """A clock that is put back while the job runs stops it no longer than to its next full minute."""
    shift = Shift(gate=asyncio.Event())
    async with shift.at_work():
        await shift.seconds(23 + 5)
        shift.clock.put(timedelta(hours=-1))
        assert shift.gate is not None
        shift.gate.set()
        await shift.seconds(60)
    assert shift.minutes() == [1, -58]


async def test_a_clock_that_jumps_a_day_forward() -> None:
    """A day that was skipped, by a suspended machine or a clock that was put right, is made up for by one run."""
    shift = Shift()
    async with shift.at_work():
        await shift.seconds(23)
        shift.clock.put(timedelta(days=1))
        await shift.seconds(60)
        assert len(shift.runs) == 2
        await shift.seconds(60)
    assert shift.minutes() == [1, 1442, 1443]


async def test_one_process_of_two_does_an_aligned_job() -> None:
    """Two processes that come to the same minute together run the job once."""
    shift = Shift()
    async with shift.at_work("one"), shift.at_work("two"):
        await shift.seconds(23 + 60)
    assert shift.minutes() == [1, 2]


async def test_a_job_with_a_fence_of_its_own_runs_everywhere() -> None:
    """A job that runs everywhere is done by each process, and takes no lease."""
    shift = Shift()
    async with shift.at_work("one", everywhere=True), shift.at_work("two", everywhere=True):
        await shift.seconds(23)
        assert await shift.store.get("lease:refresh") is None
    assert shift.minutes() == [1, 1]


async def test_a_job_everywhere_needs_no_store() -> None:
    """A store that cannot be reached does not keep a job with a fence of its own from running."""
    shift = Shift()
    store = UnreliableStore(shift.store)
    shift.store = store
    store.get_errors = [StoreUnavailable("The disk is full.")] * 10
    async with shift.at_work(everywhere=True) as workers:
        await shift.seconds(23)
        assert workers.failing == {}
    assert shift.minutes() == [1]
