"""Reconciliation: grants access that a lost webhook missed, lists sessions that do not add up (decision 13)."""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from orrery.checkout.access.fulfilment import Fulfilment, FulfilmentSource
from orrery.checkout.access.lookup import SessionStates
from orrery.checkout.access.outages import ANOTHER_STORE, SessionOrigin, UnknownSalesWatch
from orrery.checkout.access.refunds import EVENTS_KEPT, Refunds, ReversalSearch
from orrery.checkout.access.rules import AccessVerdict, bought
from orrery.checkout.catalogue import Catalogue
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import LastReconciliation, Offer, StoredDiscrepancy
from orrery.errors import RecordUnreadable, StoreError
from orrery.logs import log
from orrery.ports.panels import Panel, utc_text
from orrery.ports.processor import CheckoutSession, Processor
from orrery.ports.processor.errors import ItemUnreadable, ProcessorError, ProcessorRefused
from orrery.runtime import outbox
from orrery.runtime.collection import write
from orrery.runtime.lasting import push
from orrery.runtime.restored import NOT_KNOWN, Restored, last_restore

WINDOW = timedelta(days=30)
"""How far back completed sessions are read at least; after an outage, back to the last success (decision 49)."""

LONGEST_ACCESS = timedelta(days=366)
"""The same at the first start of a store, and while it does not know of sales: as far as access runs."""

EVERY = timedelta(minutes=15)
"""How often the workers reconcile (decision 13)."""

LATE = timedelta(hours=1)
"""A last reconciliation this long ago needs attention."""

LOOK_SECONDS = 3.0
"""How long the start waits for the processor's list of sales."""

MOST_KEPT = 50
"""How many sessions of each kind that do not add up the owner's page shows; the command lists them all."""

_LONGEST_SESSION = timedelta(days=2)
"""A session is completed within a day of its creation; sessions that were noted later are in the listing."""

ProgressCallback = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class UnreadableObject:
    """An object of the processor's that is not as documented."""

    kind: str
    id: str | None
    fields: tuple[str, ...]

    def error(self) -> ItemUnreadable:
        return ItemUnreadable(self.kind, self.id, self.fields)


@dataclass(slots=True)
class ReconciliationReport:
    """The result of a reconciliation. In a dry run `granted` is what would have been granted.

    `unreadable` are records that cannot be read, each once. Their sessions are left out; or, where it is unknown
    which notifications were sent before a restore, the notifications are held back. `unread` are objects of the
    processor that cannot be read. `unknown` counts the sessions that another store sold and this one
    did not know, `left_unknown` those of them that are paid and cannot be granted.
    """

    dry_run: bool
    examined: int = 0
    foreign: int = 0
    with_access: int = 0
    granted: list[str] = field(default_factory=list[str])
    held_notifications: int = 0
    unknown: int = 0
    left_unknown: int = 0
    paid_without_access: list[StoredDiscrepancy] = field(default_factory=list[StoredDiscrepancy])
    partly_refunded: list[StoredDiscrepancy] = field(default_factory=list[StoredDiscrepancy])
    unpaid: list[str] = field(default_factory=list[str])
    payment_failed: list[str] = field(default_factory=list[str])
    access_without_payment: list[StoredDiscrepancy] = field(default_factory=list[StoredDiscrepancy])
    unreadable: list[str] = field(default_factory=list[str])
    unread: list[UnreadableObject] = field(default_factory=list[UnreadableObject])

    def leave_out(self, error: RecordUnreadable | ItemUnreadable) -> None:
        """Note a record, or an object of the processor's, that cannot be read."""
        if isinstance(error, ItemUnreadable):
            self.unread.append(UnreadableObject(error.kind, error.item_id, error.fields))
        elif error.name not in self.unreadable:
            self.unreadable.append(error.name)


class Reconciliation:
    """Compares the processor's completed sessions with the access records."""

    def __init__(
        self,
        stored: CheckoutRecords,
        processor: Processor,
        fulfilment: Fulfilment,
        states: SessionStates,
        refunds: Refunds,
        catalogue: Catalogue,
        unknown: UnknownSalesWatch,
    ) -> None:
        self._stored = stored
        self._processor = processor
        self._fulfilment = fulfilment
        self._states = states
        self._refunds = refunds
        self._catalogue = catalogue
        self._unknown = unknown

    async def run_unattended(self) -> None:
        """Reconcile; enqueue one push about each record, and each object of the processor, that cannot be read."""
        report = await self.run()
        for name in report.unreadable:
            log.warning("a record cannot be read", key=name)
            await outbox.notify_once(self._stored.store, self._stored.clock, _unreadable_push(name))
        for one in report.unread:
            log.warning("an object of the processor's cannot be read", kind=one.kind, fields=one.fields)
            await outbox.notify_once(self._stored.store, self._stored.clock, _unread_push(one))

    async def look_at_start(self) -> None:
        """Note sales that a store without any reconciliation does not know, before it can count as well."""
        try:
            if await self._stored.reconciled.entry() or await self._restored(ReconciliationReport(dry_run=True)):
                return
            async with asyncio.timeout(LOOK_SECONDS):
                async for session in self._processor.list_completed_sessions(
                    self._stored.clock.now() - LONGEST_ACCESS
                ):
                    if isinstance(session, CheckoutSession) and await self._unknown.origin(session) == "unknown":
                        await self._unknown.note()
                        return
        except (ProcessorError, StoreError, TimeoutError) as error:  # reconciliation follows, and reports it
            log.warning("the processor's sales are not known at the start", kind=type(error).__name__)

    async def run(
        self, since: timedelta | None = None, *, dry_run: bool = False, progress: ProgressCallback | None = None
    ) -> ReconciliationReport:
        """Grant access to paid sessions without it; return the report. Raises the processor's and store's errors.

        Without `since` it looks back to its last success, and `WINDOW` at least (decision 49).
        """
        report, now = ReconciliationReport(dry_run), self._stored.clock.now()
        found = await self._stored.reconciled.find()
        last = found.record if found else None
        window = LONGEST_ACCESS if await self._unknown.are_noted() else WINDOW
        whole = min(now - window, last.at - _LONGEST_SESSION) if last else now - window
        start = whole if since is None else now - since
        restored = await self._restored(report)
        async for session in self._processor.list_completed_sessions(start):
            if isinstance(session, ItemUnreadable):
                report.leave_out(session)
            else:
                await self._examine(session, report, restored)
            if progress:
                progress(report.examined)
        await self._waiting_longer(start, report, restored)
        charges = last is None or last.charges_at is None or now - last.at > EVENTS_KEPT
        await self._add_reversals(ReversalSearch(start, charges, dry_run, restored), report)
        if not dry_run:
            for error in await self._states.note_expired(start):
                report.leave_out(error)
        if restored and not dry_run:
            await restored.reconciled(self._stored.store, self._stored.clock, start)
        if start <= whole and not dry_run:
            if not report.left_unknown:
                await self._unknown.opened()
            charges_at = now if charges or last is None else last.charges_at
            last = _reconciled(report, start, self._stored.clock.now()).change(charges_at=charges_at)
            await write(self._stored.store, [self._stored.reconciled.put(last)])
        log.info("reconciled", examined=report.examined, granted=len(report.granted), dry_run=dry_run)
        return report

    async def panel(self) -> Panel:
        """Return the panel of the owner's page with the last run over the whole window."""
        last = await self._stored.reconciled.get()
        if not self._catalogue and last is None:
            return Panel(_PANEL, "No product is configured")
        if last is None:
            todo = "The service does it every 15 minutes; `orrery checkout reconcile` does it at once."
            return Panel(_PANEL, "Not reconciled with the processor yet", "attention", todo)
        return _panel(last.record, self._stored.clock.now())

    async def _restored(self, report: ReconciliationReport) -> Restored | None:
        try:
            return await last_restore(self._stored.store, self._stored.clock)
        except RecordUnreadable as error:
            # Any notification may have been sent before a restore, and a second one cannot be undone.
            report.leave_out(error)
            return Restored(at=self._stored.clock.now())

    async def _examine(
        self, session: CheckoutSession, report: ReconciliationReport, restored: Restored | None
    ) -> None:
        report.examined += 1
        try:
            if await self._stored.access.get(session.id):
                report.with_access += 1
                return
        except RecordUnreadable as error:
            report.leave_out(error)
            return
        if (origin := await self._origin(session, report, restored)) == "imported":
            report.with_access += 1
            return
        unknown = origin == "unknown"
        held_because = ANOTHER_STORE if unknown else ""
        if restored and restored.may_have_notified(session.created):
            held_because = NOT_KNOWN
        source = FulfilmentSource("reconcile", held_because=held_because, is_unknown=unknown)
        try:
            outcome = await self._outcome(session, source, dry_run=report.dry_run)
        except RecordUnreadable as error:
            report.leave_out(error)
            outcome = AccessVerdict("waiting", f"{error.name} cannot be read")
        outstanding = outcome.result == "waiting" and session.payment_status == "unpaid"
        if outstanding and await self._states.payment_failed(
            session, dry_run=report.dry_run, held_because=held_because
        ):
            report.payment_failed.append(session.id)
            return
        before = len(report.paid_without_access)
        _note(session, outcome, source, report)
        report.left_unknown += unknown and len(report.paid_without_access) > before

    async def _origin(
        self, session: CheckoutSession, report: ReconciliationReport, restored: Restored | None
    ) -> SessionOrigin:
        """Return whether another store sold the session; the first one is noted, and reported to the owner."""
        if restored and session.created <= restored.at:
            return "known"  # the owner has restored, and expects it
        origin = await self._unknown.origin(session)
        if origin == "unknown":
            report.unknown += 1
            if report.unknown == 1 and not report.dry_run:
                await self._unknown.note()
        return origin

    async def _outcome(
        self, session: CheckoutSession, source: FulfilmentSource, *, dry_run: bool
    ) -> AccessVerdict:
        stand_in = self._stand_in(session)
        if dry_run:
            return await self._fulfilment.judge(session, stand_in)
        return await self._fulfilment.settle(session, source, stand_in)

    def _stand_in(self, session: CheckoutSession) -> Offer | None:
        """Return today's catalogue as the offer of a session whose own was lost (a restore, a crash)."""
        key = bought(session)
        product = self._catalogue.find(key) if key else None
        if product is None or not product.price_id or session.price_ids is None:
            return None
        return Offer(
            session_id=session.id,
            product_type=product.key.product_type,
            cert_code=product.cert_code,
            vendor_slug=product.vendor_slug,
            price_id=product.price_id,
            amount_total=None,
            currency=None,
            client_address=None,
            created_at=session.created,
            title=product.title,
        )

    async def _waiting_longer(
        self, start: datetime, report: ReconciliationReport, restored: Restored | None
    ) -> None:
        """Examine the waiting sessions that are older than the window."""
        now = self._stored.clock.now()
        async for page in self._stored.pending.pages():
            for error in page.unreadable:
                report.leave_out(error)
            for pending in page.values():
                # One from the future was noted before the clock was put back: its session may be of any age.
                is_old = not start + _LONGEST_SESSION < pending.noted_at <= now
                if pending.state == "waiting" and not pending.failed_at and is_old:
                    await self._read_again(pending.session_id, start, report, restored)

    async def _read_again(
        self, session_id: str, start: datetime, report: ReconciliationReport, restored: Restored | None
    ) -> None:
        try:
            session = await self._processor.get_session(session_id)
        except ItemUnreadable as error:
            report.leave_out(error)
            return
        except ProcessorRefused as error:
            report.paid_without_access.append(StoredDiscrepancy(session_id=session_id, reason=str(error)))
            return
        if session.created < start:
            await self._examine(session, report, restored)

    async def _add_reversals(self, search: ReversalSearch, report: ReconciliationReport) -> None:
        found = await self._refunds.update(search)
        report.access_without_payment += found.without_payment
        report.partly_refunded += found.partly_refunded
        for error in found.unreadable:
            report.leave_out(error)


def _reconciled(report: ReconciliationReport, since: datetime, now: datetime) -> LastReconciliation:
    return LastReconciliation(
        at=now,
        since=since,
        examined=report.examined,
        granted=len(report.granted),
        unpaid=len(report.unpaid),
        without_access=len(report.paid_without_access),
        without_payment=len(report.access_without_payment),
        paid_without_access=tuple(report.paid_without_access[:MOST_KEPT]),
        access_without_payment=tuple(report.access_without_payment[:MOST_KEPT]),
        unreadable=tuple(report.unreadable[:MOST_KEPT]),
        partly_refunded=len(report.partly_refunded),
    )


_PANEL = "Payments and access"


def _panel(last: LastReconciliation, now: datetime) -> Panel:
    discrepancies = [*((one, "paid without access") for one in last.paid_without_access)]
    discrepancies += [(one, "access without payment") for one in last.access_without_payment]
    rows = tuple((one.session_id, what, one.reason) for one, what in discrepancies)
    rows += tuple((name, "record", "cannot be read") for name in last.unreadable)
    columns = ("Session", "What", "Why") if rows else ()
    days, parts = (last.at - last.since).days, last.partly_refunded
    ran = f"Reconciled at {utc_text(last.at)}. Sessions of {days} days: {last.examined}, "
    ran += f"not paid yet: {last.unpaid}."
    ran += f" Refunded in part: {parts}." if parts else ""
    if rows:
        counted = (
            (last.without_access, "paid without access"),
            (last.without_payment, "with access without payment"),
            (len(last.unreadable), "records that cannot be read"),
        )
        headline = ", ".join(f"{count} {what}" for count, what in counted if count)
        return Panel(_PANEL, headline, "bad", f"{ran} See `orrery checkout reconcile`.", columns, rows)
    if now - last.at > LATE:
        todo = f"{ran} Is the service running, and does the processor answer? Ask `orrery doctor`."
        return Panel(_PANEL, "The last reconciliation is more than an hour ago", "attention", todo)
    return Panel(_PANEL, "What is paid has access, and what has access is paid", "good", ran)


def _note(
    session: CheckoutSession, outcome: AccessVerdict, source: FulfilmentSource, report: ReconciliationReport
) -> None:
    match outcome.result:
        case "granted":
            report.granted.append(session.id)
            report.held_notifications += bool(source.held_because)
        case "foreign":
            report.foreign += 1
        case "already" | "erased":
            report.with_access += 1
        case _ if session.payment_status == "unpaid":
            report.unpaid.append(session.id)
        case _:
            report.paid_without_access.append(StoredDiscrepancy(session_id=session.id, reason=outcome.reason))


def _unreadable_push(name: str) -> outbox.OutboxDraft:
    return push(f"unreadable-{name}", "A record cannot be read", str(RecordUnreadable(name)))


def _unread_push(one: UnreadableObject) -> outbox.OutboxDraft:
    # No session id in a push: it opens the access (decision 46). The command names it.
    digest = hashlib.sha256(f"{one.kind} {one.id}".encode()).hexdigest()[:16]
    body = f"{one.error()} All others are reconciled. `orrery checkout reconcile` names it."
    return push(f"unread-{digest}", f"A {one.kind} cannot be read", body, "urgent")
