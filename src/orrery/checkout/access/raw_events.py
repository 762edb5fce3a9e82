"""Raw events as they came: each id is stored once, with its first body (decision 44)."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import structlog

from orrery.checkout.access.rules import bought
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.errors import EventIdReused
from orrery.checkout.records import UnreadableEvent
from orrery.errors import StoreUnavailable
from orrery.ports.processor import CheckoutSession, EventReader, PartialEvent, ProcessorEvent
from orrery.ports.store import Committed, Conflict, Delete, StoreEntry
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, commit, gathered, write
from orrery.runtime.lasting import alarm

ERASED_EVENT = b'{"erased":true}'
"""The stored body of an event whose buyer was erased: it only shows that the event came."""

ReceivedResult = Literal[
    "granted", "already", "waiting", "refused", "foreign", "ignored", "duplicate", "unreadable", "conflict"
]
"""What became of a verified event."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An event as it came, and as far as it can be read."""

    body: bytes
    read: ProcessorEvent | PartialEvent

    @property
    def id(self) -> str:
        """Return the event's id, or a name for one whose id cannot be read."""
        return self.read.id or digest_id(self.body)

    @property
    def erased(self) -> "RawEvent":
        """Return what only shows that the event came."""
        return replace(self, body=ERASED_EVENT)


class RawEvents:
    """Stores the bodies of events, and notes those that cannot be read."""

    def __init__(self, stored: CheckoutRecords, read_event: EventReader) -> None:
        self._stored = stored
        self._read = read_event

    def read(self, body: bytes) -> RawEvent:
        """Return a body with what can be read of it."""
        return RawEvent(body, self._read(body))

    def writes_of(self, event: RawEvent | None) -> Changes:
        """Return the writes of a new event; their commit conflicts when the event is not new."""
        if event is None:
            return Changes()
        event_id, body = event.id, event.body
        return self._stored.events.added(event_id, body)

    async def writes_after(self, conflict: Conflict, event: RawEvent | None) -> Changes:
        """Return the writes that are still needed after a commit with `conflict`.

        For an event that is stored they only delete its note, if there is one. Raises `EventIdReused` when another
        event is stored under the id: the first one stays.
        """
        new = self.writes_of(event)
        if event is None or self._stored.events.key(event.id) not in conflict.keys:
            return new
        entry = await self._stored.events.get(event.id)
        if entry is None:
            return new
        self._require_same(entry, event)
        note = await self._stored.unreadable_events.entry(event.id)
        return Changes([Delete(note.key)]) if note else Changes()

    async def keep(self, event: RawEvent | None) -> bool:
        """Store an event that has no other effect; return whether it was new. Raises `EventIdReused`."""
        event_writes = self.writes_of(event)
        while event_writes.writes:
            outcome = await commit(self._stored.store, event_writes)
            if isinstance(outcome, Committed):
                return bool(event_writes.checks)
            event_writes = await self.writes_after(outcome, event)
        return False

    async def keep_unreadable(self, event: RawEvent) -> bool:
        """Store an event that cannot be read, note it, and enqueue one push a day.

        Returns False for one that was read when it came first. Raises `EventIdReused`.
        """
        now, read = self._stored.clock.now(), event.read
        note = UnreadableEvent(
            event_id=event.id, type=read.type, object_id=read.object_id, fields=read.unread, noted_at=now
        )
        noted = self.writes_of(event) + Changes([self._stored.unreadable_events.put(note, event.id)])
        outcome = await outbox.commit_with(self._stored.store, noted, [_unreadable_draft(note)], now)
        if isinstance(outcome, Committed):
            log.warning("event cannot be read", event_id=event.id, fields=read.unread)
            return True
        left = await self.writes_after(outcome, event)
        if not left.checks:
            return bool(left.writes)
        raise StoreUnavailable("The store is too busy to keep the event; it will come again.")

    async def notify_reused(self, event_id: str) -> None:
        """Enqueue one push about an event id that came with other contents."""
        log.warning("event id came with other contents", event_id=event_id)
        await outbox.tell_once(self._stored.store, self._stored.clock, _reused_draft(event_id))

    async def has(self, event_id: str) -> bool:
        """Return whether an event was received."""
        return await self._stored.events.get(event_id) is not None

    async def body(self, event_id: str) -> bytes | None:
        """Return the body of an event; None where it is not stored, or was erased."""
        entry = await self._stored.events.get(event_id)
        return None if entry is None or entry.value == ERASED_EVENT else entry.value

    async def unreadable(self, since: datetime) -> list[UnreadableEvent]:
        """Return the events since then that could not be read, at most 1,000."""
        notes = (await gathered(self._stored.unreadable_events.pages(limit=1000))).values()
        return [note for note in notes if note.noted_at >= since]

    async def note(self, event_id: str) -> UnreadableEvent | None:
        """Return the note of an event that could not be read, and was not since."""
        found = await self._stored.unreadable_events.find(event_id)
        return found.record if found else None

    async def resolve(self, event_id: str) -> None:
        """Delete the note of an unreadable event."""
        await write(self._stored.store, [Delete(self._stored.unreadable_events.key(event_id))])

    def _require_same(self, entry: StoreEntry, event: RawEvent) -> None:
        # The body itself is read, also of one that is to be kept as an erased one.
        if entry.value not in (event.body, ERASED_EVENT) and not _same(
            self._read(entry.value), self._read(event.body)
        ):
            raise EventIdReused("This event's id came before with other contents, which are kept.")


def digest_id(body: bytes) -> str:
    """Return the name of an event whose own id cannot be read."""
    return f"sha256-{hashlib.sha256(body).hexdigest()}"


def _same(first: ProcessorEvent | PartialEvent, second: ProcessorEvent | PartialEvent) -> bool:
    """Return whether two bodies under one id are the same event.

    The processor writes one event in more than one way: a fetched one has another layout, counts its pending
    deliveries, and may be of another API version. What decides is compared, as far as both can be read.
    """
    pairs = ((first.type, second.type), (first.object_id, second.object_id))
    if any(one is not None and other is not None and one != other for one, other in pairs):
        return False
    if isinstance(first, PartialEvent) or isinstance(second, PartialEvent):
        return True
    if first.session is None or second.session is None:
        return True
    return first.livemode == second.livemode and _decisive(first.session) == _decisive(second.session)


def _decisive(session: CheckoutSession) -> tuple[object, ...]:
    money = session.payment_status, session.amount_total, session.currency, session.payment_intent
    return session.id, session.livemode, bought(session), session.email, *money


def _unreadable_draft(note: UnreadableEvent) -> outbox.OutboxDraft:
    return alarm(
        f"unreadable-event-{note.noted_at:%Y%m%d}",
        "A signed event cannot be read",
        f"Event {note.event_id} is stored, and nothing follows from it yet. If it reports a payment, "
        "reconciliation opens the access as soon as it can read the session. "
        "`orrery checkout events --failed` lists such events; today's others send no push.",
    )


def _reused_draft(event_id: str) -> outbox.OutboxDraft:
    return alarm(
        f"event-reused-{event_id}",
        "An event id came again with other contents",
        f"Event {event_id}: the first is kept, and the second opened nothing. Both were signed with the secret "
        "of the webhook. If the processor's dashboard does not explain it, rotate the secret.",
    )
