"""Jobs that repeat, each under its lease."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.errors import StoreUnavailable
from orrery.ports.processor.errors import ProcessorUnreachable
from orrery.ports.store import Put
from orrery.runtime.jobs import LEASE, RETRY, Job, Workers
from tests.support.clock import ManualClock, settled
from tests.support.shift import at_work
from tests.support.unreliable_store import UnreliableStore
from tests.support.waiting import PATIENCE

MINUTE = timedelta(minutes=1)


@dataclass
class Task:
    """A job that counts its runs; `troubles` are raised first, one a run. With a `gate` it waits for that."""

    troubles: list[BaseException] = field(default_factory=list[BaseException])
    runs: int = 0
    ended: int = 0
    gate: asyncio.Event | None = None

    async def run(self) -> None:
        """Run once."""
        self.runs += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.troubles:
            raise self.troubles.pop(0)
        self.ended += 1


@dataclass
class Shift:
    """Workers over one store and clock."""

    clock: ManualClock = field(default_factory=ManualClock)

    def __post_init__(self) -> None:
        self.store = UnreliableStore(MemoryStore(self.clock))

    @asynccontextmanager
    async def at_work(self, *jobs: tuple[str, Callable[[], Awaitable[object]]]) -> AsyncGenerator[Workers]:
        """Run these jobs every minute while the block lasts."""
        made = [Job(name, MINUTE, run) for name, run in jobs]
        async with at_work(self.store, self.clock, made) as workers:
            yield workers

    async def seconds(self, count: int) -> None:
        """Let time pass second by second, so that leases are renewed in time."""
        for _ in range(count):
            self.clock.advance(1)
            await settled()

    async def minutes(self, count: int = 1) -> None:
        """Let minutes pass, one after the other."""
        for _ in range(count):
            await settled()
            self.clock.advance(60)
        await settled()


async def test_a_job_comes_round() -> None:
    """A job is done at once and then at its interval."""
    shift, task = Shift(), Task()
    async with shift.at_work(("count", task.run)):
        assert task.runs == 1
        await shift.minutes(5)
    assert task.runs == 6


async def test_a_job_is_due_from_its_beginning() -> None:
    """An interval is over when it has passed since the run began, also when the clock jumped ahead meanwhile."""
    shift, slow = Shift(), Task(gate=asyncio.Event())
    async with shift.at_work(("slow", slow.run)):
        assert slow.gate is not None
        shift.clock.advance(60)
        slow.gate.set()
        await settled()
        assert slow.runs == 2
        shift.clock.advance(59)
        await settled()
        assert slow.runs == 2
        await shift.minutes()
        assert slow.runs == 3


async def test_a_failing_job_is_shown_and_comes_round() -> None:
    """A job that fails is shown with its reason until a run succeeds."""
    shift, task = Shift(), Task([ProcessorUnreachable("The processor answered 500.", same_key=False)] * 2)
    async with shift.at_work(("reconcile", task.run)) as workers:
        assert workers.failing == {"reconcile": "The processor answered 500."}
        await shift.minutes()
        assert task.runs == 2
        assert workers.failing
        await shift.minutes()
        assert workers.failing == {}


async def test_a_crashing_job_does_not_stop_others() -> None:
    """A bug in one job is shown without its details, and the other jobs go on."""
    shift, crashing, fine = Shift(), Task([ZeroDivisionError("a secret")] * 3), Task()
    async with shift.at_work(("crash", crashing.run), ("fine", fine.run)) as workers:
        await shift.minutes(2)
        assert workers.failing == {"crash": "unexpected ZeroDivisionError"}
        await shift.minutes()
    assert (crashing.runs, fine.runs) == (4, 4)


async def test_a_job_that_cancels_itself_comes_round() -> None:
    """A job that ends by a cancellation that nobody asked for is shown as failing, and comes round."""
    shift, cancelled = Shift(), Task([asyncio.CancelledError()])
    async with shift.at_work(("lost", cancelled.run)) as workers:
        assert workers.failing == {"lost": "unexpected CancelledError"}
        await shift.minutes()
        assert (cancelled.ended, workers.failing) == (1, {})


class BrokenClock(ManualClock):
    """A clock that nobody can wait by."""

    async def sleep(self, seconds: float) -> None:
        """Fail."""
        raise ZeroDivisionError(seconds)


@pytest.mark.parametrize("aligned", [False, True])
async def test_a_fault_of_the_workers_own_ends_them_all(aligned: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """What fails outside the jobs ends every loop, and names the job at which it happened."""
    clock = BrokenClock()
    before, task = asyncio.all_tasks(), Task()
    workers = Workers(MemoryStore(clock), clock, "one", [Job("count", MINUTE, task.run, aligned=aligned)])
    workers.add(Job("wait", MINUTE, asyncio.Event().wait))
    with pytest.raises(ExceptionGroup) as failed:
        await workers.run()
    found = failed.value.exceptions[0]
    assert (type(found), found.__notes__) == (ZeroDivisionError, ["in the loop of the job: count"])
    assert asyncio.all_tasks() == before


async def test_a_fault_of_the_renewal_is_shown() -> None:
    """A fault in the renewal of a job's lease is not lost: the run counts as failed."""
    shift, slow = Shift(), Task(gate=asyncio.Event())
    async with shift.at_work(("slow", slow.run)) as workers:
        shift.store.get_errors = [ZeroDivisionError()]
        shift.clock.advance(LEASE.total_seconds() / 3)
        await settled()
        assert slow.gate is not None
        slow.gate.set()
        await settled()
        assert workers.failing == {"slow": "unexpected ZeroDivisionError"}


async def test_a_job_that_failed_is_tried_again_soon() -> None:
    """A job with a long interval does not stay failing for all of it."""
    clock, task = ManualClock(), Task([ProcessorUnreachable("The processor answered 500.", same_key=False)])
    async with at_work(MemoryStore(clock), clock, [Job("daily", timedelta(days=1), task.run)]) as workers:
        assert workers.failing
        for _ in range(2):
            clock.advance(RETRY.total_seconds())
            await settled()
            assert (workers.failing, task.runs) == ({}, 2)


async def test_a_store_that_fails_is_shown() -> None:
    """When not even the lease can be taken the job is shown as failing and comes round."""
    shift, task = Shift(), Task()
    shift.store.get_errors = [StoreUnavailable("The disk is full.")]
    async with shift.at_work(("count", task.run)) as workers:
        assert workers.failing == {"count": "The disk is full."}
        await shift.minutes()
        assert (task.runs, workers.failing) == (1, {})


async def test_two_processes_do_a_job_once() -> None:
    """While one process is at a job the other does not begin it."""
    shift, first, second = Shift(), Task(gate=asyncio.Event()), Task()
    async with (
        at_work(shift.store, shift.clock, [Job("count", MINUTE, first.run)], "one"),
        at_work(shift.store, shift.clock, [Job("count", MINUTE, second.run)], "two") as other,
    ):
        await shift.seconds(600)
        assert (first.runs, second.runs) == (1, 0)
        assert other.failing == {}


async def test_a_long_job_keeps_its_lease() -> None:
    """A job that takes longer than the lease's term renews it all the while."""
    shift, slow, second = Shift(), Task(gate=asyncio.Event()), Task()
    async with (
        at_work(shift.store, shift.clock, [Job("slow", MINUTE, slow.run)], "one"),
        at_work(shift.store, shift.clock, [Job("slow", timedelta(seconds=1), second.run)], "two"),
    ):
        await shift.seconds(3 * int(LEASE.total_seconds()))
        assert second.runs == 0


async def test_what_gives_way_holds_no_lease() -> None:
    """A job that is under way ends, and another process does it at once; afterwards both may take it again."""
    shift, first, second = Shift(), Task(gate=asyncio.Event()), Task()
    async with (
        at_work(shift.store, shift.clock, [Job("count", timedelta(seconds=1), first.run)], "one") as workers,
        at_work(shift.store, shift.clock, [Job("count", timedelta(seconds=1), second.run)], "two"),
    ):
        await shift.seconds(60)
        assert (first.runs, second.runs) == (1, 0)
        workers.gives_way = lambda: True
        await shift.seconds(12)
        assert (first.runs, first.ended, second.runs > 0) == (1, 0, True)


async def test_a_renewal_that_fails_is_tried_again() -> None:
    """One failing store call during a long job costs it neither its lease nor its end."""
    shift, slow, second = Shift(), Task(gate=asyncio.Event()), Task()
    async with (
        at_work(shift.store, shift.clock, [Job("slow", MINUTE, slow.run)], "one") as workers,
        at_work(
            UnreliableStore(shift.store.inside),
            shift.clock,
            [Job("slow", timedelta(seconds=1), second.run)],
            "two",
        ),
    ):
        shift.store.get_errors = [StoreUnavailable("locked")]
        await shift.seconds(3 * int(LEASE.total_seconds()))
        assert second.runs == 0
        assert slow.gate is not None
        slow.gate.set()
        await settled()
        assert (slow.ended > 0, workers.failing) == (True, {})


async def test_a_killed_process_is_followed() -> None:
    """A job whose process was killed is done by another once the lease's term is over, and not before."""
    shift, task = Shift(), Task()
    killed = Task()
    async with shift.at_work(("count", killed.run)):
        held = await shift.store.get("lease:count")
    assert held is not None
    await shift.store.commit([Put(held.key, held.value)])
    async with at_work(shift.store, shift.clock, [Job("count", timedelta(seconds=1), task.run)], "two"):
        shift.clock.advance(29)
        await settled()
        assert task.runs == 0
        shift.clock.advance(1)
        await settled()
        assert task.runs == 1


async def test_a_planned_stop_leaves_the_lease() -> None:
    """Anyone who stops as planned lets the next one begin at once."""
    shift, first, second = Shift(), Task(), Task()
    async with shift.at_work(("count", first.run)):
        pass
    assert await shift.store.scan("lease:") == []
    async with at_work(shift.store, shift.clock, [Job("count", MINUTE, second.run)], "two"):
        assert second.runs == 1


async def test_an_end_in_the_middle_of_a_job() -> None:
    """Cancelled in the middle of a job, the workers end, and leave nothing running."""
    shift, slow = Shift(), Task(gate=asyncio.Event())
    before = asyncio.all_tasks()
    async with shift.at_work(("slow", slow.run)):
        assert slow.runs == 1
    await settled()
    assert asyncio.all_tasks() == before
    assert slow.ended == 0


async def test_a_job_ends_before_its_lease_may_be_anothers() -> None:
    """A store that fails for as long as a lease lasts stops the job: by then another process may have begun it."""
    shift, slow = Shift(), Task(gate=asyncio.Event())
    async with shift.at_work(("slow", slow.run)):
        shift.store.get_errors = [StoreUnavailable("locked")] * 1000
        await shift.seconds(int(LEASE.total_seconds()) - 1)
        shift.store.get_errors = []
        assert slow.gate is not None
        slow.gate.set()
        await settled()
        assert (slow.runs, slow.ended) == (1, 0)


async def test_a_stop_in_the_middle_of_a_renewal_leaves_the_lease() -> None:
    """A renewal that was handed to the store lands before the lease is given up, not after."""
    shift, slow = Shift(), Task(gate=asyncio.Event())
    renewing, go_on = asyncio.Event(), asyncio.Event()

    async def slowly() -> None:
        renewing.set()
        await go_on.wait()

    async with shift.at_work(("slow", slow.run)):
        shift.store.overtaken_by = slowly
        await shift.seconds(int(LEASE.total_seconds()) * 2 // 3)
        await asyncio.wait_for(renewing.wait(), PATIENCE)
        asyncio.get_running_loop().call_later(0, go_on.set)
    assert await shift.store.scan("lease:") == []
