"""A completed session becomes access and notifications, in one commit, once (decision 9)."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import structlog

from orrery.checkout import keys
from orrery.checkout.access.notifications import Notifications
from orrery.checkout.access.raw_events import RawEvent, RawEvents
from orrery.checkout.access.rules import AccessVerdict, VerdictAction, bought, grant, judge
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import AccessEnd, AccessRecord, GrantedBy, Offer, WithheldSession
from orrery.errors import RecordUnreadable
from orrery.ports.processor import CheckoutSession
from orrery.ports.store import Absent, Check, Conflict, Delete, Write
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, compare_and_set

FulfilmentResult = Literal["granted", "already", "waiting", "refused", "foreign"]

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class FulfilmentSource:
    """What made Orrery handle a session: a webhook event with its raw body, a reconciliation, or the owner."""

    granted_by: GrantedBy
    event: RawEvent | None = None
    livemode: bool | None = None
    """The event's."""
    held_because: str = ""
    """Why notifications are held back: they may have been sent before."""
    is_unknown: bool = False
    """Another store made the session: that this one withholds access is news all the same."""

    @property
    def event_id(self) -> str | None:
        """Return the id of the event, if one reports the session."""
        return self.event.id if self.event else None


@dataclass(frozen=True, slots=True)
class FulfilmentOutcome:
    """The result for one session."""

    result: FulfilmentResult
    reason: str = ""
    record: AccessRecord | None = None


class Fulfilment:
    """Turns completed sessions into access records."""

    def __init__(
        self,
        stored: CheckoutRecords,
        notifications: Notifications,
        raw_events: RawEvents,
        *,
        livemode: bool,
    ) -> None:
        self._stored = stored
        self._notifications = notifications
        self._raw_events = raw_events
        self._livemode = livemode

    async def settle(
        self, session: CheckoutSession, source: FulfilmentSource, offer: Offer | None = None
    ) -> FulfilmentOutcome:
        """Grant, hold back or ignore a completed `session`; a repeat changes nothing.

        `offer` replaces a stored offer that is missing or unreadable. Raises `StoreUnavailable` or
        `OutcomeUnknown`; and, with nothing written, `EventIdReused` when another event is stored under the
        source's id, and `RecordUnreadable` when a record that decides cannot be read.
        """
        try:
            return await self._settle_once(session, source, offer)
        except RecordUnreadable:
            # A session with access needs no other record. An unreadable one is raised again here.
            event_writes = self._raw_events.writes_of(source.event)
            if already := await self._already(session, source, event_writes):
                return already
            raise

    async def _settle_once(
        self, session: CheckoutSession, source: FulfilmentSource, offer: Offer | None
    ) -> FulfilmentOutcome:
        verdict = await self.judge(session, offer, of_event=source.livemode)
        product = bought(session)
        # The commit's own checks show whether another was first: an earlier event, a reconciliation, or a second
        # purchase of the same buyer. Only then the cause is read.
        event_writes = self._raw_events.writes_of(source.event)
        if verdict.action == "erased":
            return await self._already(session, source, event_writes) or await self._erased(source)

        async def attempt() -> FulfilmentOutcome | Conflict:
            nonlocal event_writes
            if verdict.action == "grant" and product:
                outcome = await self._grant(session, product, source, verdict, event_writes)
            else:
                outcome = await self._withhold(session, source, verdict, event_writes)
            if not isinstance(outcome, Conflict):
                return outcome
            event_writes = await self._raw_events.writes_after(outcome, source.event)
            return await self._already(session, source, event_writes) or outcome

        return await compare_and_set(
            attempt, "The store is too busy to settle the session; the event will come again."
        )

    async def judge(
        self, session: CheckoutSession, offer: Offer | None = None, *, of_event: bool | None = None
    ) -> AccessVerdict:
        """Return what `settle` would do, and write nothing; raise `RecordUnreadable`.

        `of_event` is the livemode of the event, if one reports the session.
        """
        if await self._stored.erased.entry(keys.erasure_id(session.id, self._stored.index_key)):
            return AccessVerdict("erased")
        try:
            known = await self._stored.offers.get(session.id)
            return judge(session, known.record if known else offer, livemode=self._livemode, of_event=of_event)
        except RecordUnreadable:
            if offer is None:
                raise
        verdict = judge(session, offer, livemode=self._livemode, of_event=of_event)
        return replace(verdict, notes=(*verdict.notes, "Its offer cannot be read; it was held against today's."))

    async def _grant(
        self,
        session: CheckoutSession,
        product: ProductKey,
        source: FulfilmentSource,
        verdict: AccessVerdict,
        event_writes: Changes,
    ) -> FulfilmentOutcome | Conflict:
        now = self._stored.clock.now()
        end, end_check = await self._running_end(session.email or "", product)
        record = grant(
            session,
            product,
            event_id=source.event_id,
            granted_by=source.granted_by,
            now=now,
            running_until=end,
            title=verdict.title or self._notifications.catalogue.title_of(product),
        )
        writes: list[Write] = [Delete(self._stored.pending.key(session.id))]
        if record.email:
            writes.append(self._stored.ends.put(AccessEnd(expires_at=record.expires_at), self._end_id(record)))
        changes = event_writes + self._stored.access.changes(session.id, None, record) + Changes(writes, end_check)
        outcome = await outbox.commit_with(
            self._stored.store,
            changes,
            self._notifications.sold(record, verdict.notes),
            now,
            held_because=source.held_because,
        )
        if isinstance(outcome, Conflict):
            return outcome
        log.info("access granted", session=session.id, by=source.granted_by, event_id=source.event_id)
        return FulfilmentOutcome("granted", record=record)

    async def _running_end(self, email: str, product: ProductKey) -> tuple[datetime | None, list[Check]]:
        if not email:
            return None, []
        ends: list[datetime] = []
        checks: list[Check] = []
        for digest in keys.email_digests(email, self._stored.index_key):
            end_id = keys.buyer_and_product(digest, product)
            found = await self._stored.ends.get(end_id)
            checks.append(self._stored.ends.as_read(end_id, found))
            ends += [found.record.expires_at] if found else []
        return max(ends, default=None), checks

    def _end_id(self, record: AccessRecord) -> str:
        return keys.buyer_and_product(keys.email_digest(record.email, self._stored.index_key), record.product)

    async def _withhold(
        self, session: CheckoutSession, source: FulfilmentSource, verdict: AccessVerdict, event_writes: Changes
    ) -> FulfilmentOutcome | Conflict:
        changes, drafts = event_writes, list[outbox.OutboxDraft]()
        if verdict.action != "foreign":
            noted, drafts = await self._note(session.id, source, verdict)
            changes += noted + Changes(checks=[Absent(self._stored.access.key(session.id))])
        if changes.writes:
            outcome = await outbox.commit_with(
                self._stored.store,
                changes,
                drafts,
                self._stored.clock.now(),
                held_because="" if source.is_unknown else source.held_because,
            )
            if isinstance(outcome, Conflict):
                return outcome
        log.info("access withheld", session=session.id, action=verdict.action, reason=verdict.reason)
        return outcome_of(verdict)

    async def _note(
        self, session_id: str, source: FulfilmentSource, verdict: AccessVerdict
    ) -> tuple[Changes, list[outbox.OutboxDraft]]:
        """Return what notes a session without access, and the push about it if that is new."""
        found, now = await self._stored.pending.get(session_id), self._stored.clock.now()
        state = "waiting" if verdict.action == "wait" else "refused"
        if found and found.record.reason == verdict.reason:
            if state == "refused" or found.expires_at is None or found.record.failed_at:
                return Changes(), []
            # An earlier release kept it for 90 days. The wait is kept until it is decided (decision 49).
            return self._stored.pending.changes(session_id, found, found.record, renewed=True), []
        pending = WithheldSession(
            session_id=session_id, state=state, reason=verdict.reason, event_id=source.event_id, noted_at=now
        )
        push = self._notifications.withheld(session_id, verdict.reason)
        return self._stored.pending.changes(session_id, found, pending), [push]

    async def _already(
        self, session: CheckoutSession, source: FulfilmentSource, event_writes: Changes
    ) -> FulfilmentOutcome | None:
        found = await self._stored.access.get(session.id)
        if found is None:
            return None
        record = found.record
        # A late event must not bring back the buyer whom an erasure has taken out.
        erased = bool(session.email) and not record.email
        if event_writes.writes and source.event:
            _ = await self._raw_events.keep(source.event.erased if erased else source.event)
        return FulfilmentOutcome("already", record=record)

    async def _erased(self, source: FulfilmentSource) -> FulfilmentOutcome:
        """Note that the event came, without its content: a restore has lost the record of its session."""
        _ = await self._raw_events.keep(source.event.erased if source.event else None)
        return FulfilmentOutcome("already")


def outcome_of(verdict: AccessVerdict) -> FulfilmentOutcome:
    results: dict[VerdictAction, FulfilmentResult] = {
        "grant": "granted",
        "wait": "waiting",
        "refuse": "refused",
        "foreign": "foreign",
        "erased": "already",
    }
    return FulfilmentOutcome(results[verdict.action], verdict.reason)
