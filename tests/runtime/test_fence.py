"""What a job commits after another process has had its lease is refused (decision record 94)."""

import asyncio
import gc
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.ports.store import Absent, Committed, Conflict, Put
from orrery.runtime.collection import Changes, commit, compare_and_set, write
from orrery.runtime.fence import LeaseLost, fenced
from orrery.runtime.jobs import LEASE, Job
from orrery.runtime.lease import Holder, Lease
from orrery.runtime.module import Module
from orrery.runtime.own_store import Marked, OwnStore
from orrery.runtime.tasks import Tasks, to_its_end, together
from tests.support.clock import ManualClock, settled
from tests.support.logged import logged
from tests.support.shift import at_work
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

OVER = LEASE.total_seconds() + 1
MODULE = Module("job", prefixes=("done",))


@dataclass
class Node:
    """A process that does a job, and another that may take its lease."""

    clock: ManualClock = field(default_factory=ManualClock)

    def __post_init__(self) -> None:
        self.store = UnreliableStore(MemoryStore(self.clock))
        self.own = OwnStore(self.store, MODULE, Marked())
        self.lease = Lease(self.store.inside, self.clock, "job", "ours", LEASE)
        self.rival = Lease(self.store.inside, self.clock, "job", "theirs", LEASE)

    @asynccontextmanager
    async def at_the_job(self) -> AsyncGenerator[None]:
        """Have the lease, and be in the middle of the job."""
        fence = await self.lease.take()
        with fenced(fence):
            yield

    async def done(self) -> bool:
        """Return whether the job has written."""
        return await self.store.inside.get("done") is not None

    async def renew(self) -> None:
        """Renew the lease, as the workers do beside the job."""
        self.clock.advance(LEASE.total_seconds() * 2 / 3)
        assert await self.lease.take()


async def taken(node: Node) -> None:
    """The process was frozen, and another took the lease."""
    node.clock.advance(OVER)
    assert await node.rival.take()


async def taken_and_given_up(node: Node) -> None:
    """The other one has ended as planned."""
    await taken(node)
    await node.rival.give_up()


async def taken_and_over(node: Node) -> None:
    """The other one was killed, and its term is over."""
    await taken(node)
    node.clock.advance(OVER)


async def taken_back(node: Node) -> None:
    """Another run of the job in this process has it."""
    await taken_and_over(node)
    assert await node.lease.take()


async def taken_by_the_release_before(node: Node) -> None:
    """A node that was not upgraded yet writes the record of the lease, and nothing else."""
    node.clock.advance(OVER)
    theirs = Holder(holder="of before", until=node.clock.now() + LEASE)
    await node.store.inside.commit([Put("lease:job", theirs.to_bytes())])


async def taken_by_a_clock_ahead(node: Node) -> None:
    """Another took the lease, and this process, whose own time has not passed, has not looked yet."""
    ahead = ManualClock(node.clock.now() + timedelta(seconds=OVER))
    assert await Lease(node.store.inside, ahead, "job", "theirs", LEASE).take()


async def damaged(node: Node) -> None:
    """Who can read it no more lets the next one take it."""
    await node.store.inside.commit([Put("lease:job", b"?")])


async def given_up(node: Node) -> None:
    """The workers of this process have ended."""
    await node.lease.give_up()


LOST: dict[str, Callable[[Node], Awaitable[None]]] = {
    one.__name__: one
    for one in (
        taken,
        taken_and_given_up,
        taken_and_over,
        taken_back,
        taken_by_the_release_before,
        taken_by_a_clock_ahead,
        damaged,
        given_up,
    )
}

FIRST = Changes([Put("done", b"ours")], [Absent("done")])


async def by_compare_and_set(node: Node) -> object:
    """Repeat on a conflict."""
    return await compare_and_set(lambda: commit(node.own, FIRST), "busy")


COMMITS: dict[str, Callable[[Node], Coroutine[Any, Any, object]]] = {
    "commit": lambda node: commit(node.own, FIRST),
    "write": lambda node: write(node.own, FIRST.writes),
    "compare and set": by_compare_and_set,
    "together": lambda node: together(commit(node.own, FIRST)),
    "to its end": lambda node: to_its_end(commit(node.own, FIRST)),
}


@each_case("how", COMMITS)
@each_case("what", [*LOST, None])
async def test_a_job_that_lost_its_lease_writes_nothing(what: str | None, how: str) -> None:
    """However the lease was lost, and however the job writes; with its lease, it does."""
    node = Node()
    async with node.at_the_job():
        if what is None:
            await COMMITS[how](node)
        else:
            await LOST[what](node)
            with pytest.raises(LeaseLost):
                await COMMITS[how](node)
    assert await node.done() == (what is None)


@pytest.mark.parametrize("side_by_side", [1, 20])
async def test_a_renewal_is_no_loss(side_by_side: int) -> None:
    """Commits that cross a renewal of this process are stored, each once."""
    node = Node()
    async with node.at_the_job():
        node.store.overtaken_by = node.renew
        writes = (commit(node.own, Changes([Put(f"done{number}", b"")])) for number in range(side_by_side))
        crossing = asyncio.gather(*writes)
        await settled()
        node.store.overtaken_by = None
        assert all(isinstance(one, Committed) for one in await crossing)
    assert len(await node.store.inside.scan("done")) == side_by_side


async def test_a_renewal_whose_answer_is_late() -> None:
    """A commit that fails by a renewal under way waits for its answer, which tells whether the lease is kept."""
    node = Node()
    lease = Lease(node.store, node.clock, "job", "ours", LEASE)
    fence, answer = await lease.take(), asyncio.Event()
    own = OwnStore(node.store.inside, MODULE, Marked())
    node.store.answered = answer.wait
    node.clock.advance(LEASE.total_seconds() * 2 / 3)
    renewal = asyncio.create_task(lease.take())
    await settled()
    with fenced(fence):
        crossing = asyncio.create_task(commit(own, FIRST))
    await settled()
    assert not crossing.done()
    answer.set()
    assert isinstance(await crossing, Committed)
    assert await renewal is fence


async def test_a_conflict_stays_one() -> None:
    """While the lease is ours, a check of the job's own that fails is a conflict, also beside a renewal."""
    node = Node()
    await node.store.inside.commit(FIRST.writes)
    async with node.at_the_job():
        assert await commit(node.own, FIRST) == Conflict(("done",))
        node.store.overtaken_by = node.renew
        crossing = asyncio.create_task(commit(node.own, FIRST))
        await settled()
        node.store.overtaken_by = None
        assert await crossing == Conflict(("done",))


@pytest.mark.parametrize("lose", ["before", "after"])
async def test_an_answer_that_was_lost_with_the_lease(lose: str) -> None:
    """What was stored while the lease was ours is answered by its id; what was not is refused."""
    node = Node()

    async def overtaken() -> None:
        if node.store.commits > 1:
            await taken(node)

    async with node.at_the_job():
        node.store.lose, node.store.overtaken_by = lose, overtaken
        if lose == "after":
            assert isinstance(await commit(node.own, FIRST), Committed)
        else:
            with pytest.raises(LeaseLost):
                await commit(node.own, FIRST)
    assert await node.done() == (lose == "after")


async def test_work_with_many_callers_has_no_fence() -> None:
    """What goes on after its callers, and has others than the job, does not end with the job's lease."""
    node, tasks = Node(), Tasks()
    async with node.at_the_job():
        await taken(node)
        assert isinstance(await tasks.start(commit(node.own, FIRST)), Committed)


async def test_what_runs_in_no_job_has_no_fence() -> None:
    """A request beside a job commits as ever, and so does what comes after the job."""
    node = Node()
    async with node.at_the_job():
        await taken(node)
    assert isinstance(await commit(node.own, FIRST), Committed)


@dataclass
class Work:
    """A job that writes each time that it is told to, and takes no error of its own for an end."""

    node: Node
    told: asyncio.Queue[str] = field(default_factory=asyncio.Queue[str])
    handled: int = 0

    async def run(self) -> None:
        """Write what comes."""
        while True:
            key = await self.told.get()
            try:
                await write(self.node.own, [Put(key, b"")])
            except Exception:  # noqa: BLE001  as careless jobs do
                self.handled += 1

    async def in_a_group(self) -> None:
        """Do the same in a task of its own."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.run())


WAYS: dict[str, Callable[[Work], Callable[[], Awaitable[object]]]] = {
    "at once": lambda work: work.run,
    "in a group": lambda work: work.in_a_group,
}


@each_case("way", WAYS)
async def test_a_job_that_wakes_ends(way: str) -> None:
    """No handler of a job goes on after it: the run ends, and is no failure."""
    node = Node()
    work = Work(node)
    async with at_work(node.store, node.clock, [Job("job", timedelta(seconds=1), WAYS[way](work))]) as workers:
        await work.told.put("done before")
        await settled()
        await taken_by_a_clock_ahead(node)
        for number in range(3):
            await work.told.put(f"done after {number}")
        await settled()
        assert (workers.failing, work.handled, work.told.qsize()) == ({}, 0, 2)
    assert [one.key for one in await node.store.scan("done")] == ["done before"]


@each_case("what", LOST.keys() - {"taken_back", "given_up"})
async def test_a_job_that_only_reads_ends_too(what: str) -> None:
    """A long scan is stopped at the next look at the lease, also when that is free again by then."""
    node, began = Node(), list[asyncio.Task[object] | None]()

    async def read() -> None:
        began.append(asyncio.current_task())
        await asyncio.Event().wait()

    with logged() as events:
        async with at_work(node.store.inside, node.clock, [Job("job", timedelta(days=1), read)]) as workers:
            await LOST[what](node)
            node.clock.advance(LEASE.total_seconds() / 3)
            await settled()
            assert [one.cancelled() for one in began if one] == [True]
            assert workers.failing == {}
    assert [one["event"] for one in events] == ["another process does the job now"]


async def test_what_a_job_leaves_behind() -> None:
    """A task that outlives its run has the fence of that run; the next may wait for it, and the workers go on."""
    node, told, left, runs = Node(), asyncio.Event(), list[asyncio.Task[object]](), list[int]()

    async def late() -> object:
        await told.wait()
        return await commit(node.own, FIRST)

    async def leave_behind_or_join() -> None:
        runs.append(len(left))
        if not left:
            left.append(asyncio.create_task(late()))
        elif len(runs) == 2:
            await left[0]

    job = Job("job", timedelta(seconds=1), leave_behind_or_join)
    async with at_work(node.store, node.clock, [job]) as workers:
        await taken_and_over(node)
        told.set()
        await settled()
        node.clock.advance(1)
        await settled()
        assert (runs[:3], workers.failing) == ([0, 1, 1], {})
    with pytest.raises(LeaseLost):
        left[0].result()
    assert not await node.done()


async def test_a_job_that_writes_as_it_ends() -> None:
    """What is refused after the run has ended already is no error without an owner."""
    node, unowned = Node(), list[str]()
    asyncio.get_running_loop().set_exception_handler(lambda _, about: unowned.append(about["message"]))

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await write(node.own, FIRST.writes)

    async with at_work(node.store.inside, node.clock, [Job("job", timedelta(days=1), work)], "ours"):
        await taken(node)
        await settled()
        gc.collect()
    assert (await node.done(), unowned) == (False, [])


@pytest.mark.parametrize("everywhere", [False, True])
async def test_a_job_of_each_process_has_no_fence(everywhere: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """A job that every process does has no lease, and so commits as a request does."""
    node = Node()
    jobs = [Job("job", LEASE, lambda: commit(node.own, FIRST), everywhere=everywhere)]
    node.store.overtaken_by = lambda: taken_by_a_clock_ahead(node)
    async with at_work(node.store.inside, node.clock, jobs):
        pass
    assert await node.done() == everywhere
