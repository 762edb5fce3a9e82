"""Reconciliation: grants access that a lost webhook missed, lists sessions that do not add up (decision 13)."""

import asyncio
import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta

from orrery.checkout.access.fulfilment import Fulfilment, FulfilmentSource
from orrery.checkout.access.lookup import SessionStates
from orrery.checkout.access.outages import ANOTHER_STORE, SessionOrigin, UnknownSalesWatch
from orrery.checkout.access.refunds import EVENTS_KEPT, Refunds
from orrery.checkout.access.report import PANEL, ReconciliationReport, UnreadableObject, findings_of, panel_of
from orrery.checkout.access.rules import AccessVerdict, bought
from orrery.checkout.catalogue import Catalogue
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import Offer, StoredDiscrepancy
from orrery.errors import RecordUnreadable, StoreError
from orrery.logs import log
from orrery.ports.health import Finding
from orrery.ports.panels import Panel
from orrery.ports.processor import CheckoutSession, ItemUnreadable, Processor, ProcessorError, ProcessorRefused
from orrery.runtime import outbox
from orrery.runtime.collection import write
from orrery.runtime.lasting import push
from orrery.runtime.restored import Restored, held_after, last_restore

WINDOW = timedelta(days=30)
"""How far back completed sessions are read at least; after an outage, back to the last success (decision 49)."""

LONGEST_ACCESS = timedelta(days=366)
"""The same at the first start of a store, and while it does not know of sales: as far as access runs."""

EVERY = timedelta(minutes=15)
"""How often the workers reconcile (decision 13)."""

LOOK_SECONDS = 3.0
"""How long the start waits for the processor's list of sales."""

_LONGEST_SESSION = timedelta(days=2)
"""A session is completed within a day of its creation; sessions that were noted later are in the listing."""


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
        """Reconcile; enqueue one push about each object of the processor that cannot be read."""
        report = await self.run()
        for name in report.unreadable:
            log.warning("a record cannot be read", key=name)
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
        self, since: timedelta | None = None, *, dry_run: bool = False, progress: Callable[[], None] | None = None
    ) -> ReconciliationReport:
        """Grant access to paid sessions without it; return the report. Raises the processor's and store's errors.

        Without `since` it looks back to its last success, and `WINDOW` at least (decision 49). `progress` is
        called after each session.
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
                progress()
        await self._waiting_longer(start, report, restored)
        charges = last is None or last.charges_at is None or now - last.at > EVENTS_KEPT
        await self._refunds.update(report, start, restored, charges=charges)
        if not dry_run:
            report.leave_out(*await self._states.note_expired(start))
        if restored and not dry_run:
            await restored.reconciled(self._stored.store, self._stored.clock, start)
        if start <= whole and not dry_run:
            if not report.left_unknown:
                await self._unknown.opened()
            charges_at = now if charges or last is None else last.charges_at
            noted = report.stored(self._stored.clock.now(), start, charges_at)
            await write(self._stored.store, [self._stored.reconciled.put(noted)])
        log.info("reconciled", examined=report.examined, granted=len(report.granted), dry_run=dry_run)
        return report

    async def panel(self) -> Panel:
        """Return the panel of the owner's page with the last run over the whole window."""
        last = await self._stored.reconciled.get()
        if not self._catalogue and last is None:
            return Panel(PANEL, "No product is configured")
        if last is None:
            todo = "The service does it every 15 minutes; `orrery checkout reconcile` does it at once."
            return Panel(PANEL, "Not reconciled with the processor yet", "attention", todo)
        return panel_of(last.record, self._stored.clock.now())

    async def findings(self) -> list[Finding]:
        """Return what the last run over the whole window found; nothing when the store fails."""
        try:
            last = await self._stored.reconciled.get()
        except StoreError:
            return []
        if last is None:
            return []
        found = findings_of(last.record, self._stored.clock.now())
        return [*found, *await self._refunds.open_disputes(last.record)]

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
        held_because = held_after(restored, session.created) or (ANOTHER_STORE if unknown else "")
        source = FulfilmentSource("reconcile", held_because=held_because, is_unknown=unknown)
        stand_in = self._stand_in(session)
        try:
            if report.dry_run:
                outcome = await self._fulfilment.judge(session, stand_in)
            else:
                outcome = await self._fulfilment.settle(session, source, stand_in)
        except RecordUnreadable as error:
            report.leave_out(error)
            outcome = AccessVerdict("waiting", f"{error.name} cannot be read")
        outstanding = outcome.result == "waiting" and session.payment_status == "unpaid"
        if outstanding and await self._states.payment_failed(
            session, dry_run=report.dry_run, held_because=held_because
        ):
            report.payment_failed.append(session.id)
            return
        report.note(session, outcome, unknown=unknown, held=bool(held_because))

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
            report.leave_out(*page.unreadable)
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


def _unread_push(one: UnreadableObject) -> outbox.OutboxDraft:
    # No session id in a push: it opens the access (decision 46). The command names it.
    digest = hashlib.sha256(f"{one.kind} {one.id}".encode()).hexdigest()[:16]
    body = f"{one.error()} All others are reconciled. `orrery checkout reconcile` names it."
    return push(f"unread-{digest}", f"A {one.kind} cannot be read", body, "urgent")
