"""What a reconciliation found: for the command, for the owner's page, and for the next one."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from shlex import quote

from orrery.checkout.access.rules import AccessVerdict
from orrery.checkout.records import LastReconciliation, StoredDiscrepancy
from orrery.errors import RecordUnreadable
from orrery.ports.health import URGENT, Finding
from orrery.ports.panels import Panel, utc_text
from orrery.ports.processor import CheckoutSession, ItemUnreadable

LATE = timedelta(hours=1)
"""A last reconciliation this long ago needs attention."""

MOST_KEPT = 50
"""How many sessions of each kind that do not add up the owner's page shows; the command lists them all."""

PANEL = "Payments and access"
MOST_NAMED = 3
"""How many of them a sentence names."""

_WELL = "What is paid has access, and what has access is paid"
_LATE = "The last reconciliation is more than an hour ago"
_NOT_RUN = "Is the service running, and does the processor answer?"
_TODO = "See `orrery checkout reconcile`."
_REVOKE = (
    "If the access shall end, type `orrery access revoke {0} --reason {1}`; if it shall stay, "
    "`orrery access keep {0} --reason agreed`. All: `orrery checkout reconcile`."
)
_PAYMENT = "The payment: `orrery processor session {}`. What to do by its reason: `orrery checkout reconcile`."

PART, DISPUTE = "payments and access", "dispute:"
"""The part of the findings, and how those of disputes begin: each has the dispute's id behind it."""


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
    disputes: list[StoredDiscrepancy] = field(default_factory=list[StoredDiscrepancy])
    unreadable: list[str] = field(default_factory=list[str])
    unread: list[UnreadableObject] = field(default_factory=list[UnreadableObject])

    def leave_out(self, *errors: RecordUnreadable | ItemUnreadable) -> None:
        """Note records, and objects of the processor's, that cannot be read."""
        for error in errors:
            if isinstance(error, ItemUnreadable):
                self.unread.append(UnreadableObject(error.kind, error.item_id, error.fields))
            elif error.name not in self.unreadable:
                self.unreadable.append(error.name)

    def note(self, session: CheckoutSession, verdict: AccessVerdict, *, unknown: bool, held: bool) -> None:
        """Note what became of a session; `unknown`: another store sold it, `held`: its notifications are."""
        match verdict.result:
            case "granted":
                self.granted.append(session.id)
                self.held_notifications += held
            case "foreign":
                self.foreign += 1
            case "already" | "erased":
                self.with_access += 1
            case _ if session.payment_status == "unpaid":
                self.unpaid.append(session.id)
            case _:
                self.paid_without_access.append(StoredDiscrepancy(session_id=session.id, reason=verdict.reason))
                self.left_unknown += unknown

    def stored(self, at: datetime, since: datetime, charges_at: datetime | None) -> LastReconciliation:
        """Return what is kept of it."""
        return LastReconciliation(
            at=at,
            since=since,
            examined=self.examined,
            granted=len(self.granted),
            unpaid=len(self.unpaid),
            without_access=len(self.paid_without_access),
            without_payment=len(self.access_without_payment),
            paid_without_access=tuple(self.paid_without_access[:MOST_KEPT]),
            access_without_payment=tuple(self.access_without_payment[:MOST_KEPT]),
            unreadable=tuple(self.unreadable[:MOST_KEPT]),
            partly_refunded=len(self.partly_refunded),
            charges_at=charges_at,
            disputes=tuple(self.disputes[:MOST_KEPT]),
            more_disputes=len(self.disputes[MOST_KEPT:]),
        )


def with_refused(last: LastReconciliation, session_id: str, reason: str) -> LastReconciliation:
    """Return it with a session that was refused since, so that the problem waits for no next run."""
    before = [one for one in last.paid_without_access if one.session_id != session_id]
    listed = (*before, StoredDiscrepancy(session_id=session_id, reason=reason))[-MOST_KEPT:]
    return last.change(paid_without_access=listed, without_access=max(last.without_access, len(listed)))


def settled_by_hand(last: LastReconciliation, session_id: str) -> LastReconciliation:
    """Return it without a session that the owner has granted or revoked since: its problem ends at once."""
    paid, unpaid = (
        tuple(one for one in listed if one.session_id != session_id)
        for listed in (last.paid_without_access, last.access_without_payment)
    )
    return last.change(
        paid_without_access=paid,
        access_without_payment=unpaid,
        without_access=last.without_access - len(last.paid_without_access) + len(paid),
        without_payment=last.without_payment - len(last.access_without_payment) + len(unpaid),
    )


def findings_of(last: LastReconciliation, now: datetime) -> list[Finding]:
    """Return whether payments and access agree. An open dispute is a separate problem."""
    if wrong := {one.session_id: one.reason for one in _wrong(last)}:
        named = [f"{session_id}: {reason}" for session_id, reason in wrong.items()]
        more = f"; and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        why = f"{'; '.join(named[:MOST_NAMED])}{more}."
        todo = _todo(last)
        return [
            Finding(PART, "broken", why, todo, essential=False, settled=True, severity=URGENT, items=tuple(wrong))
        ]
    if now - last.at > LATE:
        return [Finding(PART, "broken", f"{_LATE}.", f"{_NOT_RUN} {_TODO}", essential=False)]
    return [Finding(PART, "ok", f"{_WELL}.", essential=False, settled=True)]


def _todo(last: LastReconciliation) -> str:
    """Return what to do about the first one that is named, and the command that lists all."""
    for text, listed in ((_PAYMENT, last.paid_without_access), (_REVOKE, _unpaid(last))):
        if listed:
            return text.format(listed[0].session_id, quote(listed[0].reason))
    return _TODO


def _unpaid(last: LastReconciliation) -> list[StoredDiscrepancy]:
    return [one for one in last.access_without_payment if not one.item]


def _wrong(last: LastReconciliation) -> list[StoredDiscrepancy]:
    unreadable = (StoredDiscrepancy(session_id=one, reason="cannot be read") for one in last.unreadable)
    return [
        *(one.change(reason=f"paid, without access ({one.reason})") for one in last.paid_without_access),
        *(one.change(reason=f"access without payment ({one.reason})") for one in _unpaid(last)),
        *unreadable,
    ]


def panel_of(last: LastReconciliation, now: datetime) -> Panel:
    """Return the panel of the owner's page."""
    rows = tuple((one.session_id, "paid without access", one.reason) for one in last.paid_without_access)
    rows += tuple((one.session_id, "access without payment", one.reason) for one in last.access_without_payment)
    rows += tuple((name, "record", "cannot be read") for name in last.unreadable)
    days, parts = (last.at - last.since).days, last.partly_refunded
    ran = f"Reconciled at {utc_text(last.at)}. Sessions of {days} days: {last.examined}, "
    ran += f"not paid yet: {last.unpaid}."
    ran += f" Refunded in part: {parts}." if parts else ""
    if rows:
        headline = _headline(last)
        todo = f"{ran} {_TODO}"
        return Panel(PANEL, headline, "bad", todo, ("Session", "What", "Why"), rows)
    if now - last.at > LATE:
        todo = f"{ran} {_NOT_RUN} Ask `orrery doctor`."
        return Panel(PANEL, _LATE, "attention", todo)
    return Panel(PANEL, _WELL, "good", ran)


def _headline(last: LastReconciliation) -> str:
    counted = (
        (last.without_access, "paid without access"),
        (last.without_payment, "with access without payment"),
        (len(last.unreadable), "records that cannot be read"),
    )
    return ", ".join(f"{count} {what}" for count, what in counted if count)
