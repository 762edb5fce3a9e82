"""What lasts for a while: its record is in the store while it does, and a finding shows it.

    well ──begin: record──▶ lasts ──end: record deleted──▶ well

`OutageWatch` pushes the finding at its beginning and its end. `note` is for what is counted meanwhile.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic

from orrery.errors import StoreError
from orrery.logs import log
from orrery.ports.health import Finding
from orrery.ports.notifier import Priority
from orrery.ports.store import Conflict, Delete, Unchanged
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, Collection, R, commit, compare_and_set


def push(
    push_id: str, title: str, body: str, priority: Priority = "high", tag: str = "warning", /
) -> outbox.OutboxDraft:
    """Return a push for the owner; `tag` is shown as a picture before its title."""
    return outbox.OutboxDraft(push_id, "push", title, body, priority=priority, tags=(tag,))


def alarm(push_id: str, title: str, body: str, /) -> outbox.OutboxDraft:
    return push(push_id, title, body, "urgent", "rotating_light")


@dataclass(slots=True)
class Lasting(Generic[R]):
    """The record of something that lasts, a collection of one: there is one while it does.

    This process notes it at most once in `every`: a flood of it must not become a flood of commits. `noted_at` is
    the monotonic time of the last note; with `always` also of one that stored nothing, where anyone can cause
    many.
    """

    record: Collection[R]
    every: timedelta = timedelta(0)
    always: bool = False
    noted_at: float | None = field(default=None, init=False)
    _is_noting: bool = field(default=False, init=False)

    async def begin(self, new: R, more: Changes | None = None) -> None:
        """Store the record, with `more` changes, unless it lasts already."""
        begun = self.record.changes("", None, new) + (more or Changes())
        if not isinstance(await commit(self.record.store, begun), Conflict):
            self.noted_at = self.record.clock.monotonic()

    async def end(self) -> None:
        """Delete the record, unless another process was first."""
        if entry := await self.record.entry():
            over = Changes([Delete(entry.key)], [Unchanged(entry.key, entry.version)])
            _ = await commit(self.record.store, over)

    async def note(self, make: Callable[[R | None], R | None]) -> bool:
        """Store what `make` makes of the record; return whether it was stored. A conflict asks `make` again.

        A damaged record counts as none. A store that fails, or holds a record of a newer release, is only logged.
        """
        now = self.record.clock.monotonic()
        if self._is_noting or (self.noted_at is not None and now - self.noted_at < self.every.total_seconds()):
            return False
        self._is_noting = True  # what comes while it is written waits, too

        async def attempt() -> bool | Conflict:
            known, unchanged = await self.record.replaceable()
            if (new := make(known)) is None:
                return False
            outcome = await commit(self.record.store, Changes([self.record.put(new)], [unchanged]))
            return outcome if isinstance(outcome, Conflict) else True

        stored = False
        try:
            stored = await compare_and_set(attempt, f"The store is too busy to note {self.record.prefix}.")
        except StoreError as error:
            log.warning("not noted", what=self.record.prefix, why=str(error))
        finally:
            self._is_noting = False
        if stored or self.always:
            self.noted_at = now
        return stored

    async def finding(self, judged: Callable[[R | None], Finding]) -> list[Finding]:
        """Return the finding about it, or none when the store fails: that has a separate finding."""
        try:
            found = await self.record.find()
        except StoreError:
            return []
        return [judged(found.record if found else None)]
