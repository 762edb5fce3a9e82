"""Drift: what visitors get differs from what was sent (change rule 2).

The workers only read: they compare the newest visitor's session with the accepted parameters, and send one push
for each kind of drift and one when all drift is over.
"""

from collections.abc import Sequence
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
from orrery.ports.panels import Panel, utc_text
from orrery.ports.processor import CheckoutSession, ItemUnreadable, ProcessorReads
from orrery.ports.store import Write
from orrery.runtime import outbox
from orrery.runtime.collection import sortable, write
from orrery.runtime.lasting import all_clear, push

EVERY = timedelta(hours=6)
"""How often the workers check the newest visitor's session (issue 4, item 2)."""

WINDOW = timedelta(days=7)
"""How far back the newest visitor's session is searched."""

SLACK = timedelta(minutes=1)
"""A session this soon after a receipt may have been created with the previous one: clocks differ."""


class Drift:
    """Looks at visitors' sessions, and keeps the result of the last look."""

    def __init__(self, stored: CheckoutRecords, reads: ProcessorReads, selling: Selling) -> None:
        self._stored = stored
        self._reads = reads
        self._selling = selling
        self._began = stored.clock.now()

    async def check_newest(self) -> DriftResult | None:
        """Check the newest visitor's session, and enqueue a push about drift that is new since the last check.

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
        pushes = [_drift_push(new, session, now)] if new else []
        if last and last.kinds and not differing:
            pushes.append(_over(now))
        writes: list[Write] = [self._stored.drift.put(drift), *outbox.enqueue(pushes, now)]
        await write(self._stored.store, writes)
        if new:
            log.warning("the checkout drifts", session=session.id, kinds=[one.name for one in new])
        return drift

    async def panel(self) -> Panel:
        """Return the panel of the owner's page with the last check; raise `RecordUnreadable`."""
        title, found = "What visitors get", await self._stored.drift.get()
        if found is None:
            return Panel(title, "No visitor's session was looked at yet")
        drift = found.record
        checked = f"looked at {utc_text(drift.looked_at)}"
        if not drift.kinds:
            return Panel(title, f"As it was sent, {checked}", "good")
        headline, todo = f"Not as it was sent, {checked}", "Type `orrery checkout verify`."
        return Panel(title, headline, "bad", todo, ("Differs",), tuple((kind,) for kind in drift.kinds))

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


def _drift_push(
    conditions: Sequence[SessionCondition], session: CheckoutSession, now: datetime
) -> outbox.OutboxDraft:
    differing = "; ".join(
        f"{one.name} = {one.found or 'nothing'}, where {one.wanted or 'nothing'} was sent" for one in conditions
    )
    body = f"Session {session.id} has {differing}. See `orrery checkout verify`."
    return push(f"drift-{conditions[0].name}-{sortable(now)}", "The checkout drifts", body)


def _over(now: datetime) -> outbox.OutboxDraft:
    body = "The newest visitor's session shows nothing that differs."
    return all_clear(f"drift-over-{sortable(now)}", "The checkout is as it was sent again", body)
