"""The state of a session, for the success page (decision 48).

The store knows which sessions were granted or completed. For a session that was only offered the processor is
asked: it may be open, just completed, or expired.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

import structlog

from orrery.checkout.access.lookup import Lookup
from orrery.checkout.access.notifications import Notifications
from orrery.checkout.access.rules import bought
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import Offer
from orrery.errors import NotConfigured, NotFound, RecordUnreadable
from orrery.ports.processor import CheckoutSession, Processor, SessionStatus
from orrery.ports.processor.errors import ItemUnreadable, ProcessorError
from orrery.runtime import outbox
from orrery.runtime.collection import Collection, commit

EVERY = timedelta(seconds=10)
"""Success pages cause at most one request to the processor per session in this time (decision 48)."""

MOST = 1000
"""Sessions that are remembered for that time."""

AT_ONCE = 4
"""Requests under way: while the processor hangs, success pages must not occupy the connections of buyers."""

DEADLINE = 3.0
"""Seconds that a page waits for the processor."""

LONGEST_SESSION = timedelta(hours=25)
"""A session expires at most 24 hours after its creation (facts, The vendor); an hour for clocks that differ."""

LEAST_LEFT = timedelta(minutes=30)
"""The processor is asked about a session that ends sooner, before it is handed out again.

It is the shortest time that the processor gives a buyer (facts, The vendor).
"""

StateName = Literal["open", "pending", "granted", "ended", "failed"]

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SessionState:
    """A session's state without personal data, for the success page.

    `open`: not completed. `pending`: completed and not granted, or not known, since the processor cannot be asked.
    `failed`: expired, or the payment failed: nothing was taken. `expires_at` is set for `granted` and `ended`.
    """

    state: StateName
    expires_at: datetime | None


_AT_THE_PROCESSOR: dict[SessionStatus, StateName] = {"open": "open", "complete": "pending", "expired": "failed"}


class SessionStates:
    """Finds the states of sessions, and stores which failed."""

    def __init__(
        self, stored: CheckoutRecords, processor: Processor, lookup: Lookup, notifications: Notifications
    ) -> None:
        self._stored = stored
        self._processor = processor
        self._lookup = lookup
        self._notifications = notifications
        self._known: dict[str, tuple[float, StateName]] = {}
        self._under_way = 0

    async def of(self, session_id: str) -> SessionState:
        """Return the state of one session; raise `NotFound` (we never created it) and `RecordUnreadable`."""
        return await self._noted(session_id) or SessionState(await self._at_the_processor(session_id), None)

    async def is_over(self, session_id: str, expires_at: datetime | None) -> bool:
        """Return whether a session is of no use to its visitor: it cannot be paid, and opens no access.

        The processor is asked only where the session ends soon, or that is not known; while it cannot be asked, a
        session is over from its end on.
        """
        try:
            if noted := await self._noted(session_id):
                return noted.state in {"failed", "ended"}
        except NotFound:
            return True
        except RecordUnreadable:
            return False
        if expires_at and not self.ends_soon(expires_at):
            return False
        status = await self._read_status(session_id)
        if status is None:
            return expires_at is not None and self._stored.clock.now() >= expires_at
        return status == "expired"

    def ends_soon(self, expires_at: datetime) -> bool:
        return self._stored.clock.now() >= expires_at - LEAST_LEFT

    async def _noted(self, session_id: str) -> SessionState | None:
        """Return the state that the store knows; None when the session was offered and no more."""
        if record := await self._lookup.record(session_id):
            state: StateName = "granted" if record.runs_at(self._stored.clock.now()) else "ended"
            return SessionState(state, record.revoked_at or record.expires_at)
        try:
            if noted := await self._stored.pending.get(session_id):
                return SessionState("failed" if noted.record.failed_at else "pending", None)
        except RecordUnreadable:
            return SessionState("pending", None)
        with suppress(RecordUnreadable):  # the processor knows as well
            offer = await self._stored.offers.get(session_id)
            if offer is None:
                raise NotFound("There is no such session.")
            if offer.record.failed_at:
                return SessionState("failed", None)
        return None

    async def note_expired(self, start: datetime) -> list[ItemUnreadable]:
        """Note which sessions of ours expired since the last reconciliation, or since `start` without one.

        Return what of them cannot be read.
        """
        unread: list[ItemUnreadable] = []
        last = await self._stored.reconciled.find()
        since = min(last.record.at, self._stored.clock.now()) - LONGEST_SESSION if last else start
        async for session in self._processor.list_expired_sessions(since):
            if isinstance(session, ItemUnreadable):
                unread.append(session)
                continue
            await note_expired(self._stored.offers, session.id)
        return unread

    async def payment_failed(
        self, session: CheckoutSession, *, dry_run: bool = False, held_because: str = ""
    ) -> bool:
        """Return whether the outstanding payment of a completed session failed; store and report it once."""
        noted = await self._stored.pending.find(session.id)
        if noted and noted.record.failed_at:
            return True
        if not session.payment_intent or not await self._newest_charge_failed(session.payment_intent):
            return False
        if noted and not dry_run:
            now = self._stored.clock.now()
            failed = self._stored.pending.changes(session.id, noted, noted.record.change(failed_at=now))
            push = self._notifications.payment_failed(session.id, bought(session))
            # After a conflict the next reconciliation stores and reports it.
            _ = await outbox.commit_with(self._stored.store, failed, [push], now, held_because=held_because)
        return True

    async def _newest_charge_failed(self, payment_intent: str) -> bool:
        async for charge in self._processor.list_charges_of(payment_intent):
            return not isinstance(charge, ItemUnreadable) and charge.status == "failed"
        return False

    async def _at_the_processor(self, session_id: str) -> StateName:
        now = self._stored.clock.monotonic()
        self._forget(now)
        if known := self._known.get(session_id):
            return known[1]
        if self._under_way == AT_ONCE or len(self._known) == MOST:
            return "pending"
        self._known[session_id] = now, "pending"  # for pages of this session that ask meanwhile
        self._under_way += 1
        try:
            status = await self._read_status(session_id)
            state = _AT_THE_PROCESSOR[status] if status else "pending"
        finally:
            self._under_way -= 1
        self._known[session_id] = now, state
        return state

    def _forget(self, now: float) -> None:
        while self._known and now - next(iter(self._known.values()))[0] >= EVERY.total_seconds():
            del self._known[next(iter(self._known))]

    async def _read_status(self, session_id: str) -> SessionStatus | None:
        """Return a session's status at the processor, or None while it cannot be asked."""
        try:
            async with asyncio.timeout(DEADLINE):
                return (await self._processor.get_session(session_id)).status
        except (ProcessorError, NotConfigured, TimeoutError) as error:
            log.warning("the processor could not be asked about a session", kind=type(error).__name__)
            return None


async def note_expired(offers: Collection[Offer], session_id: str) -> None:
    """Note with the offer that its session expired; one without an offer was no visitor's."""
    offer = await offers.find(session_id)
    if offer and offer.record.failed_at is None:
        failed = offer.record.change(failed_at=offers.clock.now())
        # What changed meanwhile is noted by the next reconciliation, which sees the session again.
        _ = await commit(offers.store, offers.changes(session_id, offer, failed))
