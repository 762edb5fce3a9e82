"""What follows a restore: nobody is told twice, and no old approval counts (issue item 2)."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel

from orrery.owner.outbox import Outbox
from orrery.ports.clock import Clock
from orrery.ports.store import Delete, Put, Store

RESTORED = "restored-at"
APPROVALS = "approval:"
LEASES = "lease:"


class Restored(BaseModel):
    """When the store was last restored; what completed before may have been told already."""

    v: int = 1
    at: datetime


@dataclass(frozen=True, slots=True)
class Settled:
    """How many notifications are held back, and how many approvals are void."""

    held: int
    voided: int


class Restoration:
    """Brings a restored store into the present."""

    def __init__(self, store: Store, clock: Clock, outbox: Outbox) -> None:
        self._store = store
        self._clock = clock
        self._outbox = outbox

    async def settle(self) -> Settled:
        """Mark the restore, hold notifications back, void approvals, and let go of old leases."""
        mark = Restored(at=self._clock.now())
        await self._store.commit([Put(RESTORED, mark.model_dump_json().encode())])
        await self._delete(LEASES)
        return Settled(await self._outbox.hold_all(), await self._delete(APPROVALS))

    async def _delete(self, prefix: str) -> int:
        deleted = 0
        while page := await self._store.scan(prefix):
            await self._store.commit([Delete(entry.key) for entry in page])
            deleted += len(page)
        return deleted


async def restored_at(store: Store) -> datetime | None:
    """Return the moment of the last restore, or None."""
    entry = await store.get(RESTORED)
    return Restored.model_validate_json(entry.value).at if entry else None
