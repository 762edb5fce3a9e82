"""Tasks have owners: none is left to end, or to fail, unseen."""

import asyncio

import pytest

from orrery.runtime import tasks
from orrery.runtime.tasks import Tasks, to_its_end, together
from tests.support.clock import settled
from tests.support.hasty_loop import run_ahead


class Work:
    """Work that goes on until its gate opens, and then fails or returns its name."""

    def __init__(self, name: str, fails: Exception | None = None) -> None:
        self.gate = asyncio.Event()
        self.name, self.fails = name, fails
        self.ended = ""

    async def __call__(self) -> str:
        """Work."""
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise
        if self.fails:
            raise self.fails
        self.ended = "done"
        return self.name


async def test_results_come_in_order() -> None:
    """Each result stands where its work stood; an error that is a result is no failure."""
    first, second = Work("first"), Work("second")
    both = asyncio.create_task(together(first(), second()))
    await settled()
    second.gate.set()
    await settled()
    first.gate.set()
    assert await both == ["first", "second"]
    assert await together() == []


async def test_a_failure_is_raised_when_all_have_ended() -> None:
    """The work beside one that fails is waited for, not left behind."""
    failing, slow = Work("failing", ValueError("no")), Work("slow")
    both = asyncio.create_task(together(failing(), slow()))
    failing.gate.set()
    await settled()
    assert not both.done()
    slow.gate.set()
    with pytest.raises(ValueError, match="no"):
        await both
    assert slow.ended == "done"


async def test_whoever_is_cancelled_takes_all_along() -> None:
    """Cancelled, it cancels each piece of work, and ends when all have ended."""
    works = Work("first"), Work("second")
    both = asyncio.create_task(together(*(work() for work in works)))
    await settled()
    both.cancel()
    with pytest.raises(asyncio.CancelledError):
        await both
    assert [work.ended for work in works] == ["cancelled", "cancelled"]


@pytest.mark.parametrize("fails", [None, ValueError("no")])
async def test_to_its_end(fails: Exception | None) -> None:
    """What was begun is waited for although the caller was cancelled; then the caller is."""
    work = Work("slow", fails)
    caller = asyncio.create_task(to_its_end(work()))
    await settled()
    caller.cancel()
    await settled()
    assert not caller.done()
    work.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert work.ended == ("" if fails else "done")


async def test_work_goes_on_without_its_caller() -> None:
    """Work whose caller went away is finished before the process ends."""
    owner, work = Tasks(), Work("refresh")
    caller = asyncio.create_task(_shielded(owner, work))
    await settled()
    caller.cancel()
    finishing = asyncio.create_task(owner.finish())
    await settled()
    assert not finishing.done()
    work.gate.set()
    await finishing
    assert work.ended == "done"


async def _shielded(owner: Tasks, work: Work) -> str:
    return await asyncio.shield(owner.start(work()))


def test_work_that_does_not_end_is_cancelled() -> None:
    """A process that ends waits for a few seconds only."""
    owner, work = Tasks(), Work("endless")

    async def end() -> None:
        owner.start(work())
        await owner.finish()

    run_ahead(end(), tasks.FINISH)
    assert work.ended == "cancelled"
