"""An event loop whose time a test moves: deadlines of the loop pass without waiting."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from anyio.lowlevel import checkpoint

from tests.support.waiting import PATIENCE, eventually

Result = TypeVar("Result")


class HastyLoop(asyncio.SelectorEventLoop):
    """The usual loop, ahead of time by `ahead` seconds."""

    ahead = 0.0

    def time(self) -> float:
        """Return the loop's time."""
        return super().time() + self.ahead


class StillLoop(asyncio.SelectorEventLoop):
    """The usual loop in which no time passes: no deadline fires, however slow the machine is."""

    def time(self) -> float:
        """Return the loop's time."""
        return 0.0


def run_ahead(
    work: Coroutine[Any, Any, Result], seconds: float, once: Callable[[], object] | None = None
) -> Result:
    """Run `work`; once it waits, and `once` fails no more, let `seconds` pass; return what it returns."""
    loop = HastyLoop()

    async def ahead() -> Result:
        task = asyncio.ensure_future(work)
        for _ in range(10):
            await checkpoint()
        if once:
            await asyncio.to_thread(eventually, once)
        loop.ahead += seconds
        return await asyncio.wait_for(task, PATIENCE)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(ahead())


def run_without_pauses(work: Coroutine[Any, Any, Result]) -> Result:
    """Run `work`, and let time pass in small steps whenever it waits; return what it returns."""
    loop = HastyLoop()

    async def ahead() -> Result:
        task = asyncio.ensure_future(work)
        while not task.done():
            await checkpoint()
            loop.ahead += 0.02
        return await task

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(ahead())
