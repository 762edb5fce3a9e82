"""Completed sessions that this store does not know: the store is empty, or older than they are.

Each of our sessions leaves a record here when it is made. One that has none was made over another store, such as
one that was lost. That is urgent: the owner may have a newer store or snapshot. It ends when reconciliation has
opened all of them.
"""

from typing import Literal

from orrery.checkout.access.lookup import Lookup
from orrery.checkout.access.rules import bought
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import UnknownSales
from orrery.errors import StoreError
from orrery.ports.health import Finding
from orrery.ports.processor import CheckoutSession
from orrery.runtime.collection import sortable
from orrery.runtime.lasting import Lasting, alarm, all_clear

PART = "sales of this store"

ANOTHER_STORE = "Another store sold it, which this one does not know: whether it was sent is not known."
"""Why notifications about such a session are held back."""

SessionOrigin = Literal["known", "unknown", "imported"]

_WHY = "The processor lists completed sessions that this store does not know: it is empty, or older than they are."
_TODO = (
    "If there is a newer store or snapshot, stop the service and put that in place with `orrery restore`. Else "
    "reconciliation opens the sessions and holds back their messages (`orrery notifications list --state held`); "
    "`orrery checkout reconcile` names those that it cannot open, for `orrery access grant --session`."
)
_OPENED = (
    "Each completed session at the processor has access here now. The messages about those that another "
    "store sold are held back: look with `orrery notifications list --state held`, then release or drop them."
)


class UnknownSalesWatch:
    """Notes such sessions in the store, and notifies the owner of their beginning and end."""

    def __init__(self, stored: CheckoutRecords, lookup: Lookup) -> None:
        self._stored = stored
        self._lookup = lookup
        # By session: what is made here, and what has access.
        self._known = stored.offers, stored.access, stored.own_sessions
        self._noted = Lasting(stored.unknown_sales)

    async def origin(self, session: CheckoutSession) -> SessionOrigin:
        """Return whether a completed session is ours, and was made over another store.

        `imported`: it was, and its access came here with an import of that buyer since.

        While there are such sessions, one that an earlier reconciliation could not open is still one of them.
        """
        if bought(session) is None or session.payment_status == "unpaid":
            return "known"
        if any([await one.entry(session.id) for one in self._known]):
            return "known"
        if await self._was_imported(session):
            return "imported"
        if await self._stored.pending.entry(session.id) is None:
            return "unknown"
        pending = await self._stored.pending.find(session.id)
        seen_by_reconciliation = pending is not None and pending.record.event_id is None
        return "unknown" if seen_by_reconciliation and await self.are_noted() else "known"

    async def _was_imported(self, session: CheckoutSession) -> bool:
        product = bought(session)
        return any(
            one.granted_by == "import" and one.product == product and session.created <= one.granted_at
            for one in (await self._lookup.found_of(session.email or "")).values()
        )

    async def are_noted(self) -> bool:
        """Return whether there are such sessions that have no access yet."""
        return await self._stored.unknown_sales.entry() is not None

    async def note(self) -> None:
        """Store that there are such sessions, with one urgent push, unless that is stored already."""
        now = self._stored.clock.now()
        found = alarm(f"unknown-sales-{sortable(now)}", "This store does not know of sales", f"{_WHY} {_TODO}")
        _ = await self._noted.begin(UnknownSales(since=now), found)

    async def opened(self) -> None:
        """Store that all of them have access now, with one push, if there were any."""
        push_id = f"unknown-sales-opened-{sortable(self._stored.clock.now())}"
        _ = await self._noted.end(all_clear(push_id, "The unknown sales are open", _OPENED, "high"))

    async def local(self) -> list[Finding]:
        """Return whether the processor has sales that this store does not know."""
        try:
            lasts = await self.are_noted()
        except StoreError:  # that has a separate finding
            return []
        if lasts:
            return [Finding(PART, "broken", _WHY, _TODO, told=True, essential=True)]
        return [Finding(PART, "ok", essential=True)]
