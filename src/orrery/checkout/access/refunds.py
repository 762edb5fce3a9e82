"""Refunds and disputes of charges of any age: one push each, and listed while the access runs (decision 49).

The processor keeps its events about them for 30 days. After a longer outage, and the first time, Orrery reads the
charges themselves: they say what was refunded or disputed, without a deadline.
"""

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from orrery.checkout.access.lookup import Lookup
from orrery.checkout.access.notifications import Notifications
from orrery.checkout.access.report import DISPUTE, ReconciliationReport
from orrery.checkout.access.rules import bought
from orrery.checkout.collections import ACCESS_BY_TIME, CheckoutRecords
from orrery.checkout.disputes import PaymentDispute
from orrery.checkout.records import AccessRecord, LastReconciliation, RefundedTotal, Reversal, StoredDiscrepancy
from orrery.errors import RecordUnreadable
from orrery.logs import log
from orrery.ports.health import ACT_TODAY, URGENT, Concern, Finding, magnitudes
from orrery.ports.processor import Charge, ChargeEvent, Dispute, ItemUnreadable, ProcessorReads
from orrery.ports.store import Committed
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, Walk, gathered
from orrery.runtime.restored import Restored, held_after
from orrery.syntax.email_address import masked
from orrery.syntax.money import money

EVENTS_KEPT = timedelta(days=29)
"""How long the processor lists events (facts, The vendor: 30 days), less one day to be safe."""

_ANSWER = "Answer in the processor's dashboard: a dispute without an answer is lost."

BEFORE_THE_SALE = timedelta(days=2)
"""A charge is made within a day of its session, and its access is granted after that."""

Revoke = Callable[[str, str, Reversal], Awaitable[tuple[Changes, list[AccessRecord]]]]
"""Returns the changes that revoke a session's access for a reason, and the records that end earlier."""


class Refunds:
    """Reads refunds and disputes from the processor, stores them, and notifies the owner."""

    def __init__(
        self,
        stored: CheckoutRecords,
        reads: ProcessorReads,
        lookup: Lookup,
        notifications: Notifications,
        revoke: Revoke | None,
    ) -> None:
        """`revoke` is set where access ends with a full refund (`checkout.revoke_on_refund`)."""
        self._stored = stored
        self._reads = reads
        self._lookup = lookup
        self._notifications = notifications
        self._revoke = revoke

    async def update(
        self, report: ReconciliationReport, since: datetime, restored: Restored | None, *, charges: bool
    ) -> None:
        """Store and report new ones, and list all; with `charges` the charges are read, not only the events.

        Raises the processor's and the store's errors.
        """
        known = dict[str, Reversal]()
        for payment, events in (await self._happened(report, since, charges=charges)).items():
            held_because = held_after(restored, events[-1].created)
            try:
                known[payment] = await self._learn(payment, events, held_because, dry_run=report.dry_run)
            except (RecordUnreadable, ItemUnreadable) as error:
                report.leave_out(error)
        await self._list(known, report)

    async def open_disputes(self, last: LastReconciliation) -> list[Finding]:
        """Return a finding for each dispute that was open when the last reconciliation ran."""
        found = [await self._open_dispute(one) for one in last.disputes]
        if last.more_disputes:
            why = f"{last.more_disputes} more are open."
            found.append(
                Finding(
                    f"{DISPUTE}more",
                    "broken",
                    why,
                    f"{_ANSWER} `orrery sales --list` lists all.",
                    essential=False,
                    severity=URGENT,
                    items=magnitudes("more", last.more_disputes),
                )
            )
        return found

    async def _open_dispute(self, dispute: StoredDiscrepancy) -> Finding:
        try:
            record = await self._lookup.record(dispute.session_id)
        except RecordUnreadable:
            record = None
        concern = Concern(
            product=record.product.name if record else "",
            amount=dispute.amount,
            currency=dispute.currency,
            address=masked(record.email) if record and record.email else "",
            link=self._page(dispute.payment, record),
        )
        return Finding(
            f"{DISPUTE}{dispute.item or dispute.session_id}",
            "broken",
            f"Open: {dispute.reason}.",
            f"{_ANSWER} Whose it is: `orrery access show {dispute.session_id}`.",
            essential=False,
            settled=True,
            severity=ACT_TODAY if dispute.inquiry else URGENT,
            items=(dispute.reason,),  # it has the deadline: another one is a change
            concern=concern,
        )

    def _page(self, payment: str, record: AccessRecord | None) -> str:
        live = record is not None and record.livemode
        return (payment and self._reads.page_of_payment(payment, livemode=live)) or ""

    async def _happened(
        self, report: ReconciliationReport, since: datetime, *, charges: bool
    ) -> dict[str, list[ChargeEvent]]:
        """Return the events of each payment, the oldest first; charges, which say less, after all events."""
        events = [one async for one in self._reads.list_charge_events(since)]
        of_charges = [one async for one in self._charges(await self._oldest_sale(since))] if charges else []
        by_payment: dict[str, list[ChargeEvent]] = {}
        for event in (*events[::-1], *of_charges[::-1]):
            if isinstance(event, ItemUnreadable):
                report.leave_out(event)
            elif payment := event.subject.payment_intent:
                by_payment.setdefault(payment, []).append(event)
        return by_payment

    async def _charges(self, since: datetime) -> AsyncIterator[ChargeEvent | ItemUnreadable]:
        async for charge in self._reads.list_charges(since):
            if isinstance(charge, ItemUnreadable):
                yield charge
            elif charge.amount_refunded or charge.disputed:
                yield ChargeEvent(charge.created, charge, reported=False)

    async def _oldest_sale(self, since: datetime) -> datetime:
        oldest = await gathered(self._stored.access.indexed(Walk(ACCESS_BY_TIME, 1)))
        return min([since, *(one.granted_at - BEFORE_THE_SALE for one in oldest.values())])

    async def _learn(
        self, payment: str, events: Sequence[ChargeEvent], held_because: str, *, dry_run: bool
    ) -> Reversal:
        """Return the reversal of a payment after these events; store and report it when it is new."""
        found = await self._stored.reversals.get(payment)
        before = found.record if found else await self._new(payment, events[0].subject)
        after = functools.reduce(_after, events, before)
        if not dry_run and (found is None or after != before):
            await self._note(before, after, self._stored.reversals.changes(payment, found, after), held_because)
        return after

    async def _new(self, payment: str, subject: Charge | Dispute) -> Reversal:
        return Reversal(
            payment_intent=payment,
            session_id=await self._session_of(payment),
            charge_id=subject.charge if isinstance(subject, Dispute) else subject.id,
            currency=subject.currency,
        )

    async def _session_of(self, payment_intent: str) -> str | None:
        """Return our session that made a payment, or None when it is none of ours."""
        sessions, unread = await self._lookup.sessions_of(payment_intent)
        if unread:
            raise unread[0]
        return next((one.id for one in sessions if bought(one)), None)

    async def _note(self, before: Reversal, after: Reversal, changes: Changes, held_because: str) -> None:
        drafts = list[outbox.OutboxDraft]()
        if after.session_id:
            record = await self._lookup.record(after.session_id)
            runs = record is not None and record.runs_at(self._stored.clock.now())
            shorter: int | None = None
            if self._revoke and runs and after.refunded and not before.refunded:
                reason = f"refunded in full: {after.charge_id}"
                revocation, shortened = await self._revoke(after.session_id, reason, after)
                changes, shorter = changes + revocation, len(shortened)
            drafts = self._drafts(before, after, after.session_id, runs=runs, shorter=shorter)
        # An earlier release notified of refunds without storing them: there is no second push.
        outcome = await outbox.commit_with(
            self._stored.store, changes, drafts, self._stored.clock.now(), held_because=held_because
        )
        if isinstance(outcome, Committed):
            return
        # It is seen again at the next look.
        log.info("a refund or dispute changed meanwhile", charge=after.charge_id)

    def _drafts(
        self, before: Reversal, after: Reversal, session_id: str, *, runs: bool, shorter: int | None
    ) -> list[outbox.OutboxDraft]:
        drafts: list[outbox.OutboxDraft] = []
        known = {one.dispute_id: one for one in before.every_dispute}
        for one in after.every_dispute:
            was = known.get(one.dispute_id) or known.get(None)
            if one.is_decided and not (was and was.is_decided):
                if not (runs and one.takes_money):
                    drafts.append(self._notifications.dispute_decided(after, one, session_id))
            elif not one.is_decided and not one.dispute_id and was is None:
                drafts.append(self._notifications.disputed(after, session_id))
        if shorter is not None:
            drafts.append(self._notifications.refunded(after, session_id, shorter))
        return drafts

    async def _list(self, known: dict[str, Reversal], report: ReconciliationReport) -> None:
        """Add the stored reversals to the report, and those that a dry run has found."""
        everything = await self._stored.reversals.all()
        report.leave_out(*everything.unreadable)
        for reversal in ({one.payment_intent: one for one in everything.values()} | known).values():
            try:
                record = await self._lookup.record(reversal.session_id) if reversal.session_id else None
            except RecordUnreadable as error:
                report.leave_out(error)
                continue
            # Where only the charge was read, whether its dispute is over is not known.
            is_open = [one for one in reversal.every_dispute if one.dispute_id and not one.is_decided]
            if reversal.session_id:
                report.disputes += [_open_dispute(reversal.session_id, one, reversal) for one in is_open]
            if record and record.runs_at(self._stored.clock.now()) and not reversal.access_stays:
                _list_one(record.session_id, reversal, report)


def _after(before: Reversal, event: ChargeEvent) -> Reversal:
    subject = event.subject
    if isinstance(subject, Dispute):
        known = {one.dispute_id: one for one in before.every_dispute if one.dispute_id}
        known[subject.id] = _dispute_after(known.get(subject.id), event.created, subject)
        return _of_latest_dispute(before, event.created, subject).change(disputes=tuple(known.values()))
    total = RefundedTotal(at=event.created, total=subject.amount_refunded)
    added = (total,) if event.reported and total not in before.refunds else ()
    dated = max((one.total for one in before.refunds), default=0)
    undated = before.amount_refunded if before.amount_refunded > dated else before.undated_refunds
    return before.change(
        charge_id=subject.id,
        amount=subject.amount,
        amount_refunded=max(before.amount_refunded, subject.amount_refunded),
        dispute=before.dispute or ("disputed" if subject.disputed else None),
        refunds=tuple(sorted((*before.refunds, *added), key=lambda one: (one.at, one.total))),
        undated_refunds=undated,
    )


def _of_latest_dispute(before: Reversal, at: datetime, subject: Dispute) -> Reversal:
    if before.dispute_at and at < before.dispute_at:
        return before
    is_decided = any(one.is_decided for one in before.every_dispute if one.dispute_id == subject.id)
    if is_decided and before.dispute_id == subject.id:
        return before
    return before.change(
        dispute=subject.status, dispute_id=subject.id, dispute_at=at, respond_by=subject.respond_by
    )


def _dispute_after(before: PaymentDispute | None, at: datetime, subject: Dispute) -> PaymentDispute:
    """Return a dispute after one of its events, in whatever order these are read."""
    after = PaymentDispute(
        dispute_id=subject.id,
        status=subject.status,
        changed_at=at,
        amount=subject.amount,
        currency=subject.currency,
        respond_by=subject.respond_by,
    )
    taken_at = before.taken_at if before else None
    if after.takes_money and not after.is_decided:
        taken_at = min(at, taken_at or at)
    if before and (before.is_decided or (before.changed_at or at) > at):
        return before.change(taken_at=taken_at)
    return after.change(taken_at=taken_at)


def _list_one(session_id: str, reversal: Reversal, report: ReconciliationReport) -> None:
    if contested := [one for one in reversal.every_dispute if one.takes_money]:
        report.access_without_payment += [
            _listed(session_id, _named(one, reversal), "" if one.is_decided else one.dispute_id)
            for one in contested
        ]
    elif reversal.refunded:
        report.access_without_payment.append(_listed(session_id, f"charge {reversal.charge_id} was refunded"))
    elif reversal.amount_refunded and reversal.amount is not None:
        part, whole = (money(one, reversal.currency) for one in (reversal.amount_refunded, reversal.amount))
        report.partly_refunded.append(_listed(session_id, f"{part} of {whole} of charge {reversal.charge_id}"))


def _listed(session_id: str, why: str, dispute_id: str | None = None) -> StoredDiscrepancy:
    return StoredDiscrepancy(session_id=session_id, reason=why, item=dispute_id or "")


def _open_dispute(session_id: str, dispute: PaymentDispute, reversal: Reversal) -> StoredDiscrepancy:
    return StoredDiscrepancy(
        session_id=session_id,
        reason=_named(dispute, reversal),
        item=dispute.dispute_id or reversal.charge_id,
        amount=dispute.amount,
        currency=dispute.currency,
        payment=reversal.payment_intent,
        inquiry=not dispute.takes_money,
    )


def _named(dispute: PaymentDispute, reversal: Reversal) -> str:
    if dispute.is_decided:
        return f"the dispute of charge {reversal.charge_id} was lost"
    until = f", answer by {dispute.respond_by:%Y-%m-%d %H:%M} UTC" if dispute.respond_by else ""
    return f"charge {reversal.charge_id} is {'disputed' if dispute.takes_money else 'asked about'}{until}"
