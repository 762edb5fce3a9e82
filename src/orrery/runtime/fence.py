"""The fence of a lease: what a job commits is refused once another process has had its lease (decision record 94).

A process may be frozen between any two of its steps: its machine slept, or was moved. When it goes on, its lease
may be another's, and it cannot know. The store does, in each commit.
"""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from orrery.ports.store import Check, Committed, Conflict, Store, Unchanged, Write


class LeaseLost(BaseException):
    """Another process does this job now.

    As a cancellation, it is no `Exception`: no handler of a job's own errors goes on after it.
    """


@dataclass(slots=True, eq=False)
class Fence:
    """One process's hold of a lease, through all renewals, until another process has held it.

    `token` is the version of the store since which no other has. `version` is that of the newest renewal, which
    `renewing` is locked for.
    """

    key: str
    token: int
    version: int
    renewing: asyncio.Lock

    @property
    def check(self) -> Unchanged:
        """The check that no other process has taken the lease; a renewal makes it fail, too."""
        return Unchanged(self.key, self.version)

    async def commit(
        self, store: Store, writes: Sequence[Write], checks: Sequence[Check], commit_id: str | None
    ) -> Committed | Conflict:
        """Commit as the store does, under the lease; raise `LeaseLost` when another process has taken it."""
        while True:
            check = self.check
            outcome = await store.commit(writes, [*checks, check], commit_id=commit_id)
            if isinstance(outcome, Committed) or self.key not in outcome.keys:
                return outcome
            async with self.renewing:
                if self.version == check.version:
                    raise LeaseLost


_current: ContextVar[Fence | None] = ContextVar("fence", default=None)


@contextmanager
def fenced(fence: Fence | None) -> Generator[None]:
    """Have what is committed in the block, and by the tasks that it starts, carry a fence, or none."""
    before = _current.set(fence)
    try:
        yield
    finally:
        _current.reset(before)


def current_fence() -> Fence | None:
    """Return the fence of the job that runs, or None: a request has none."""
    return _current.get()
