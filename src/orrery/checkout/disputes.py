"""What is kept of one dispute of a payment."""

from pydantic import AwareDatetime

from orrery.record import Code, Id, RecordPart


class PaymentDispute(RecordPart):
    """One dispute of a payment, by its status since `changed_at`; the amount is in its currency's smallest unit.

    `taken_at` is when it took the money: None of an inquiry, and where only the decision was read. `dispute_id`,
    `changed_at` and `amount` are None as far as they are not known: where only the charge shows a dispute, and of
    an earlier release.
    """

    dispute_id: Id | None
    status: Code
    changed_at: AwareDatetime | None
    amount: int | None
    currency: Code
    taken_at: AwareDatetime | None = None
    respond_by: AwareDatetime | None = None

    @property
    def takes_money(self) -> bool:
        """Return whether it has taken the money: it is open or lost, and no mere question of the bank."""
        return self.status not in _NOT_LOST and not self.status.startswith("warning_")

    @property
    def is_decided(self) -> bool:
        return self.status in _DECIDED


_NOT_LOST = frozenset({"won", "prevented"})
_DECIDED = frozenset({"won", "lost", "prevented", "warning_closed"})
