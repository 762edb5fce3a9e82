"""The processor's events beside what we made of them, and the owner's replay of one (issue 4, item 8).

A replay is no second way in: the event is fetched from the processor with our own key, and then goes the way of a
webhook whose signature was found good.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Literal

from orrery.checkout import keys
from orrery.checkout.records import COMPLETED, AccessRecord, Pending
from orrery.errors import Invalid, ItemUnreadable, NotFound, ProcessorRefused, RecordUnreadable
from orrery.owner import stored
from orrery.ports.clock import Clock
from orrery.ports.health import Finding
from orrery.ports.panels import moment
from orrery.ports.processor import EventReader, EventSummary, ProcessorReads, split_unreadable
from orrery.ports.store import Store

CONCERNS_US = "checkout.session."
"""How the types begin of the events that are listed: those about sessions."""

LOOK_BACK = timedelta(days=7)
"""How far back `doctor` looks: the processor gives up after 3 days (facts, The vendor)."""

DELIVERY_TIME = timedelta(minutes=2)
"""So new an event may be on its way still."""

Became = Literal["granted", "waiting", "refused", "foreign", "ignored", "never came", "unreadable"]
Result = Literal["granted", "already", "waiting", "refused", "foreign", "ignored", "duplicate"]

_ID = re.compile(r"evt_[A-Za-z0-9_]{1,250}")


@dataclass(frozen=True, slots=True)
class KnownEvent:
    """An event at the processor and here.

    `pending` counts deliveries that no endpoint has accepted yet; `stored` tells whether the event came in here;
    `became` what followed from it, and `why` in a few words: `unreadable` when what followed can not be read.
    Nothing of it is personal.
    """

    id: str
    type: str
    created: datetime
    session_id: str | None
    api_version: str | None
    pending: int
    stored: bool
    became: Became
    why: str = ""

    @property
    def failed(self) -> bool:
        """Return whether a delivery was not accepted, or a completed session never came in here."""
        return self.pending > 0 or (self.type == COMPLETED and not self.stored)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of an event that was taken in once more."""

    id: str
    type: str
    session_id: str | None
    result: Result


class Events:
    """Compares the processor's events with the store, and takes one in on the owner's word."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        reads: ProcessorReads,
        read_event: EventReader,
        take_in: Callable[[bytes], Awaitable[Result]],
        *,
        livemode: bool,
    ) -> None:
        """`take_in` is the webhook's way behind its signature check."""
        self._store = store
        self._clock = clock
        self._reads = reads
        self._read_event = read_event
        self._take_in = take_in
        self._livemode = livemode

    async def look(self, since: timedelta, *, failed: bool = False) -> AsyncIterator[KnownEvent | ItemUnreadable]:
        """Yield what the processor tells of sessions, newest first; with `failed` only what did not come through.

        Raises the processor's and the store's errors.
        """
        async for event in self._reads.list_events(self._clock.now() - since):
            if isinstance(event, ItemUnreadable):
                yield event
            elif event.type.startswith(CONCERNS_US):
                known = await self._known(event)
                if known.failed or not failed:
                    yield known

    async def replay(self, event_id: str) -> Replayed:
        """Fetch an event from the processor and take it in as its webhook would; once is once.

        Raises `Invalid` for what is no id or of another mode, `NotFound`, and the processor's and store's errors.
        """
        body = await self._fetched(event_id)
        event = self._read_event(body)
        if event.livemode != self._livemode:
            modes = ("live", "test") if event.livemode else ("test", "live")
            raise Invalid(f"It is a {modes[0]} event, and this service sells in {modes[1]} mode.")
        session_id = event.session.id if event.session else None
        return Replayed(event.id, event.type, session_id, await self._take_in(body))

    async def finding(self) -> Finding:
        """Return whether every completed session that the processor could not deliver is here all the same."""
        now = self._clock.now()
        undelivered = self._reads.list_events(now - LOOK_BACK, undelivered=True)
        events, unread = split_unreadable([one async for one in undelivered])
        found = [await self._known(event) for event in events if event.type == COMPLETED]
        missing = [one for one in found if not one.stored and now - one.created > DELIVERY_TIME]
        part, days = "webhook deliveries", LOOK_BACK.days
        if missing:
            oldest = moment(min(one.created for one in missing))
            why = f"Completed sessions of {days} days that did not arrive: {len(missing)}, the oldest of {oldest}."
            todo = "Can the processor reach the webhook? List them with `orrery checkout events --failed`."
            return Finding(part, "broken", why, todo)
        if unread:
            why = f"Undelivered events of {days} days that cannot be read: {len(unread)}. {unread[0]}"
            return Finding(part, "broken", why, "List them with `orrery checkout events`.")
        if found:
            why = f"Deliveries of {days} days that are pending: {len(found)}; all are stored, or on their way."
            return Finding(part, "ok", why)
        return Finding(part, "ok", f"Every completed session of {days} days was delivered.")

    async def _fetched(self, event_id: str) -> bytes:
        if not _ID.fullmatch(event_id):
            raise Invalid("That is no id of an event: it begins with evt_.")
        try:
            return await self._reads.get_event(event_id)
        except ProcessorRefused as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            raise NotFound("The processor knows no such event; it keeps them for 30 days.") from None

    async def _known(self, event: EventSummary) -> KnownEvent:
        arrived = await self._store.get(keys.event(event.id)) is not None
        became, why = await self._became(event, arrived=arrived)
        session_id, version = event.object_id, event.api_version
        return KnownEvent(
            event.id, event.type, event.created, session_id, version, event.pending, arrived, became, why
        )

    async def _became(self, event: EventSummary, *, arrived: bool) -> tuple[Became, str]:
        if event.type == COMPLETED and event.object_id:
            try:
                if followed := await self._followed(event, event.object_id):
                    return followed
            except RecordUnreadable as error:
                return "unreadable", error.name
        if not arrived:
            return "never came", ""
        return ("foreign", "none of our products") if event.type == COMPLETED else ("ignored", "")

    async def _followed(self, event: EventSummary, session_id: str) -> tuple[Became, str] | None:
        if access := await self._store.get(keys.access(session_id)):
            record = stored.read(AccessRecord, access)
            return "granted", "" if record.event_id == event.id else f"by {record.granted_by}"
        if noted := await self._store.get(keys.pending(session_id)):
            pending = stored.read(Pending, noted)
            return pending.state, "payment failed" if pending.failed_at else pending.reason
        return None
