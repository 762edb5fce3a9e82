"""A process that was frozen in the middle of its jobs wakes after another has taken their leases."""

import asyncio
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from orrery.adapters.clock import SystemClock
from orrery.ports.clock import Clock
from orrery.ports.store import Put
from orrery.runtime.collection import write
from orrery.runtime.fence import fenced
from orrery.runtime.jobs import LEASE
from orrery.runtime.lease import Lease
from orrery.runtime.own_store import Marked, OwnStore
from tests.conformance.woken_worker import MODULE, place_of
from tests.crash.workers import working
from tests.support.clock import ManualClock
from tests.support.postgres import Server
from tests.support.soak import SOAKING

FROZEN = timedelta(minutes=2)


async def later() -> Clock:
    """Return a clock that is two minutes ahead; a soak waits until it is so late, in the frozen process, too."""
    if SOAKING:
        await SystemClock().sleep(FROZEN.total_seconds())
        return SystemClock()
    return ManualClock(SystemClock().now() + FROZEN)


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
async def test_a_process_that_wakes_writes_nothing(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Its next commit is refused; the control, past the fence, writes over what the other process has written."""
    address = str(tmp_path / "store.db")
    if engine == "postgres":
        server: Server = request.getfixturevalue("postgres")
        address = server.address(server.new_schema())
    place = place_of(engine, address)
    await asyncio.to_thread(place.create)
    with working("conformance.woken_worker", engine, address) as worker:
        jobs = {worker.line(), worker.line()}
        worker.process.send_signal(signal.SIGSTOP)
        store, clock = await place.open(), await later()
        for name in jobs:
            fence = await Lease(store, clock, name, "other", LEASE).take()
            with fenced(fence):
                await write(OwnStore(store, MODULE, Marked()), [Put(f"done:{name}", b"other")])
        worker.go()
        worker.process.send_signal(signal.SIGCONT)
        assert {worker.line(), worker.line()} == jobs
        done = {entry.key: entry.value for entry in await store.scan("done:")}
        await store.close()
    assert done == {"done:bare": b"woken", "done:fenced": b"other"}
