"""An event loop whose time a test moves: deadlines of the loop pass without waiting."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from anyio.lowlevel import checkpoint

Result = TypeVar("Result")


class HastyLoop(asyncio.SelectorEventLoop):
    """The usual loop, ahead of time by `ahead` seconds."""

    ahead = 0.0

    def time(self) -> float:
        """Return the loop's time."""
        return super().time() + self.ahead


def run_ahead(work: Coroutine[Any, Any, Result], seconds: float) -> Result:
    """Run `work`; once it waits, let `seconds` pass at once, and return what it returns."""
    loop = HastyLoop()

    async def ahead() -> Result:
        task = asyncio.ensure_future(work)
        for _ in range(10):
            await checkpoint()
        loop.ahead += seconds
        return await asyncio.wait_for(task, 60)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(ahead())
