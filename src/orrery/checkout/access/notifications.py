"""The texts of the pushes to the owner and the e-mails to buyers (decision 12). Pure."""

from dataclasses import dataclass, field

from orrery.checkout.catalogue import Catalogue, ProductKey
from orrery.checkout.disputes import PaymentDispute
from orrery.checkout.records import AccessRecord, Reversal
from orrery.checkout.sites import OPEN, Site
from orrery.runtime.outbox import OutboxDraft
from orrery.syntax.money import money

_NO_ADDRESS = (
    "The buyer left no e-mail address: no e-mail was sent, and only the browser that paid opens the access. "
    "If you know the address, give it to the record with `orrery access change-email`."
)


@dataclass(frozen=True, slots=True)
class Notifications:
    """Writes the messages of the checkout. `practice_url` may contain {vendorSlug} and {certCode}.

    A site's own seller and practice address go before these.
    """

    seller: str
    practice_url: str = ""
    catalogue: Catalogue = field(default_factory=Catalogue)

    def sold(self, record: AccessRecord, notes: tuple[str, ...]) -> list[OutboxDraft]:
        """Return the owner's push and, where there is an address, the buyer's e-mail for a new access record."""
        if not record.email:
            return [self._to_owner(record, (*notes, _NO_ADDRESS))]
        return [self._to_owner(record, notes), self.to_buyer(record, f"buyer-{record.session_id}")]

    def to_buyer(self, record: AccessRecord, email_id: str) -> OutboxDraft:
        """Return the buyer's e-mail."""
        title, site = self.title(record), self.catalogue.site_of(record.product)
        lines = [
            f"Thank you. Your access to the practice questions for {title} is open.",
            f"It runs until {record.expires_at:%d %B %Y}. No subscription, no auto-renewal.",
            *self._start(record, site),
            f"Your order: {record.session_id}",
            site.seller or self.seller,
        ]
        return OutboxDraft(
            email_id, "email", f"Your access to {title}", "\n\n".join(lines) + "\n", to=record.email
        )

    def _start(self, record: AccessRecord, site: Site) -> list[str]:
        """Return how a buyer begins: by a link to a hosted page, or at the practice page of a site without these.

        The link's key is added when the e-mail is sent (`runtime/references.py`).
        """
        if site.has_pages:
            link = f"{site.origin}{OPEN}?session_id={record.session_id}&link={record.link_generation}"
            return [
                f"Open it in each of your browsers: {link}",
                "Keep this e-mail: the link works until that day.",
            ]
        practice = record.product.within(site.practice_url or self.practice_url)
        return [f"Start here: {practice}"] if practice else []

    def withheld(self, session_id: str, reason: str) -> OutboxDraft:
        """Return the push about a completed session without access."""
        return OutboxDraft(
            id=f"withheld-{session_id}-{reason.replace(' ', '-')}",
            channel="push",
            title="Completed, but no access yet",
            body=f"Session {session_id}: {reason}. See `orrery checkout reconcile`.",
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

    def title(self, record: AccessRecord) -> str:
        """Return the title of what was bought; where it is not known, today's, or the vendor and the code."""
        of_today = self.catalogue.title_of(record.product)
        return record.title or of_today or f"{record.vendor_slug} {record.cert_code}".upper()

    def _to_owner(self, record: AccessRecord, notes: tuple[str, ...]) -> OutboxDraft:
        # No name and no e-mail address: other companies' servers handle a push (decision 12).
        title = self.title(record)
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
