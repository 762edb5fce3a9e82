"""A completed session becomes access and notifications, in one commit, once (decision 9)."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

import structlog

from orrery.checkout import keys
from orrery.checkout.access import Action, Verdict, bought, grant, judge
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.letters import Letters
from orrery.checkout.raw_events import ERASED_EVENT, RawEvents, Receipt
from orrery.checkout.records import AccessEnd, AccessRecord, GrantedBy, Offer, Pending
from orrery.errors import RecordUnreadable, StoreUnavailable
from orrery.owner import outbox, stored
from orrery.ports.clock import Clock
from orrery.ports.processor import CheckoutSession
from orrery.ports.store import Absent, Check, Conflict, Delete, Put, Store, Unchanged, Write

KEEP_REFUSED = timedelta(days=90)
"""How long a session that may not open access is remembered: far longer than reconciliation lists it."""

_ROUNDS = 20

Result = Literal["granted", "already", "waiting", "refused", "foreign"]

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Source:
    """Why a session is looked at: a webhook event with its raw body, or another reason to grant."""

    granted_by: GrantedBy
    event_id: str | None = None
    event_body: bytes = b""
    silent: bool = False
    """Notifications are enqueued as held: they may have gone out before a restore."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a session."""

    result: Result
    reason: str = ""
    record: AccessRecord | None = None


class Fulfilment:
    """Turns completed sessions into access records."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        letters: Letters,
        raw_events: RawEvents,
        *,
        livemode: bool,
        index_key: bytes,
    ) -> None:
        self._store = store
        self._clock = clock
        self._letters = letters
        self._raw_events = raw_events
        self._livemode = livemode
        self._index_key = index_key

    async def settle(self, session: CheckoutSession, source: Source, offer: Offer | None = None) -> Outcome:
        """Grant, hold back or ignore a completed `session`; a repeat changes nothing.

        `offer` stands in when none was stored that can be read. Raises `StoreUnavailable` or `OutcomeUnknown`;
        and, with nothing written, `EventIdReused` when another event is stored under the source's id, and
        `RecordUnreadable` when a record that decides cannot be read.
        """
        try:
            return await self._settled(session, source, offer)
        except RecordUnreadable:
            # What has its access needs no other record. One that cannot be read is raised again here.
            receipt = self._raw_events.receipt(source.event_id, source.event_body)
            if already := await self._already(session, source, receipt):
                return already
            raise

    async def _settled(self, session: CheckoutSession, source: Source, offer: Offer | None) -> Outcome:
        verdict = await self.judge(session, offer)
        product = bought(session)
        # The commit's own checks tell whether another was first: an earlier event, a reconciliation, or a second
        # purchase of the same buyer. Only then is it worth looking who.
        receipt = self._raw_events.receipt(source.event_id, source.event_body)
        if verdict.action == "erased":
            return await self._already(session, source, receipt) or await self._erased(source)
        for _ in range(_ROUNDS):
            if verdict.action == "grant" and product:
                outcome = await self._grant(session, product, source, verdict, receipt)
            else:
                outcome = await self._withhold(session, source, verdict, receipt)
            if not isinstance(outcome, Conflict):
                return outcome
            receipt = await self._raw_events.receipt_after(outcome, source.event_id, source.event_body)
            if already := await self._already(session, source, receipt):
                return already
        raise StoreUnavailable("The store is too busy to settle the session; the event will come again.")

    async def judge(self, session: CheckoutSession, offer: Offer | None = None) -> Verdict:
        """Return what `settle` would do, and write nothing; raise `RecordUnreadable`."""
        if await self._store.get(keys.erased(session.id, self._index_key)):
            return Verdict("erased")
        entry = await self._store.get(keys.offer(session.id))
        known = stored.tried(Offer, entry) if entry else offer
        if not isinstance(known, RecordUnreadable):
            return judge(session, known, livemode=self._livemode)
        if offer is None:
            raise known
        verdict = judge(session, offer, livemode=self._livemode)
        return replace(verdict, notes=(*verdict.notes, "Its offer cannot be read; it was held against today's."))

    async def store_event(self, event_id: str, body: bytes) -> bool:
        """Store an event that asks for nothing; return whether it was new. Raises `EventIdReused`."""
        return await self._raw_events.keep(event_id, body)

    async def _grant(
        self,
        session: CheckoutSession,
        product: ProductKey,
        source: Source,
        verdict: Verdict,
        receipt: Receipt,
    ) -> Outcome | Conflict:
        now = self._clock.now()
        end, end_check = await self._running_end(session.email or "", product)
        record = grant(
            session, product, event_id=source.event_id, granted_by=source.granted_by, now=now, running_until=end
        )
        letters = outbox.enqueue(self._letters.sold(record, verdict.notes), now, held=source.silent)
        writes: list[Write] = [*receipt.writes, *stored_access(record, self._index_key)]
        writes += [Delete(keys.pending(session.id)), *letters]
        checks = [Absent(keys.access(session.id)), *end_check]
        outcome = await self._store.commit(writes, [*receipt.checks, *checks])
        if isinstance(outcome, Conflict):
            return outcome
        log.info("access granted", session=session.id, by=source.granted_by, event_id=source.event_id)
        return Outcome("granted", record=record)

    async def _running_end(self, email: str, product: ProductKey) -> tuple[datetime | None, list[Check]]:
        if not email:
            return None, []
        ends: list[datetime] = []
        checks: list[Check] = []
        for digest in keys.email_digests(email, self._index_key):
            key = keys.access_end(digest, product)
            entry = await self._store.get(key)
            checks.append(Unchanged(key, entry.version) if entry else Absent(key))
            ends += [stored.read(AccessEnd, entry).expires_at] if entry else []
        return max(ends, default=None), checks

    async def _withhold(
        self, session: CheckoutSession, source: Source, verdict: Verdict, receipt: Receipt
    ) -> Outcome | Conflict:
        writes, checks = [*receipt.writes], [*receipt.checks]
        if verdict.action != "foreign":
            noted, unchanged = await self._note(session.id, source, verdict)
            writes, checks = [*writes, *noted], [*checks, *unchanged, Absent(keys.access(session.id))]
        outcome = await self._store.commit(writes, checks) if writes else None
        if isinstance(outcome, Conflict):
            return outcome
        log.info("access withheld", session=session.id, action=verdict.action, reason=verdict.reason)
        return outcome_of(verdict)

    async def _note(self, session_id: str, source: Source, verdict: Verdict) -> tuple[list[Write], list[Check]]:
        key = keys.pending(session_id)
        entry = await self._store.get(key)
        # What waits is kept until it is decided, however long that takes (decision 49).
        state, keep = ("waiting", None) if verdict.action == "wait" else ("refused", KEEP_REFUSED)
        if entry and (noted := stored.read(Pending, entry)).reason == verdict.reason:
            if keep or entry.expires_at is None or noted.failed_at:
                return [], []
            # An earlier release kept it for 90 days.
            return [Put(key, noted.to_bytes())], [Unchanged(key, entry.version)]
        now = self._clock.now()
        pending = Pending(
            session_id=session_id, state=state, reason=verdict.reason, event_id=source.event_id, noted_at=now
        )
        told = outbox.enqueue([self._letters.withheld(session_id, verdict.reason)], now, held=source.silent)
        unchanged: Check = Unchanged(key, entry.version) if entry else Absent(key)
        return [Put(key, pending.to_bytes(), keep), *told], [unchanged]

    async def _already(self, session: CheckoutSession, source: Source, receipt: Receipt) -> Outcome | None:
        existing = await self._store.get(keys.access(session.id))
        if existing is None:
            return None
        record = stored.read(AccessRecord, existing)
        # A late event must not bring back the buyer whom an erasure has taken out.
        erased = bool(session.email) and not record.email
        if receipt.writes:
            _ = await self._raw_events.keep(source.event_id, ERASED_EVENT if erased else source.event_body)
        return Outcome("already", record=record)

    async def _erased(self, source: Source) -> Outcome:
        """Note that the event came, and nothing of what it says: a restore has lost the record of its session."""
        _ = await self._raw_events.keep(source.event_id, ERASED_EVENT)
        return Outcome("already")


def outcome_of(verdict: Verdict) -> Outcome:
    """Return the outcome that a verdict leads to."""
    results: dict[Action, Result] = {
        "grant": "granted",
        "wait": "waiting",
        "refuse": "refused",
        "foreign": "foreign",
        "erased": "already",
    }
    return Outcome(results[verdict.action], verdict.reason)


def stored_access(record: AccessRecord, index_key: bytes) -> list[Write]:
    """Return the writes that store a new access record with its index keys."""
    writes: list[Write] = [
        Put(keys.access(record.session_id), record.to_bytes()),
        Put(keys.access_by_time(record.granted_at, record.session_id), record.session_id.encode()),
    ]
    if record.email:
        digest = keys.email_digest(record.email, index_key)
        end = AccessEnd(expires_at=record.expires_at)
        writes += [
            Put(keys.access_by_email(digest, record.session_id), record.session_id.encode()),
            Put(keys.access_end(digest, record.product), end.to_bytes()),
        ]
    return writes
