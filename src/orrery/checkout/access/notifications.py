"""The texts of the pushes to the owner (decision 12). Pure."""

from dataclasses import dataclass

from orrery.checkout.access.emails import Emails
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.disputes import PaymentDispute
from orrery.checkout.records import AccessRecord, Reversal
from orrery.runtime.outbox import OutboxDraft
from orrery.syntax.money import money

_NO_ADDRESS = (
    "The buyer left no e-mail address: no e-mail was sent, and only the browser that paid opens the access. "
    "If you know the address, give it to the record with `orrery access change-email`."
)


@dataclass(frozen=True, slots=True)
class Notifications:
    """Writes the messages of the checkout."""

    emails: Emails

    def sold(self, record: AccessRecord, notes: tuple[str, ...]) -> list[OutboxDraft]:
        """Return the owner's push and the buyer's e-mail for a new access record.

        Without an address there is no e-mail; where a series numbers the sale, it comes with the number.
        """
        if not record.email:
            return [self._to_owner(record, (*notes, _NO_ADDRESS))]
        return [self._to_owner(record, notes), *self.emails.first(record)]

    def withheld(self, session_id: str, reason: str) -> OutboxDraft:
        """Return the push about a completed session without access."""
        reference = self.emails.references.of(session_id)
        return OutboxDraft(
            id=f"withheld-{session_id}-{reason.replace(' ', '-')}",
            channel="push",
            title="Completed, but no access yet",
            body=f"Session {session_id}: {reason}. Look at it: `orrery processor session {reference}`.",
            priority="high",
            tags=("warning",),
        )

    def payment_failed(self, session_id: str, product: ProductKey | None) -> OutboxDraft:
        """Return the push that follows `withheld` when the outstanding payment failed."""
        what = f"{product.name}, session {session_id}" if product else f"Session {session_id}"
        return OutboxDraft(
            id=f"payment-failed-{session_id}",
            channel="push",
            title="A payment failed",
            body=f"{what}: the outstanding payment failed. Nothing was taken, and no access was opened. "
            "There is nothing to do.",
            priority="low",
        )

    def refunded(self, reversal: Reversal, session_id: str, shorter: int) -> OutboxDraft:
        """Return the push that access is revoked, because its payment was refunded in full.

        `shorter` is how many other records of the buyer end earlier now. Access that runs on is a problem.
        """
        then = "Its access is revoked, as `checkout.revoke_on_refund` asks."
        then += f" Other access of the buyer that ends earlier now: {shorter}." if shorter else ""
        return OutboxDraft(
            id=f"taken-back-{session_id}",
            channel="push",
            title="Refunded, access revoked",
            body=f"Session {session_id}: charge {reversal.charge_id} was refunded in full{_of(reversal)}. {then}",
            tags=("leftwards_arrow_with_hook",),
        )

    def disputed(self, reversal: Reversal, session_id: str) -> OutboxDraft:
        """Return the push of a dispute of which only the charge is known: whether it is over shows nowhere."""
        return OutboxDraft(
            id=f"dispute-{reversal.charge_id}",
            channel="push",
            title="A payment was disputed",
            body=f"Session {session_id}: the buyer's bank contested charge {reversal.charge_id}. Look up the "
            "deadline in the processor's dashboard: a dispute without an answer is lost. "
            f"Whose it is: `orrery access show {session_id}`.",
            priority="urgent",
            tags=("rotating_light",),
        )

    def dispute_decided(self, reversal: Reversal, dispute: PaymentDispute, session_id: str) -> OutboxDraft:
        """Return the push about the decision of a dispute; access that runs on after a lost one is a problem."""
        lost = dispute.takes_money
        body = f"Session {session_id}: the dispute of charge {reversal.charge_id} was {'lost' if lost else 'won'}."
        return OutboxDraft(
            id=f"dispute-decided-{dispute.dispute_id or reversal.charge_id}",
            channel="push",
            title="A dispute was lost" if lost else "A dispute was won",
            body=body if lost else f"{body} The payment stays yours.",
            priority="low",
        )

    def _to_owner(self, record: AccessRecord, notes: tuple[str, ...]) -> OutboxDraft:
        # No name and no e-mail address: other companies' servers handle a push (decision 12).
        title = self.emails.title(record)
        done = "Sold" if record.granted_by == "webhook" else f"Granted by {record.granted_by}"
        body = f"{record.product.name}, {amount(record)}. Access until {record.expires_at:%d %B %Y}."
        return OutboxDraft(
            id=f"owner-{record.session_id}",
            channel="push",
            title=f"{done}: {title}",
            body=" ".join([body, *notes]),
            priority="high" if notes else "default",
            tags=("tada",),
        )


def _of(reversal: Reversal) -> str:
    return "" if reversal.amount is None else f" ({money(reversal.amount, reversal.currency)})"


def amount(record: AccessRecord) -> str:
    """Return the paid amount, for people: `49.00 USD`, `4900 JPY`, `no payment`."""
    if record.amount_total is None or record.currency is None:
        return "no payment"
    return money(record.amount_total, record.currency)
