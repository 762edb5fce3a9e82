"""Which items of the action ledger wait, and why the others do not."""

from collections.abc import Sequence
from datetime import datetime

from orrery.cockpit.records import LedgerItem
from orrery.cockpit.rows import LEDGER, LEDGER_ACCOUNT, RowId
from orrery.cockpit.set_aside import SetAsideRows
from orrery.cockpit.waiting import NotListed, Reason
from orrery.runtime.collection import StoredRecord


def sorted_out(
    items: Sequence[StoredRecord[LedgerItem]], asides: SetAsideRows, now: datetime
) -> tuple[list[StoredRecord[LedgerItem]], NotListed]:
    """Return the items that wait, and how many do not, by reason."""
    waiting, reasons = list[StoredRecord[LedgerItem]](), list[Reason]()
    for one in items:
        aside = asides.of(RowId(one.record.track, LEDGER_ACCOUNT, LEDGER, one.id))
        if one.record.dismissed_at:
            reasons.append("done")
        elif aside and aside.holds(now):
            reasons.append(aside.reason)
        else:
            waiting.append(one)
    return waiting, NotListed.of(reasons)
