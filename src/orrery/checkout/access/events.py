"""Events as they came, each stored once with its first body (decision 44), and what Orrery did with them."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from orrery.checkout.access.outages import NOTED_EVERY
from orrery.checkout.access.rules import SessionResult, bought
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.errors import EventIdReused
from orrery.checkout.records import COMPLETED, UnreadableEvent
from orrery.errors import RecordUnreadable, StoreUnavailable
from orrery.logs import log
from orrery.ports.health import Finding, magnitudes
from orrery.ports.panels import utc_text
from orrery.ports.processor import (
    CheckoutSession,
    EventReader,
    EventSummary,
    ItemUnreadable,
    PartialEvent,
    ProcessorEvent,
    ProcessorReads,
    split_unreadable,
)
from orrery.ports.store import Committed, Conflict, Delete
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, commit, gathered
from orrery.runtime.lasting import alarm
from orrery.runtime.tasks import together

ERASED_EVENT = b'{"erased":true}'
"""The stored body of an event whose buyer was erased: it only shows that the event came."""

ReceivedResult = SessionResult | Literal["ignored", "duplicate", "unreadable", "conflict"]
"""What became of a verified event."""

CONCERNS_US = "checkout.session."
"""The prefix of the types of the listed events: those about sessions."""

LOOK_BACK = timedelta(days=7)
"""How far back `doctor` looks: the processor gives up after 3 days (facts, The vendor)."""

DELIVERY_TIME = timedelta(minutes=2)
"""How old an event may be that is still on its way."""

UNREADABLE_FOR = timedelta(days=30)
"""How long `doctor` reports an event that could not be read: as long as the processor can send it again."""

EventOutcome = Literal["granted", "waiting", "refused", "foreign", "ignored", "never came", "unreadable"]

_UNDELIVERED = (
    "The processor could not deliver them: it got no connection, no certificate that it trusts, or an error of "
    "the service or of a proxy in front. Its dashboard shows which."
)


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An event as it came, and as far as it can be read."""

    body: bytes
    read: ProcessorEvent | PartialEvent

    @property
    def id(self) -> str:
        """Return the event's id, or a name for one whose id cannot be read."""
        return self.read.id or f"sha256-{hashlib.sha256(self.body).hexdigest()}"

    @property
    def erased(self) -> "RawEvent":
        """Return what only shows that the event came."""
        return replace(self, body=ERASED_EVENT)


@dataclass(frozen=True, slots=True)
class KnownEvent:
    """An event at the processor and in the store, without personal data.

    `pending` counts deliveries that no endpoint has accepted yet; `stored`: Orrery received the event;
    `became` is its result, and `why` the reason in a few words: `unreadable` when the result cannot be read.
    """

    id: str
    type: str
    created: datetime
    session_id: str | None
    api_version: str | None
    pending: int
    stored: bool
    became: EventOutcome
    why: str = ""

    @property
    def failed(self) -> bool:
        """Return whether it was not accepted, cannot be read, or reports a completed session and never arrived."""
        return self.pending > 0 or self.became == "unreadable" or (self.type == COMPLETED and not self.stored)


class Events:
    """Stores events as they came, notes those that cannot be read, and compares the processor's with them."""

    def __init__(self, stored: CheckoutRecords, reads: ProcessorReads, read_event: EventReader) -> None:
        self._stored = stored
        self._reads = reads
        self._read = read_event

    def read(self, body: bytes) -> RawEvent:
        """Return a body with what can be read of it."""
        return RawEvent(body, self._read(body))

    def writes_of(self, event: RawEvent | None) -> Changes:
        """Return the writes of a new event; their commit conflicts when the event is not new."""
        return self._stored.events.added(event.id, event.body) if event else Changes()

    async def writes_after(self, conflict: Conflict, event: RawEvent | None) -> Changes:
        """Return the writes that are still needed after a commit with `conflict`.

        For an event that is stored they only delete its note, if there is one. Raises `EventIdReused` when another
        event is stored under the id: the first one stays.
        """
        new = self.writes_of(event)
        if event is None or self._stored.events.key(event.id) not in conflict.keys:
            return new
        notes = self._stored.unreadable_events
        entry, note = await together(self._stored.events.get(event.id), notes.entry(event.id))
        if entry is None:
            return new
        # The body itself is read, also of one that is to be kept as an erased one.
        if entry.value not in (event.body, ERASED_EVENT) and not _same(
            self._read(entry.value), self._read(event.body)
        ):
            raise EventIdReused("This event's id came before with other contents, which are kept.")
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
        outcome = await outbox.commit_with(self._stored.store, noted, [_unreadable_push(note)], now)
        if isinstance(outcome, Committed):
            log.warning("event cannot be read", event_id=event.id, fields=read.unread)
            return True
        left = await self.writes_after(outcome, event)
        if not left.checks:
            return bool(left.writes)
        raise StoreUnavailable("The store is too busy to keep the event; it will come again.")

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

    async def list_events(
        self, since: timedelta, *, failed: bool = False
    ) -> AsyncIterator[KnownEvent | ItemUnreadable]:
        """Yield the processor's events about sessions, newest first; with `failed` only those that need attention.

        Events that Orrery received but could not read, and that the processor no longer lists, come last. Raises
        the processor's and the store's errors.
        """
        start, listed = self._stored.clock.now() - since, set[str]()
        async for event in self._reads.list_events(start):
            if isinstance(event, ItemUnreadable):
                yield event
                continue
            listed.add(event.id)
            if event.type.startswith(CONCERNS_US) or await self.note(event.id):
                known = await self._known(event)
                if known.failed or not failed:
                    yield known
        for note in await self.unreadable(start):
            if note.event_id not in listed:
                known = await self._known(_summary(note))
                if known.failed or not failed:
                    yield known

    async def finding(self) -> Finding:
        """Return whether Orrery knows every completed session whose event the processor could not deliver."""
        now, part, days = self._stored.clock.now(), "webhook deliveries", LOOK_BACK.days
        undelivered = self._reads.list_events(now - LOOK_BACK, undelivered=True)
        events, unread = split_unreadable([one async for one in undelivered])
        found = [await self._known(event) for event in events if event.type == COMPLETED]
        missing = [one for one in found if not one.stored and now - one.created > DELIVERY_TIME]
        troubles = [await self._lost(missing)] if missing else []
        if unread:
            troubles.append(f"Undelivered events of {days} days that cannot be read: {len(unread)}. {unread[0]}")
        waiting = await self._unreadable(now)
        if waiting:
            troubles.append(f"Signed events that came and cannot be read: {waiting}.")
        if troubles:
            return Finding(
                part,
                "broken",
                " ".join(troubles),
                "List them with `orrery checkout events --failed`.",
                essential=True,
                items=(
                    *(one.id for one in missing),
                    *magnitudes("unread", len(unread)),
                    *magnitudes("unreadable", waiting),
                ),
            )
        if found:
            why = f"Deliveries of {days} days that are pending: {len(found)}; all are stored, or on their way."
            return Finding(part, "ok", why, essential=True)
        return Finding(part, "ok", f"Every completed session of {days} days was delivered.", essential=True)

    async def _lost(self, missing: Sequence[KnownEvent]) -> str:
        """Return the reason of a finding about completed sessions whose events did not arrive."""
        count, oldest = len(missing), utc_text(min(one.created for one in missing))
        why = f"Completed sessions of {LOOK_BACK.days} days that did not arrive: {count}, the oldest of {oldest}."
        refused = await self._stored.refused_webhooks.find()
        outage = refused and refused.record
        last = outage and (outage.last_at or outage.since)
        # A time of a future that was undone shows only that nothing was refused since.
        if outage is None or last is None or last > self._stored.clock.now():
            return f"{why} {_UNDELIVERED}"
        why_refused = (
            f"Webhooks are refused since {utc_text(outage.since)}: {outage.reason}, the last at {utc_text(last)}."
        )
        # A delivery follows its event at once: what is newer than the last refusal never came here.
        newer = sum(one.created > last + NOTED_EVERY for one in missing)
        if newer == count:
            return f"{why} {_UNDELIVERED}"
        return f"{why} {why_refused}" + (
            f" Since the last refusal the processor could not deliver {newer}." if newer else ""
        )

    async def _unreadable(self, now: datetime) -> int:
        """Return how many events cannot be read whose sessions were not handled in another way."""
        notes = await self.unreadable(now - UNREADABLE_FOR)
        return sum([(await self._known(_summary(note))).became == "unreadable" for note in notes])

    async def _known(self, event: EventSummary) -> KnownEvent:
        arrived = await self._stored.events.get(event.id) is not None
        became, why = await self._outcome(event, arrived=arrived)
        session_id, version = event.object_id, event.api_version
        return KnownEvent(
            event.id, event.type, event.created, session_id, version, event.pending, arrived, became, why
        )

    async def _outcome(self, event: EventSummary, *, arrived: bool) -> tuple[EventOutcome, str]:
        if event.type == COMPLETED and event.object_id:
            try:
                if followed := await self._followed(event, event.object_id):
                    return followed
            except RecordUnreadable as error:
                return "unreadable", error.name
        if not arrived:
            return "never came", ""
        if note := await self.note(event.id):
            return "unreadable", ", ".join(note.fields) or "no event"
        return ("foreign", "none of our products") if event.type == COMPLETED else ("ignored", "")

    async def _followed(self, event: EventSummary, session_id: str) -> tuple[EventOutcome, str] | None:
        if access := await self._stored.access.get(session_id):
            record = access.record
            return "granted", "" if record.event_id == event.id else f"by {record.granted_by}"
        if found := await self._stored.pending.get(session_id):
            pending = found.record
            return pending.state, "payment failed" if pending.failed_at else pending.reason
        return None


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


def _summary(note: UnreadableEvent) -> EventSummary:
    return EventSummary(note.event_id, note.type or "?", note.noted_at, None, 0, note.object_id)


def _unreadable_push(note: UnreadableEvent) -> outbox.OutboxDraft:
    return alarm(
        f"unreadable-event-{note.noted_at:%Y%m%d}",
        "A signed event cannot be read",
        f"Event {note.event_id} is stored, and nothing follows from it yet. If it reports a payment, "
        "reconciliation opens the access as soon as it can read the session. "
        "`orrery checkout events --failed` lists such events; today's others send no push.",
    )
