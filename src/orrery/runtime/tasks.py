"""Every task has an owner, which waits for its end and handles its failure."""

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

from orrery.logs import log
from orrery.runtime.fence import fenced

FINISH = 5.0
"""Seconds that unfinished work gets, when the process ends, before it is cancelled."""

T = TypeVar("T")


async def together(*work: Awaitable[T]) -> list[T]:
    """Do all of `work` at once, wait for each to its end, and return the results in order.

    The first failure is raised when all have ended, so no work continues after the call.
    """
    tasks = [asyncio.ensure_future(one) for one in work]
    if tasks:
        try:
            _ = await asyncio.wait(tasks)
        except asyncio.CancelledError:
            for task in tasks:
                _ = task.cancel()
            _ = await asyncio.wait(tasks)
            raise
    failed = [error for task in tasks if (error := task.exception())]
    if failed:
        raise failed[0]
    return [task.result() for task in tasks]


async def to_its_end(work: Coroutine[Any, Any, T]) -> T:
    """Do `work`, also when the caller is cancelled meanwhile; the caller is cancelled after that.

    A commit may reach the store although its caller was cancelled. The caller's next write must come after it.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        _ = await asyncio.wait([task])
        if not task.cancelled():
            _ = task.exception()
        raise


class Tasks:
    """Owns work that goes on after its caller: a visitor disconnects, or a caller is cancelled."""

    def __init__(self) -> None:
        self._under_way: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Start `work`; callers wait for it with `asyncio.shield`.

        It has many callers and outlives them, so that it does not end with the lease of a job among them.
        """
        with fenced(None):
            task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return task

    async def finish(self) -> None:
        """Wait `FINISH` seconds for unfinished work, then cancel the rest and wait for it to end."""
        if not self._under_way:
            return
        _, late = await asyncio.wait(self._under_way, timeout=FINISH)
        for task in late:
            _ = task.cancel()
        if late:
            log.warning("work under way was cancelled", tasks=len(late))
            _ = await asyncio.wait(late)

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._under_way.discard(task)
        # When every caller was cancelled no one retrieves the error, and the loop would log that.
        if not task.cancelled():
            _ = task.exception()
