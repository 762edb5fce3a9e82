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

from orrery.checkout import collections
from orrery.checkout.access.lookup import Lookup
from orrery.checkout.access.notifications import Notifications
from orrery.checkout.access.rules import bought
from orrery.errors import ItemUnreadable, NotConfigured, NotFound, ProcessorError, RecordUnreadable
from orrery.ports.clock import Clock
from orrery.ports.processor import CheckoutSession, Processor, SessionStatus
from orrery.ports.store import Store
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, commit

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

StateName = Literal["open", "pending", "granted", "ended", "failed"]

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class SessionState:
    """A session's state without personal data, for the success page.

    `open`: not completed. `pending`: completed and not granted, or not known, since the processor cannot be asked.
    `failed`: expired, or the payment failed: nothing was taken. `expires_at` is set for `granted` and `ended`.
    """

    state: StateName
    expires_at: datetime | None = None


_AT_THE_PROCESSOR: dict[SessionStatus, StateName] = {"open": "open", "complete": "pending", "expired": "failed"}


class SessionStates:
    """Finds the states of sessions, and stores which failed."""

    def __init__(
        self, store: Store, clock: Clock, processor: Processor, lookup: Lookup, notifications: Notifications
    ) -> None:
        self._store = store
        self._clock = clock
        self._processor = processor
        self._lookup = lookup
        self._offers = collections.offers(store, clock)
        self._pending = collections.pending_sessions(store, clock)
        self._last = collections.reconciled(store, clock)
        self._notifications = notifications
        self._known: dict[str, tuple[float, StateName]] = {}
        self._under_way = 0

    async def of(self, session_id: str) -> SessionState:
        """Return the state of one session; raise `NotFound` (we never created it) and `RecordUnreadable`."""
        if record := await self._lookup.record(session_id):
            state: StateName = "granted" if record.runs_at(self._clock.now()) else "ended"
            return SessionState(state, record.revoked_at or record.expires_at)
        try:
            if noted := await self._pending.get(session_id):
                return SessionState("failed" if noted.record.failed_at else "pending")
        except RecordUnreadable:
            return SessionState("pending")
        with suppress(RecordUnreadable):  # the processor knows as well
            offer = await self._offers.get(session_id)
            if offer is None:
                raise NotFound("There is no such session.")
            if offer.record.failed_at:
                return SessionState("failed")
        return SessionState(await self._at_the_processor(session_id))

    async def note_expired(self, start: datetime) -> list[ItemUnreadable]:
        """Note which sessions of ours expired since the last reconciliation, or since `start` without one.

        Return what of them cannot be read.
        """
        unread: list[ItemUnreadable] = []
        last = await self._last.find()
        since = last.record.at - LONGEST_SESSION if last else start
        async for session in self._processor.list_expired_sessions(since):
            if isinstance(session, ItemUnreadable):
                unread.append(session)
                continue
            offer = await self._offers.find(session.id)
            if offer and offer.record.failed_at is None:
                failed = offer.record.change(failed_at=self._clock.now())
                # What changed meanwhile is noted by the next reconciliation, which sees the session again.
                _ = await commit(self._store, self._offers.changes(session.id, offer, failed))
        return unread

    async def payment_failed(self, session: CheckoutSession, *, dry_run: bool = False, held: bool = False) -> bool:
        """Return whether the outstanding payment of a completed session failed; store and report it once.

        `held`: the notification is held back, since it may have gone out before a restore.
        """
        noted = await self._pending.find(session.id)
        if noted and noted.record.failed_at:
            return True
        if not session.payment_intent or not await self._newest_charge_failed(session.payment_intent):
            return False
        if noted and not dry_run:
            now = self._clock.now()
            enqueued = outbox.enqueue(
                [self._notifications.payment_failed(session.id, bought(session))], now, held=held
            )
            failed = self._pending.changes(session.id, noted, noted.record.change(failed_at=now))
            # After a conflict the next reconciliation stores and reports it.
            _ = await commit(self._store, failed + Changes(enqueued))
        return True

    async def _newest_charge_failed(self, payment_intent: str) -> bool:
        async for charge in self._processor.list_charges_of(payment_intent):
            return not isinstance(charge, ItemUnreadable) and charge.status == "failed"
        return False

    async def _at_the_processor(self, session_id: str) -> StateName:
        now = self._clock.monotonic()
        self._forget(now)
        if known := self._known.get(session_id):
            return known[1]
        if self._under_way == AT_ONCE or len(self._known) == MOST:
            return "pending"
        self._known[session_id] = now, "pending"  # for pages of this session that ask meanwhile
        self._under_way += 1
        try:
            state = await self._read_state(session_id)
        finally:
            self._under_way -= 1
        self._known[session_id] = now, state
        return state

    def _forget(self, now: float) -> None:
        while self._known and now - next(iter(self._known.values()))[0] >= EVERY.total_seconds():
            del self._known[next(iter(self._known))]

    async def _read_state(self, session_id: str) -> StateName:
        try:
            async with asyncio.timeout(DEADLINE):
                session = await self._processor.get_session(session_id)
        except (ProcessorError, NotConfigured, TimeoutError) as error:
            log.warning("a success page could not ask the processor", kind=type(error).__name__)
            return "pending"
        return _AT_THE_PROCESSOR[session.status]
