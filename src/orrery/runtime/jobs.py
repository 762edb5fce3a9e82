"""Jobs that repeat, each under its lease, so that one process of several does them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NoReturn

from orrery.errors import OrreryError, StoreError
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.fence import Fence, LeaseLost, fenced
from orrery.runtime.lease import Lease
from orrery.runtime.tasks import to_its_end

RETRY = timedelta(minutes=5)
"""How soon a failed job is tried again, if it is not due before: its work does not wait for hours, and it is not
shown as failing long after the fault."""

LEASE = timedelta(seconds=30)
"""How long a job pauses when its process was killed."""


_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Job:
    """Work to do every `every`, from the beginning of one run to the next; after a longer run it is due at once.

    An `aligned` job runs when the wall clock comes to a whole multiple of `every`: at :00 of each minute for 60 s.
    Runs that it misses during a long run, a suspended machine or a clock that was put forward are not made up for.
    A job that runs `everywhere` is done by each process, without a lease, because it has its own fence.
    """

    name: str
    every: timedelta
    run: Callable[[], Awaitable[object]]
    aligned: bool = field(default=False, kw_only=True)
    everywhere: bool = field(default=False, kw_only=True)


class Workers:
    """Runs jobs side by side until cancelled; a job that fails is logged, shown, and comes round again."""

    def __init__(self, store: Store, clock: Clock, holder: str, jobs: Sequence[Job] = ()) -> None:
        self._store = store
        self._clock = clock
        self._holder = holder
        self._jobs = list(jobs)
        self._leased: list[asyncio.Task[None]] = []
        self.failing: dict[str, str] = {}
        """The jobs whose last run failed, and why."""
        self.gives_way: Callable[[], bool] = lambda: False
        """Whether this process leaves what needs a lease to others."""

    def add(self, *jobs: Job) -> None:
        """Add jobs; those that are there when `run` begins are done."""
        self._jobs += jobs

    async def run(self) -> None:
        """Run every job until cancelled. A fault in this class itself ends all of them, as an `ExceptionGroup`."""
        async with asyncio.TaskGroup() as group:
            for job in self._jobs:
                task = group.create_task(self._repeat(job), name=job.name)
                if not job.everywhere:
                    self._leased.append(task)

    async def hand_over(self) -> None:
        """End the jobs under a lease, so that another process does them at once; the others go on."""
        for task in self._leased:
            _ = task.cancel()
        _ = await asyncio.gather(*self._leased, return_exceptions=True)

    async def _repeat(self, job: Job) -> None:
        lease = Lease(self._store, self._clock, job.name, self._holder, LEASE)
        try:
            await (self._at_multiples(job, lease) if job.aligned else self._at_intervals(job, lease))
        except Exception as error:
            error.add_note(f"in the loop of the job: {job.name}")
            raise
        finally:
            if not job.everywhere:
                with suppress(StoreError):
                    await lease.give_up()

    async def _at_intervals(self, job: Job, lease: Lease) -> NoReturn:
        while True:
            began = self._clock.monotonic()
            await self._once(job, lease)
            pause = min(job.every, RETRY) if job.name in self.failing else job.every
            await self._clock.sleep(max(0.0, began + pause.total_seconds() - self._clock.monotonic()))

    async def _at_multiples(self, job: Job, lease: Lease) -> NoReturn:
        last = self._multiple(job.every)
        while True:
            await self._clock.sleep(self._seconds_until(last + 1, job.every))
            reached = self._reached(last, job.every)
            if reached != last:
                await self._once(job, lease)
                reached = self._reached(reached, job.every)
            last = reached

    def _reached(self, last: int, every: timedelta) -> int:
        """Return the multiple that the wall clock is past: a lower one than `last` when it was put back.

        A clock that was put back a little, as time services do, must not come to the same multiple twice.
        """
        now = self._multiple(every)
        return last if now == last - 1 else now

    def _multiple(self, every: timedelta) -> int:
        return (self._clock.now() - _EPOCH) // every

    def _seconds_until(self, multiple: int, every: timedelta) -> float:
        return (_EPOCH + multiple * every - self._clock.now()).total_seconds()

    async def _once(self, job: Job, lease: Lease) -> None:
        try:
            if job.everywhere:
                _ = await job.run()
            elif self.gives_way():
                await lease.give_up()
            elif fence := await lease.take():
                await self._renewing(job, lease, fence)
            _ = self.failing.pop(job.name, None)
        except OrreryError as error:
            self.failing[job.name] = str(error)
            log.warning("job failed", job=job.name, kind=type(error).__name__, why=str(error))
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            # Something that the job waited for was cancelled. The group would end this loop silently.
            self._crashed(job, error)
        except Exception as error:  # noqa: BLE001  a bug in one job must not stop the checkout beside it
            self._crashed(job, error)
        except (LeaseLost, BaseExceptionGroup):  # the group is of a job's own tasks
            _ = self.failing.pop(job.name, None)
            log.warning("another process does the job now", job=job.name)

    def _crashed(self, job: Job, error: BaseException) -> None:
        self.failing[job.name] = f"unexpected {type(error).__name__}"
        log.error("job crashed", job=job.name, exc_info=error)

    async def _renewing(self, job: Job, lease: Lease, fence: Fence) -> None:
        """Do a job while its lease is renewed; stop it and raise `LeaseLost` when that is lost."""
        with fenced(fence):
            work = asyncio.ensure_future(job.run())
        both = work, asyncio.create_task(self._renew(lease, fence))
        try:
            _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            ended = next(one for one in both if one.done())
        finally:
            for task in both:
                _ = task.cancel()
            # What a job that ends still fails at is known here, and not the loop's to log.
            _ = await asyncio.gather(*both, return_exceptions=True)
        _ = ended.result()
        if ended is not work:
            raise LeaseLost

    async def _renew(self, lease: Lease, fence: Fence) -> None:
        """Renew a lease until it is lost. A store that fails has it renewed late: by then it may be another's."""
        kept, pause = self._clock.monotonic(), LEASE / 3
        while True:
            await self._clock.sleep(pause.total_seconds())
            try:
                if self.gives_way() or await to_its_end(lease.take()) is not fence:
                    return
                kept, pause = self._clock.monotonic(), LEASE / 3
            except StoreError as error:
                log.warning("lease not renewed", why=str(error))
                pause = LEASE / 15
                if self._clock.monotonic() - kept >= LEASE.total_seconds() / 2 - pause.total_seconds():
                    return


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
