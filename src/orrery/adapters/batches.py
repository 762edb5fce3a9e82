"""A thread that takes whatever waits for it in one batch, and answers on the event loop."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

Request = TypeVar("Request")
BatchAnswer = TypeVar("BatchAnswer")


@dataclass(frozen=True, slots=True)
class _Job(Generic[Request, BatchAnswer]):
    request: Request
    answer: asyncio.Future[BatchAnswer]


class BatchThread(Generic[Request, BatchAnswer]):
    """Calls `settle` with up to `largest` requests at a time; it returns one answer or error for each, in order.

    `drop` is called in the same thread at the end.
    """

    def __init__(
        self,
        name: str,
        settle: Callable[[Sequence[Request]], Sequence[BatchAnswer | Exception]],
        drop: Callable[[], None],
        loop: asyncio.AbstractEventLoop,
        largest: int,
    ) -> None:
        self._settle = settle
        self._drop = drop
        self._loop = loop
        self._largest = largest
        self._queue: SimpleQueue[_Job[Request, BatchAnswer] | None] = SimpleQueue()
        # A daemon, so that a process that forgot to close can end: only answered commits count as stored.
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, request: Request) -> asyncio.Future[BatchAnswer]:
        """Queue `request` from the loop's thread."""
        job: _Job[Request, BatchAnswer] = _Job(request, self._loop.create_future())
        self._queue.put(job)
        return job.answer

    def finish(self) -> None:
        """Carry out the queued requests, then end (blocks; no request may be submitted after it)."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        for first in iter(self._queue.get, None):
            jobs = [first, *self._waiting(self._largest - 1)]
            outcomes = self._settle([job.request for job in jobs])
            with suppress(RuntimeError):  # the loop is closed: no caller waits any more
                _ = self._loop.call_soon_threadsafe(_deliver, jobs, outcomes)
        self._drop()

    def _waiting(self, limit: int) -> list[_Job[Request, BatchAnswer]]:
        jobs: list[_Job[Request, BatchAnswer]] = []
        while len(jobs) < limit and not self._queue.empty():
            job = self._queue.get()
            if job is None:
                self._queue.put(None)  # the end, for _run to see; nothing comes after it
                break
            jobs.append(job)
        return jobs


def _deliver(jobs: Sequence[_Job[Request, BatchAnswer]], outcomes: Sequence[BatchAnswer | Exception]) -> None:
    for job, outcome in zip(jobs, outcomes, strict=True):
        if job.answer.done():  # the caller was cancelled; a stored commit stays stored
            continue
        if isinstance(outcome, Exception):
            job.answer.set_exception(outcome)
        else:
            job.answer.set_result(outcome)
