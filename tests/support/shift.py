"""Workers at work while a test watches."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from orrery.ports.store import Store
from orrery.runtime.jobs import Job, Workers
from tests.support.clock import ManualClock, settled


@asynccontextmanager
async def at_work(store: Store, clock: ManualClock, jobs: list[Job], name: str = "one") -> AsyncGenerator[Workers]:
    """Run workers while the block lasts."""
    workers = Workers(store, clock, name, jobs)
    running = asyncio.create_task(workers.run())
    try:
        await settled()
        yield workers
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
