"""Drift: what visitors get differs from what was sent (change rule 2).

The workers only read: they compare the newest visitor's session with the accepted parameters. Each kind of drift
is an item of one problem.
"""

from datetime import datetime, timedelta

from orrery.checkout.access.rules import bought
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import DriftResult, Receipt
from orrery.checkout.selling.products import Selling
from orrery.checkout.selling.receipts import (
    SessionCondition,
    catalogue_conditions,
    failed,
    sold_conditions,
)
from orrery.errors import NotConfigured, NotFound
from orrery.logs import log
from orrery.ports.health import URGENT, Finding
from orrery.ports.panels import Panel, utc_text
from orrery.ports.processor import CheckoutSession, ItemUnreadable, ProcessorReads
from orrery.runtime.collection import write
from orrery.runtime.lasting import Lasting

EVERY = timedelta(hours=6)
"""How often the workers check the newest visitor's session (issue 4, item 2)."""

WINDOW = timedelta(days=7)
"""How far back the newest visitor's session is searched."""

SLACK = timedelta(minutes=1)
"""A session this soon after a receipt may have been created with the previous one: clocks differ."""


PART, _TODO = "what visitors get", "Type `orrery checkout verify`: it shows what was sent, and what came."


class Drift:
    """Looks at visitors' sessions, and keeps the result of the last look."""

    def __init__(self, stored: CheckoutRecords, reads: ProcessorReads, selling: Selling) -> None:
        self._stored = stored
        self._reads = reads
        self._selling = selling
        self._began = stored.clock.now()

    async def check_newest(self) -> DriftResult | None:
        """Check the newest visitor's session, and store what differs.

        None: there is no such session. Raises the processor's and the store's errors.
        """
        found = await self._newest()
        if found is None:
            return None
        session, conditions = found
        known, now = await self._stored.drift.find(), self._stored.clock.now()
        last = known.record if known else None  # one that cannot be read is replaced
        differing = failed(conditions)
        new = [one for one in differing if last is None or one.name not in last.kinds]
        drift = DriftResult(session_id=session.id, looked_at=now, kinds=tuple(one.name for one in differing))
        await write(self._stored.store, [self._stored.drift.put(drift)])
        if new:
            log.warning("the checkout drifts", session=session.id, kinds=[one.name for one in new])
        return drift

    async def findings(self) -> list[Finding]:
        """Return whether the last check found drift."""
        return await Lasting(self._stored.drift).finding(_finding)

    async def panel(self) -> Panel:
        """Return the panel of the owner's page with the last check; raise `RecordUnreadable`."""
        title, found = "What visitors get", await self._stored.drift.get()
        if found is None:
            return Panel(title, "No visitor's session was looked at yet")
        drift = found.record
        checked = f"looked at {utc_text(drift.looked_at)}"
        if not drift.kinds:
            return Panel(title, f"As it was sent, {checked}", "good")
        headline = f"Not as it was sent, {checked}"
        return Panel(
            title, headline, todo=_TODO, columns=("Differs",), rows=tuple((kind,) for kind in drift.kinds)
        )

    def _sold_since(self, accepted: Receipt | None) -> datetime:
        """Return since when this is sold; in a future that was undone, since this process found that out."""
        now = self._stored.clock.now()
        self._began = min(self._began, now)
        return accepted.accepted_at if accepted and accepted.accepted_at <= now else self._began

    async def _newest(self) -> tuple[CheckoutSession, list[SessionCondition]] | None:
        """Return the newest visitor's session with the parameters on sale now, and its conditions."""
        async for session in self._reads.list_sessions(self._stored.clock.now() - WINDOW):
            if isinstance(session, ItemUnreadable):
                log.warning("a session was not looked at for drift", why=str(session))
                continue
            product = bought(session)
            if product is None or await self._stored.own_sessions.entry(session.id):
                continue
            try:
                offered = await self._selling.current_offer(product)
            except (NotFound, NotConfigured):
                continue
            since = self._sold_since(offered.accepted)
            if session.created > since + SLACK:
                compared = sold_conditions(session, offered.parameters)
                return session, [*compared, *catalogue_conditions(session, offered.parameters)]
        return None


def _finding(drift: DriftResult | None) -> Finding:
    if drift is None or not drift.kinds:
        why = "The newest visitor's session is as it was sent." if drift else ""
        return Finding(PART, "ok", why, essential=False, settled=True)
    why = f"The newest visitor's session is not as it was sent: {', '.join(drift.kinds)}."
    return Finding(PART, "broken", why, _TODO, essential=False, settled=True, severity=URGENT, items=drift.kinds)
