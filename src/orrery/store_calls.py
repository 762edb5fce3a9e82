"""What the stores over a database share: a caller's commit, times, the bounds of a scan, a thread for batches."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from queue import SimpleQueue
from threading import Thread
from typing import Generic, Literal, TypeVar
from uuid import uuid4

from orrery.ports.store import Check, Committed, Conflict, StoreEntry, Write, encode_key

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

REMEMBERED = timedelta(hours=24) // _MICROSECOND
"""How long a commit id is remembered at least, in microseconds (ports.store: "at least a day")."""

_BEYOND = b"\xff"
"""Orders after every UTF-8 text: no encoded character begins with this byte."""


LARGEST_GROUP = 128
"""How many commits share one transaction at most: more would delay the first of them without a gain."""

CommitAnswer = Committed | Conflict
CommitOutcome = CommitAnswer | Exception


class CommitLost(Exception):
    """Something failed once COMMIT was sent, so that it is not known whether the commit is stored."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


_VERSIONS_PER_SECOND = 2**20
"""More than any store can give out, and below 2**53 for two centuries."""


def version_floor(now: datetime) -> int:
    """Return the version from which a store counts on where what it has lost, or was lost before, is not known."""
    return int(now.timestamp()) * _VERSIONS_PER_SECOND


@dataclass(frozen=True, slots=True)
class Request:
    """One caller's commit. `named`: the caller chose the id, and so may have sent it before."""

    writes: Sequence[Write]
    checks: Sequence[Check]
    commit_id: str
    named: bool


def microseconds(time: datetime) -> int:
    """Return `time` as whole microseconds since 1970."""
    return (time - _EPOCH) // _MICROSECOND


def _from_microseconds(stamp: int) -> datetime:
    """Return the time of `stamp`, microseconds since 1970."""
    return _EPOCH + stamp * _MICROSECOND


def commit_ids() -> Iterator[str]:
    """Yield the ids of commits whose callers give none, in their order, and unlike those of any other store."""
    opened = uuid4().hex
    return (f"{opened}-{number:012d}" for number in count())


def entry_of(row: tuple[bytes, bytes, int, int | None]) -> StoreEntry:
    """Return the entry in a row: key, value, version, and expiry in microseconds since 1970."""
    key, value, version, expires_at = row
    return StoreEntry(key.decode(), value, version, None if expires_at is None else _from_microseconds(expires_at))


def scan_bounds(prefix: str, after: str | None, *, reverse: bool) -> tuple[bytes, bytes]:
    """Return the least key of a scan and the first that is beyond it."""
    low = encode_key(prefix)
    high = low + _BEYOND
    if after is None:
        return low, high
    beyond = encode_key(after)
    return (low, min(high, beyond)) if reverse else (max(low, beyond + b"\0"), high)


BatchRequest = TypeVar("BatchRequest")
BatchAnswer = TypeVar("BatchAnswer")


@dataclass(frozen=True, slots=True)
class _Job(Generic[BatchRequest, BatchAnswer]):
    request: BatchRequest
    answer: asyncio.Future[BatchAnswer]


class BatchThread(Generic[BatchRequest, BatchAnswer]):
    """Calls `settle` with up to `largest` requests at a time; it returns one answer or error for each, in order.

    `drop` is called in the same thread at the end.
    """

    def __init__(
        self,
        name: str,
        settle: Callable[[Sequence[BatchRequest]], Sequence[BatchAnswer | Exception]],
        drop: Callable[[], None],
        loop: asyncio.AbstractEventLoop,
        largest: int,
    ) -> None:
        self._settle = settle
        self._drop = drop
        self._loop = loop
        self._largest = largest
        self._jobs: deque[_Job[BatchRequest, BatchAnswer]] = deque()
        self._calls: SimpleQueue[Literal["work", "end"]] = SimpleQueue()
        # A daemon, so that a process that forgot to close can end: only answered commits count as stored.
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, request: BatchRequest) -> asyncio.Future[BatchAnswer]:
        """Queue `request` from the loop's thread."""
        job: _Job[BatchRequest, BatchAnswer] = _Job(request, self._loop.create_future())
        self._jobs.append(job)
        if len(self._jobs) == 1:  # later, so that one call is enough for all requests of this turn of the loop
            _ = self._loop.call_soon(self._calls.put, "work")
        return job.answer

    def finish(self) -> None:
        """Carry out the queued requests, then end (blocks; no request may be submitted after it)."""
        self._calls.put("end")
        self._thread.join()

    def _run(self) -> None:
        for _ in iter(self._calls.get, "end"):
            self._work()
        self._work()
        self._drop()

    def _work(self) -> None:
        while self._jobs:
            jobs = [self._jobs.popleft() for _ in range(min(len(self._jobs), self._largest))]
            outcomes = self._settle([job.request for job in jobs])
            with suppress(RuntimeError):  # the loop is closed: no caller waits any more
                _ = self._loop.call_soon_threadsafe(_deliver, jobs, outcomes)


def _deliver(jobs: Sequence[_Job[BatchRequest, BatchAnswer]], outcomes: Sequence[BatchAnswer | Exception]) -> None:
    for job, outcome in zip(jobs, outcomes, strict=True):
        if job.answer.done():  # the caller was cancelled; a stored commit stays stored
            continue
        if isinstance(outcome, Exception):
            job.answer.set_exception(outcome)
        else:
            job.answer.set_result(outcome)
