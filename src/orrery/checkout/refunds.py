"""Refunds and disputes of charges of any age: one push each, and listed while the access runs (decision 49).

The processor keeps its events about them for 30 days. After a longer outage, and the first time, Orrery reads the
charges themselves: they say what was refunded or disputed, without a deadline.
"""

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from orrery.checkout import collections, keys
from orrery.checkout.access import bought
from orrery.checkout.letters import Letters, money
from orrery.checkout.lookup import Lookup
from orrery.checkout.records import AccessRecord, TakenBack
from orrery.errors import ItemUnreadable, ProcessorRefused, RecordUnreadable
from orrery.owner import outbox
from orrery.owner.restored import Restored
from orrery.ports.clock import Clock
from orrery.ports.processor import Charge, ChargeEvent, Dispute, ProcessorReads, split_unreadable
from orrery.ports.store import Conflict, Store
from orrery.runtime.collection import Changes, Walk, gathered

EVENTS_KEPT = timedelta(days=29)
"""How long the processor lists events (facts, The vendor: 30 days), less one day to be safe."""

BEFORE_THE_SALE = timedelta(days=2)
"""A charge is made within a day of its session, and its access is granted after that."""

Revoke = Callable[[str, str], Awaitable[tuple[Changes, list[AccessRecord]]]]
"""Returns the changes that revoke a session's access for a reason, and the records that end earlier."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Finding:
    """One session that does not add up, without personal data; `reason` in a few words."""

    session_id: str
    reason: str


@dataclass(slots=True)
class TakenBackReport:
    """What is known of refunds and disputes of sessions whose access runs, and what could not be read."""

    without_payment: list[Finding] = field(default_factory=list[Finding])
    partly_refunded: list[Finding] = field(default_factory=list[Finding])
    unreadable: list[RecordUnreadable | ItemUnreadable] = field(
        default_factory=list["RecordUnreadable | ItemUnreadable"]
    )


@dataclass(frozen=True, slots=True)
class Look:
    """How far back is looked, and whether something is noted and told. `charges`: not only at events."""

    since: datetime
    charges: bool
    dry_run: bool
    restored: Restored | None

    def held(self, at: datetime) -> bool:
        """Return whether what happened then may have been told before a restore."""
        return self.restored is not None and self.restored.may_have_notified(at)


class Refunds:
    """Learns of refunds and disputes from the processor."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        reads: ProcessorReads,
        lookup: Lookup,
        letters: Letters,
        revoke: Revoke | None,
    ) -> None:
        """`revoke` is set where access ends with a full refund (`checkout.revoke_on_refund`)."""
        self._store = store
        self._clock = clock
        self._reads = reads
        self._lookup = lookup
        self._letters = letters
        self._revoke = revoke
        self._taken_back = collections.taken_back(store, clock)

    async def look(self, look: Look) -> TakenBackReport:
        """Note and tell what is new; return what is known. Raises the processor's and the store's errors."""
        report, known = TakenBackReport(), dict[str, TakenBack]()
        by_payment, report.unreadable = await self._happened(look)
        for payment, events in by_payment.items():
            try:
                known[payment] = await self._learn(payment, events, look)
            except (RecordUnreadable, ItemUnreadable) as error:
                report.unreadable.append(error)
        await self._list(known, report)
        return report

    async def _happened(
        self, look: Look
    ) -> tuple[dict[str, list[ChargeEvent]], list[RecordUnreadable | ItemUnreadable]]:
        """Return what happened to each payment, the oldest first; charges, which tell less, after all events."""
        events, unread = split_unreadable([one async for one in self._reads.list_charge_events(look.since)])
        charges: list[ChargeEvent] = []
        if look.charges:
            oldest = await self._oldest_sale(look.since)
            charges, unread_too = split_unreadable([one async for one in self._charges(oldest)])
            unread += unread_too
        by_payment: dict[str, list[ChargeEvent]] = {}
        for event in (*events[::-1], *charges[::-1]):
            if payment := event.subject.payment_intent:
                by_payment.setdefault(payment, []).append(event)
        return by_payment, [*unread]

    async def _charges(self, since: datetime) -> AsyncIterator[ChargeEvent | ItemUnreadable]:
        async for charge in self._reads.list_charges(since):
            if isinstance(charge, ItemUnreadable):
                yield charge
            elif charge.amount_refunded or charge.disputed:
                yield ChargeEvent(charge.created, charge)

    async def _oldest_sale(self, since: datetime) -> datetime:
        oldest = await gathered(self._lookup.records.indexed(Walk(keys.ACCESS_BY_TIME, 1)))
        return min([since, *(one.granted_at - BEFORE_THE_SALE for one in oldest.values())])

    async def _learn(self, payment: str, events: Sequence[ChargeEvent], look: Look) -> TakenBack:
        """Return what is known of a payment after these events; note and tell it where it is new."""
        found = await self._taken_back.get(payment)
        before = found.record if found else await self._new(payment, events[0].subject)
        after = functools.reduce(_after, events, before)
        if not look.dry_run and (found is None or after != before):
            noted = self._taken_back.changes(payment, found, after)
            await self._note(before, after, noted, held=look.held(events[-1].created))
        return after

    async def _new(self, payment: str, subject: Charge | Dispute) -> TakenBack:
        return TakenBack(
            payment_intent=payment,
            session_id=await self._session_of(payment),
            charge_id=subject.charge if isinstance(subject, Dispute) else subject.id,
            currency=subject.currency,
        )

    async def _session_of(self, payment_intent: str) -> str | None:
        """Return our session that made a payment, or None when it is none of ours."""
        try:
            found = [one async for one in self._reads.list_sessions(payment_intent=payment_intent)]
        except ProcessorRefused:
            return None
        sessions, unread = split_unreadable(found)
        if unread:
            raise unread[0]
        return next((one.id for one in sessions if bought(one)), None)

    async def _note(self, before: TakenBack, after: TakenBack, changes: Changes, *, held: bool) -> None:
        drafts = list[outbox.Draft]()
        if after.session_id:
            record = await self._lookup.record(after.session_id)
            runs = record is not None and record.runs_at(self._clock.now())
            shorter: int | None = None
            if self._revoke and runs and after.refunded and not before.refunded:
                reason = f"refunded in full: {after.charge_id}"
                revocation, shortened = await self._revoke(after.session_id, reason)
                changes, shorter = changes + revocation, len(shortened)
            drafts = self._told(before, after, after.session_id, runs=runs, shorter=shorter)
        for _ in range(2):
            told = Changes(outbox.enqueue(drafts, self._clock.now(), held=held), outbox.unseen(drafts))
            whole = changes + told
            outcome = await self._store.commit(whole.writes, whole.checks)
            if not isinstance(outcome, Conflict):
                return
            # An earlier release told of refunds without noting them: that is not told again.
            drafts = [one for one in drafts if outbox.unseen([one])[0].key not in outcome.keys]
        # It is seen again at the next look.
        log.info("a refund or dispute changed meanwhile", charge=after.charge_id)

    def _told(
        self, before: TakenBack, after: TakenBack, session_id: str, *, runs: bool, shorter: int | None
    ) -> list[outbox.Draft]:
        drafts: list[outbox.Draft] = []
        if after.decided and not before.decided:
            drafts.append(self._letters.dispute_decided(after, session_id, runs=runs))
        elif after.dispute and not (before.dispute and before.dispute_id in (None, after.dispute_id)):
            drafts.append(self._letters.disputed(after, session_id))
        if runs and after.refunded and not before.refunded:
            drafts.append(self._letters.refunded(after, session_id, shorter))
        return drafts

    async def _list(self, known: dict[str, TakenBack], report: TakenBackReport) -> None:
        """List what is stored, and what a dry run has learned beside it."""
        everything = await self._taken_back.all()
        report.unreadable += everything.unreadable
        for taken in ({one.payment_intent: one for one in everything.values()} | known).values():
            try:
                record = await self._lookup.record(taken.session_id) if taken.session_id else None
            except RecordUnreadable as error:
                report.unreadable.append(error)
                continue
            if record and record.runs_at(self._clock.now()):
                _list_one(record.session_id, taken, report)


def _after(before: TakenBack, event: ChargeEvent) -> TakenBack:
    subject = event.subject
    if isinstance(subject, Dispute):
        if before.dispute_at and event.created < before.dispute_at:
            return before
        if before.decided and before.dispute_id == subject.id:
            return before
        return before.change(
            dispute=subject.status,
            dispute_id=subject.id,
            dispute_at=event.created,
            respond_by=subject.respond_by,
        )
    return before.change(
        charge_id=subject.id,
        amount=subject.amount,
        amount_refunded=max(before.amount_refunded, subject.amount_refunded),
        dispute=before.dispute or ("disputed" if subject.disputed else None),
    )


def _list_one(session_id: str, taken: TakenBack, report: TakenBackReport) -> None:
    if taken.contested:
        lost = "the dispute of charge {} was lost" if taken.decided else "charge {} is disputed"
        report.without_payment.append(Finding(session_id, lost.format(taken.charge_id) + _deadline(taken)))
    elif taken.refunded:
        report.without_payment.append(Finding(session_id, f"charge {taken.charge_id} was refunded"))
    elif taken.amount_refunded and taken.amount is not None:
        part, whole = (money(one, taken.currency) for one in (taken.amount_refunded, taken.amount))
        report.partly_refunded.append(Finding(session_id, f"{part} of {whole} of charge {taken.charge_id}"))


def _deadline(taken: TakenBack) -> str:
    return "" if taken.decided or not taken.respond_by else f", answer by {taken.respond_by:%Y-%m-%d %H:%M} UTC"
