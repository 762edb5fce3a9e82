"""What follows a restore: no notification is sent twice, none is lost, and no old approval counts."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import AwareDatetime

from orrery.errors import RecordUnreadable, StoreError
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.store import Delete, Store
from orrery.record import Record
from orrery.runtime.collection import FOR_EVER, Collection, RecordPage, StoredRecord, Walk, commit, write
from orrery.runtime.index_key import have_one_origin
from orrery.runtime.outbox import KEEP_DELIVERED, Notification, rows_of
from orrery.runtime.replaced import ReplacedStore

RESTORED = "restored-at"
APPROVALS = "approval:"
LEASES = "lease:"

NO_STORE = "The restore found no store to replace that can be read: whether this was sent is not known."
NOT_WHOLE = (
    "The store that the restore replaced is damaged, or did not go on from the snapshot: whether this was sent is "
    "not known."
)
NOT_THERE = "The store that the restore replaced does not have this message: whether it was sent is not known."
NOT_KNOWN = (
    "The session is from before the restore, which found no record of its messages: they may have been sent."
)
"""Why a message is held back."""

CLOCKS = timedelta(minutes=5)
"""How far the clocks of the processor and of this machine may differ: else webhooks are refused (decision 7)."""


class Restored(Record):
    """When the store was last restored, and how far reconciliations have come since.

    `messages_known_since`: what was enqueued in the replaced store since then was taken over, so a message of a
    later session that is not here was never sent. None where the replaced store does not show it.
    """

    at: AwareDatetime
    reconciled_since: AwareDatetime | None = None
    """A whole reconciliation has read the sessions created since this time: one that completes later is new."""
    messages_known_since: AwareDatetime | None = None

    def may_have_notified(self, created: datetime) -> bool:
        """Return whether notifications about a session may have been sent before the restore, and then lost."""
        known = [one for one in (self.reconciled_since, self.messages_known_since) if one is not None]
        return created <= self.at and not any(created >= one for one in known)

    async def reconciled(self, store: Store, clock: Clock, since: datetime) -> None:
        """Note that a reconciliation has read all completed sessions that were created since that time."""
        restores = _restores(store, clock)
        noted = await restores.find()
        if noted and noted.record == self and (self.reconciled_since is None or since < self.reconciled_since):
            later = self.change(reconciled_since=since)
            # A conflict means another restore meanwhile: this reconciliation does not count.
            _ = await commit(store, restores.changes("", noted, later))


def held_after(restored: Restored | None, at: datetime) -> str:
    """Return why a notification about something at that time is held back after a restore, or nothing."""
    return NOT_KNOWN if restored and restored.may_have_notified(at) else ""


@dataclass(frozen=True, slots=True)
class RestoreResult:
    """What became of the unsent messages, and how many approvals are void.

    `known` is how many have the state that they had in the replaced store; `held` counts those that are held back,
    by reason.
    """

    known: int
    held: Mapping[str, int]
    voided: int


class Restoration:
    """Prepares a restored store for use."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._restores = _restores(store, clock)

    async def settle(self, replaced: ReplacedStore | None) -> RestoreResult:
        """Note the restore, decide each message (decision 63), void approvals, and delete old leases."""
        if replaced and not await self._knows(replaced.store):
            replaced = ReplacedStore(replaced.store, went_on=False)
        messages = _Messages(self._store, self._clock, replaced)
        await messages.decide()
        restored = Restored(at=self._clock.now(), messages_known_since=await messages.known_since())
        await write(self._store, [self._restores.put(restored)])
        _ = await self._delete(LEASES)
        return RestoreResult(messages.known, messages.held, await self._delete(APPROVALS))

    async def _knows(self, replaced: Store) -> bool:
        try:
            return await have_one_origin(self._store, replaced)
        except StoreError:
            return False

    async def _delete(self, prefix: str) -> int:
        """Delete everything under a prefix, readable or not; return how much that was."""
        deleted = 0
        async for page in Walk(prefix).over(self._store, self._clock):
            await write(self._store, [Delete(entry.key) for entry in page])
            deleted += len(page)
        return deleted


class _Messages:
    """The messages of a restored store, while their states are decided."""

    def __init__(self, store: Store, clock: Clock, replaced: ReplacedStore | None) -> None:
        self._store = store
        self._clock = clock
        self._rows = rows_of(store, clock)
        self._replaced = replaced
        self._is_whole = True
        self._decided = set[str]()
        self.known = 0
        self.held = Counter[str]()

    async def decide(self) -> None:
        """Give each message the state that it has in the replaced store; hold back what is not known there."""
        if self._replaced:
            async for page in self._pages_of(self._replaced.store):
                for theirs in page.values():
                    await self._take_over(theirs, went_on=self._replaced.went_on)
        async for page in self._rows.pages():
            for ours in page.records:
                if ours.record.state == "waiting" and ours.id not in self._decided:
                    await self._hold(ours)

    async def known_since(self) -> datetime | None:
        """Return since when the replaced store has every message that was enqueued, if it is known."""
        if self._replaced is None or not self._replaced.went_on or not self._is_whole:
            return None
        try:
            before = await last_restore(self._replaced.store, self._clock)
        except (RecordUnreadable, StoreError):
            return None
        kept = self._clock.now() - KEEP_DELIVERED
        return CLOCKS + (max(kept, before.messages_known_since or before.at) if before else kept)

    async def _pages_of(self, replaced: Store) -> AsyncIterator[RecordPage[Notification]]:
        try:
            async for page in rows_of(replaced, self._clock).pages():
                self._is_whole = self._is_whole and not page.unreadable
                yield page
        except StoreError as error:
            log.warning("the replaced store cannot be read", why=str(error))
            self._replaced = None

    async def _take_over(self, theirs: Notification, *, went_on: bool) -> None:
        try:
            ours = await self._rows.get(theirs.id)
        except RecordUnreadable:
            return
        if decided := _decided(ours.record if ours else None, theirs, went_on=went_on):
            await write(self._store, self._rows.changes(theirs.id, ours, decided).writes)
            self._decided.add(theirs.id)
            self.known += ours is not None

    async def _hold(self, ours: StoredRecord[Notification]) -> None:
        is_known = self._replaced is not None and self._replaced.went_on and self._is_whole
        because = NOT_THERE if is_known else NOT_WHOLE if self._replaced else NO_STORE
        held = ours.record.change(state="held", held_because=because)
        await write(self._store, self._rows.changes(ours.id, ours, held).writes)
        self.held[because] += 1


def _decided(ours: Notification | None, theirs: Notification, *, went_on: bool) -> Notification | None:
    """Return the message as the replaced store has it, or None where that decides nothing."""
    if ours is None:
        # What waits there and is not here reports a change that the restore took back. What is still true is found
        # again and enqueued again; what was sent is kept, so that it is not sent again then.
        return None if theirs.state == "waiting" else theirs
    if ours.state == "delivered":
        return None
    return theirs if went_on or theirs.state == "delivered" else None


def _restores(store: Store, clock: Clock) -> Collection[Restored]:
    """Return the record of the last restore."""
    return Collection(store, clock, Restored, RESTORED, life=FOR_EVER)


async def last_restore(store: Store, clock: Clock) -> Restored | None:
    """Return the last restore, or None; raise `RecordUnreadable`."""
    found = await _restores(store, clock).get()
    return found.record if found else None
