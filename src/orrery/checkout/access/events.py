"""The processor's events with what Orrery did with them, and the owner's replay of one (issue 4, item 8).

A replay trusts only the processor: Orrery fetches the event with its own key, and then handles it like a webhook
with a valid signature.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Literal

from orrery.checkout.access.raw_events import RawEvent, RawEvents, ReceivedResult
from orrery.checkout.access.refusals import NOTED_EVERY, Refusals
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import COMPLETED, UnreadableEvent
from orrery.errors import Invalid, NotFound, RecordUnreadable
from orrery.ports.health import Finding
from orrery.ports.panels import utc_text
from orrery.ports.processor import EventSummary, PartialEvent, ProcessorReads, split_unreadable
from orrery.ports.processor.errors import ItemUnreadable, ProcessorRefused

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

_ID = re.compile(r"evt_[A-Za-z0-9_]{1,250}")


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


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of a replayed event."""

    id: str
    type: str | None
    session_id: str | None
    result: ReceivedResult


class EventHistory:
    """Compares the processor's events with the store, and replays one on the owner's command."""

    def __init__(
        self,
        stored: CheckoutRecords,
        reads: ProcessorReads,
        raw_events: RawEvents,
        refusals: Refusals,
        receive: Callable[[RawEvent], Awaitable[ReceivedResult]],
        *,
        livemode: bool,
    ) -> None:
        """`receive` handles an event as the webhook does after its signature check."""
        self._stored = stored
        self._reads = reads
        self._raw_events = raw_events
        self._refusals = refusals
        self._receive = receive
        self._livemode = livemode

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
            if event.type.startswith(CONCERNS_US) or await self._raw_events.note(event.id):
                known = await self._known(event)
                if known.failed or not failed:
                    yield known
        for note in await self._raw_events.unreadable(start):
            if note.event_id not in listed:
                known = await self._known(_summary(note))
                if known.failed or not failed:
                    yield known

    async def replay(self, event_id: str) -> Replay:
        """Fetch an event from the processor and receive it as its webhook would; a repeat changes nothing.

        Where the processor no longer has the event, or sends it in a form that Orrery cannot read, the stored body
        of the webhook is used. Raises `Invalid` for an id that is no event's or of another mode, `NotFound`, and
        the processor's and store's errors.
        """
        kept = await self._raw_events.body(event_id)
        body = await self._fetched(event_id, kept)
        replayed = await self._received(event_id, body)
        if replayed.result == "unreadable" and kept is not None and kept != body:
            replayed = await self._received(event_id, kept)
        if replayed.result != "unreadable" and replayed.id != event_id:
            await self._raw_events.resolve(event_id)
        return replayed

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
        if waiting := await self._unreadable(now):
            troubles.append(f"Signed events that came and cannot be read: {waiting}.")
        if troubles:
            return Finding(
                part,
                "broken",
                " ".join(troubles),
                "List them with `orrery checkout events --failed`.",
                essential=True,
            )
        if found:
            why = f"Deliveries of {days} days that are pending: {len(found)}; all are stored, or on their way."
            return Finding(part, "ok", why, essential=True)
        return Finding(part, "ok", f"Every completed session of {days} days was delivered.", essential=True)

    async def _lost(self, missing: Sequence[KnownEvent]) -> str:
        """Return the reason of a finding about completed sessions whose events did not arrive."""
        count, oldest = len(missing), utc_text(min(one.created for one in missing))
        why = f"Completed sessions of {LOOK_BACK.days} days that did not arrive: {count}, the oldest of {oldest}."
        outage = await self._refusals.open()
        last = outage and (outage.last_at or outage.since)
        # A time of a future that was undone shows only that nothing was refused since.
        if outage is None or last is None or last > self._stored.clock.now():
            return f"{why} {_UNDELIVERED}"
        refused = (
            f"Webhooks are refused since {utc_text(outage.since)}: {outage.reason}, the last at {utc_text(last)}."
        )
        # A delivery follows its event at once: what is newer than the last refusal never came here.
        newer = sum(one.created > last + NOTED_EVERY for one in missing)
        if newer == count:
            return f"{why} {_UNDELIVERED}"
        return f"{why} {refused}" + (
            f" Since the last refusal the processor could not deliver {newer}." if newer else ""
        )

    async def _unreadable(self, now: datetime) -> int:
        """Return how many events cannot be read whose sessions were not handled in another way."""
        notes = await self._raw_events.unreadable(now - UNREADABLE_FOR)
        return sum([(await self._known(_summary(note))).became == "unreadable" for note in notes])

    async def _received(self, event_id: str, body: bytes) -> Replay:
        event = self._raw_events.read(body)
        read, session_id = event.read, None
        if not isinstance(read, PartialEvent):
            if read.livemode != self._livemode:
                modes = ("live", "test") if read.livemode else ("test", "live")
                raise Invalid(f"It is a {modes[0]} event, and this service sells in {modes[1]} mode.")
            event_id, session_id = read.id, read.session.id if read.session else None
        return Replay(event_id, read.type, session_id, await self._receive(event))

    async def _fetched(self, event_id: str, kept: bytes | None) -> bytes:
        """Return the event from the processor, or `kept` where the processor no longer has it."""
        if not _ID.fullmatch(event_id):
            if kept is None:
                raise Invalid("That is no id of an event: it begins with evt_.")
            return kept
        try:
            return await self._reads.get_event(event_id)
        except ProcessorRefused as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            if kept is None:
                raise NotFound("The processor knows no such event; it keeps them for 30 days.") from None
            return kept

    async def _known(self, event: EventSummary) -> KnownEvent:
        arrived = await self._raw_events.has(event.id)
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
        if note := await self._raw_events.note(event.id):
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


def _summary(note: UnreadableEvent) -> EventSummary:
    return EventSummary(note.event_id, note.type or "?", note.noted_at, None, 0, note.object_id)
