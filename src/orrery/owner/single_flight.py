"""One piece of work for many callers who ask for it at once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class SingleFlight(Generic[Result]):
    """Whoever asks while the work is under way gets its result; the next one begins anew."""

    def __init__(self, work: Callable[[], Awaitable[Result]]) -> None:
        self._work = work
        self._under_way: asyncio.Task[Result] | None = None

    async def join(self) -> Result:
        """Return the result; a caller who is cancelled does not stop the work for the others."""
        if self._under_way is None or self._under_way.done():
            self._under_way = asyncio.create_task(self._run())
            self._under_way.add_done_callback(_retrieve)
        return await asyncio.shield(self._under_way)

    async def _run(self) -> Result:
        return await self._work()


def _retrieve(task: asyncio.Task[Result]) -> None:
    # When every caller was cancelled nobody else looks at the error, and the loop would complain.
    if not task.cancelled():
        task.exception()
