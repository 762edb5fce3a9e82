"""What follows a restore: no notification is sent twice, and no old approval counts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime

from orrery.ports.clock import Clock
from orrery.ports.store import Delete, Store
from orrery.record import Record
from orrery.runtime.collection import Collection, Walk, commit, write
from orrery.runtime.outbox import Outbox

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

    async def reconciled(self, store: Store, clock: Clock, since: datetime) -> None:
        """Note that a reconciliation has read all completed sessions that were created since that time."""
        restores = _restores(store, clock)
        noted = await restores.find()
        if noted and noted.record == self and (self.reconciled_since is None or since < self.reconciled_since):
            later = self.change(reconciled_since=since)
            # A conflict means another restore meanwhile: this reconciliation does not count.
            _ = await commit(store, restores.changes("", noted, later))


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
        self._restores = _restores(store, clock)

    async def settle(self) -> RestoreResult:
        """Note the restore, hold notifications back, void approvals, and delete old leases."""
        await write(self._store, [self._restores.put(Restored(at=self._clock.now()))])
        _ = await self._delete(LEASES)
        return RestoreResult(await self._outbox.hold_all(), await self._delete(APPROVALS))

    async def _delete(self, prefix: str) -> int:
        """Delete everything under a prefix, readable or not; return how much that was."""
        deleted = 0
        async for page in Walk(prefix).over(self._store, self._clock):
            await write(self._store, [Delete(entry.key) for entry in page])
            deleted += len(page)
        return deleted


def _restores(store: Store, clock: Clock) -> Collection[Restored]:
    """Return the record of the last restore."""
    return Collection(store, clock, Restored, RESTORED)


async def last_restore(store: Store, clock: Clock) -> Restored | None:
    """Return the last restore, or None; raise `RecordUnreadable`."""
    found = await _restores(store, clock).get()
    return found.record if found else None
