"""Jobs that repeat, each under its lease, so that one process of several does them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import structlog

from orrery.errors import OrreryError, StoreError
from orrery.owner.lease import Lease
from orrery.ports.clock import Clock
from orrery.ports.store import Store

log = structlog.get_logger()


LEASE = timedelta(seconds=30)
"""How long a job stands still when the process that did it was killed."""


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do every `every`."""

    name: str
    every: timedelta
    run: Callable[[], Awaitable[object]]


class Workers:
    """Runs jobs side by side until cancelled; a job that fails is logged, shown, and comes round again."""

    def __init__(self, store: Store, clock: Clock, holder: str, jobs: Sequence[Job] = ()) -> None:
        self._store = store
        self._clock = clock
        self._holder = holder
        self._jobs = list(jobs)
        self.failing: dict[str, str] = {}
        """The jobs whose last run failed, and why."""

    def add(self, *jobs: Job) -> None:
        """Add jobs; those that are there when `run` begins are done."""
        self._jobs += jobs

    async def run(self) -> None:
        """Run every job for ever."""
        async with asyncio.TaskGroup() as group:
            for job in self._jobs:
                group.create_task(self._repeat(job), name=job.name)

    async def _repeat(self, job: Job) -> None:
        lease = Lease(self._store, self._clock, job.name, self._holder, LEASE)
        try:
            while True:
                await self._once(job, lease)
                await self._clock.sleep(job.every.total_seconds())
        finally:
            with suppress(StoreError):
                await lease.give_up()

    async def _once(self, job: Job, lease: Lease) -> None:
        try:
            if await lease.take() is not None:
                await self._renewing(job, lease)
            self.failing.pop(job.name, None)
        except OrreryError as error:
            self.failing[job.name] = str(error)
            log.warning("job failed", job=job.name, kind=type(error).__name__, why=str(error))
        except Exception as error:  # a bug in one job must not stop the checkout beside it
            self.failing[job.name] = f"unexpected {type(error).__name__}"
            log.exception("job crashed", job=job.name)

    async def _renewing(self, job: Job, lease: Lease) -> None:
        renewal = asyncio.create_task(self._renew(lease))
        try:
            await job.run()
        finally:
            renewal.cancel()

    async def _renew(self, lease: Lease) -> None:
        while await self._keeps(lease):
            await self._clock.sleep(LEASE.total_seconds() / 3)

    async def _keeps(self, lease: Lease) -> bool:
        try:
            return await lease.take() is not None
        except StoreError as error:
            # Half of the term is left: the next renewal still comes in time.
            log.warning("lease not renewed", why=str(error))
            return True
