"""One run of a piece of work for all callers at the same time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

from orrery.runtime.tasks import Tasks

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """A caller that comes while the work is under way gets its result; the next caller starts it again."""

    def __init__(self, tasks: Tasks, work: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._tasks = tasks
        self._work = work
        self._under_way: asyncio.Task[T] | None = None

    async def join(self) -> T:
        """Return the result; cancelling one caller does not stop the work for the others."""
        if self._under_way is None or self._under_way.done():
            self._under_way = self._tasks.start(self._work())
        return await asyncio.shield(self._under_way)
