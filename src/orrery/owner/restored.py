"""What follows a restore: no notification is sent twice, and no old approval counts (issue item 2)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime

from orrery.owner import stored
from orrery.owner.outbox import Outbox
from orrery.ports.clock import Clock
from orrery.ports.store import Delete, Put, Store, Unchanged
from orrery.record import Record
from orrery.runtime.collection import write

RESTORED = "restored-at"
APPROVALS = "approval:"
LEASES = "lease:"


class Restored(Record):
    """When the store was last restored, and how far reconciliations have come since."""

    v: Literal[1] = 1
    at: AwareDatetime
    reconciled_since: AwareDatetime | None = None
    """A whole reconciliation has read the sessions created since this time: one that completes later is new."""

    def may_have_notified(self, created: datetime) -> bool:
        """Return whether notifications about a session may have been sent before the restore, and then lost."""
        caught_up = self.reconciled_since is not None and created >= self.reconciled_since
        return created <= self.at and not caught_up

    async def reconciled(self, store: Store, since: datetime) -> None:
        """Note that a reconciliation has read all completed sessions that were created since that time."""
        entry = await store.get(RESTORED)
        noted = stored.readable(Restored, entry)
        if entry and noted == self and (self.reconciled_since is None or since < self.reconciled_since):
            later = self.change(reconciled_since=since)
            # After another restore meanwhile, this reconciliation does not count.
            _ = await store.commit([later.put()], [Unchanged(RESTORED, entry.version)])

    def put(self) -> Put:
        """Return the write that keeps this."""
        return Put(RESTORED, self.to_bytes())


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """How many notifications are held back, and how many approvals are void."""

    held: int
    voided: int


class Restoration:
    """Prepares a restored store for use."""

    def __init__(self, store: Store, clock: Clock, outbox: Outbox) -> None:
        self._store = store
        self._clock = clock
        self._outbox = outbox

    async def settle(self) -> RestoreResult:
        """Note the restore, hold notifications back, void approvals, and delete old leases."""
        await write(self._store, [Restored(at=self._clock.now()).put()])
        _ = await self._delete(LEASES)
        return RestoreResult(await self._outbox.hold_all(), await self._delete(APPROVALS))

    async def _delete(self, prefix: str) -> int:
        deleted = 0
        while page := await self._store.scan(prefix):
            await write(self._store, [Delete(entry.key) for entry in page])
            deleted += len(page)
        return deleted


async def last_restore(store: Store) -> Restored | None:
    """Return the last restore, or None; raise `RecordUnreadable`."""
    entry = await store.get(RESTORED)
    return stored.read(Restored, entry) if entry else None
