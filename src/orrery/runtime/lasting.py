"""What lasts for a while: noted once in the store, with a push at its beginning and an all-clear at its end.

    well ──begin: record and push──▶ lasts ──end: record deleted, all-clear──▶ well

Record and push are one commit: a restart neither repeats a push nor loses the all-clear, and of two processes one
is first. What has a finding instead, whose pushes `OutageWatch` sends, uses `change` alone.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, TypeVar

from orrery.errors import StoreError
from orrery.ports.clock import Clock
from orrery.ports.health import Finding
from orrery.ports.notifier import Priority
from orrery.ports.store import Conflict, Delete, Unchanged
from orrery.record import Record
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, Collection, commit, compare_and_set

R = TypeVar("R", bound=Record)


def push(
    push_id: str, title: str, body: str, priority: Priority = "high", tag: str = "warning", /
) -> outbox.OutboxDraft:
    """Return a push for the owner; `tag` is shown as a picture before its title."""
    return outbox.OutboxDraft(push_id, "push", title, body, priority=priority, tags=(tag,))


def alarm(push_id: str, title: str, body: str, /) -> outbox.OutboxDraft:
    return push(push_id, title, body, "urgent", "rotating_light")


def all_clear(push_id: str, title: str, body: str, priority: Priority = "low", /) -> outbox.OutboxDraft:
    return push(push_id, title, body, priority, "white_check_mark")


@dataclass(frozen=True, slots=True)
class Lasting(Generic[R]):
    """The record of something that lasts, a collection of one: there is one while it does."""

    record: Collection[R]

    async def is_noted(self) -> bool:
        """Return whether it lasts, also where its record cannot be read."""
        return await self.record.entry() is not None

    async def known(self) -> R | None:
        """Return the record, or None where it is missing or cannot be read."""
        found = await self.record.find()
        return found.record if found else None

    async def begin(self, new: R | None, push: outbox.OutboxDraft) -> bool:
        """Store the record with its push; return False where it lasts or was reported already.

        Without a record only the push is enqueued: its end cannot be detected.
        """
        now = self.record.clock.now()
        changes = self.record.changes("", None, new) if new else Changes()
        enqueued = Changes(outbox.enqueue([push], now), outbox.unseen([push]))
        return not isinstance(await commit(self.record.store, changes + enqueued), Conflict)

    async def end(self, push: outbox.OutboxDraft) -> bool:
        """Delete the record with an all-clear; return False where nothing lasts, or another process was first."""
        entry = await self.record.entry()
        if entry is None:
            return False
        over = Changes([Delete(entry.key)], [Unchanged(entry.key, entry.version)])
        enqueued = Changes(outbox.enqueue([push], self.record.clock.now()))
        return not isinstance(await commit(self.record.store, over + enqueued), Conflict)

    async def change(self, make: Callable[[R | None], R | None]) -> bool:
        """Store what `make` makes of the record, and return whether it made one; a conflict asks it again.

        A damaged record counts as none. Raises `RecordUnreadable` for one of a newer release.
        """

        async def attempt() -> bool | Conflict:
            known, unchanged = await self.record.replaceable()
            if (new := make(known)) is None:
                return False
            outcome = await commit(self.record.store, Changes([self.record.put(new)], [unchanged]))
            return outcome if isinstance(outcome, Conflict) else True

        return await compare_and_set(attempt, f"The store is too busy to note {self.record.prefix}.")


@dataclass(slots=True)
class Pace:
    """How often something is stored while it lasts: a flood of it must not become a flood of commits.

    `at` is the monotonic time of the last mark, in this process.
    """

    clock: Clock
    every: timedelta
    at: float | None = field(default=None, init=False)

    def is_due(self) -> bool:
        return self.at is None or self.clock.monotonic() - self.at >= self.every.total_seconds()

    def mark(self) -> None:
        self.at = self.clock.monotonic()


async def unless_store_fails(found: Awaitable[Finding]) -> list[Finding]:
    """Return a finding, or none when the store fails: that has a separate finding."""
    try:
        return [await found]
    except StoreError:
        return []
