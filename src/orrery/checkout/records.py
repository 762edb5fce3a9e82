"""What checkout keeps in the store."""

from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import AwareDatetime, JsonValue

from orrery.checkout.catalogue import ProductKey
from orrery.checkout.disputes import PaymentDispute
from orrery.record import Code, Id, Impersonal, Personal, PersonalText, Record, RecordPart, Sentence

KEEP_OFFERS = timedelta(days=400)
"""How long an offer is kept, as long as the events that are compared with it (decision 10)."""

KEEP_ATTEMPTS = timedelta(hours=24)
"""How long a visitor's `Idempotency-Key` is remembered (decision 2)."""

KEEP_EVENTS = timedelta(days=400)
"""How long raw events, and the notes of those that cannot be read, are kept (decision 10)."""

KEEP_REFUSED = timedelta(days=90)
"""How long a session that may not open access is remembered: far longer than reconciliation lists it."""

KEEP_FOREIGN = timedelta(days=40)
"""How long Orrery remembers that a payment is not its own: longer than the processor lists events."""

KEEP_TRIALS = timedelta(days=30)
"""How long the records of preflights and of our own sessions are kept."""

COMPLETED = "checkout.session.completed"
"""The one type of event that is acted on (spec 1, Events)."""

JournalAction = Literal["grant", "import", "revoke", "change-email", "resend", "erase"]

TrialState = Literal["asked", "open", "expired", "completed", "left open", "rejected", "gone"]

GrantedBy = Literal["webhook", "reconcile", "owner", "import"]


class Offer(Record):
    """The offer at a session's creation (decision 8). `client_address` is erased after 30 days.

    `failed_at` is when Orrery learned that the session expired without a payment (decision 48). `title` is None in
    an offer of an earlier release.
    """

    session_id: Id
    product_type: Code
    cert_code: Code
    vendor_slug: Code
    price_id: Id
    amount_total: int | None
    currency: Code | None
    client_address: PersonalText | None
    created_at: AwareDatetime
    failed_at: AwareDatetime | None = None
    title: Code | None = None

    @property
    def product(self) -> ProductKey:
        return ProductKey(self.product_type, self.cert_code, self.vendor_slug)


AccessState = Literal["open", "ended", "revoked"]


class AccessRecord(Record):
    """One year of access, and the proof of its sale (decision 10).

    `amount_total` is in the currency's smallest unit, None for access without a sale here. `email` has its ASCII
    letters in lower case and is empty after an erasure; `former_emails` are those that the owner has changed: an
    erasure reaches them, too. `revoked_at` is when the owner revoked the access. `title` is the product's when the
    access was bought or granted; None in a record of an earlier release, and where the catalogue had none.
    `paid_at` is when the webhook's event happened, or, where reconciliation found the sale, when its session was
    made; None without a sale, and in a record of an earlier release. `link_generation` is how often the link in
    the buyer's e-mail was replaced: one of an earlier generation opens nothing. `sale_series` is what numbers
    the sale without gaps, and `sale_number` the number, None while it waits for one.
    """

    session_id: Id
    product_type: Code
    cert_code: Code
    vendor_slug: Code
    email: PersonalText
    granted_at: AwareDatetime
    expires_at: AwareDatetime
    amount_total: int | None
    currency: Code | None
    livemode: bool
    payment_intent: Id | None
    event_id: Id | None
    granted_by: GrantedBy
    marketing_consent: Annotated[bool | None, Personal]
    revoked_at: AwareDatetime | None = None
    former_emails: tuple[PersonalText, ...] = ()
    title: Code | None = None
    paid_at: AwareDatetime | None = None
    link_generation: int = 0
    sale_series: Code | None = None
    sale_number: Code | None = None

    @property
    def number(self) -> str | None:
        """The number of its sale in a series, empty while it waits for one; None where it is the reference."""
        return self.sale_number or (None if self.sale_series is None else "")

    @property
    def product(self) -> ProductKey:
        return ProductKey(self.product_type, self.cert_code, self.vendor_slug)

    def runs_at(self, now: datetime) -> bool:
        """Return whether access is open at `now`."""
        return self.revoked_at is None and now < self.expires_at

    def state_at(self, now: datetime) -> AccessState:
        """Return the state of the access at `now`."""
        return "revoked" if self.revoked_at else "open" if self.runs_at(now) else "ended"


class ErasedSession(Record):
    """That the buyer of a session was erased: it opens nothing again (decision 51). It is kept for ever."""

    erased_at: AwareDatetime


class WithheldSession(Record):
    """A completed session that may not be granted yet, or at all; `reason` has a few words.

    `failed_at` is when Orrery learned that its payment failed (decision 48).
    """

    session_id: Id
    state: Literal["waiting", "refused"]
    reason: Sentence
    event_id: Id | None
    noted_at: AwareDatetime
    failed_at: AwareDatetime | None = None


class RefundedTotal(RecordPart):
    """How much of a charge had gone back in all, in its currency's smallest unit, when an event reported it."""

    at: AwareDatetime
    total: int


class Reversal(Record):
    """Refunds and disputes of one payment: a push each, and listed while its access runs.

    `session_id` is None for a payment that no session of ours made. Amounts are in the currency's smallest unit;
    `amount` is the whole, None while only a dispute names the charge. `refunds` are the totals that events
    reported, by their times; of `undated_refunds`, which only a charge or an earlier release showed, the day is
    not known as far as no event reports it. `dispute` to `respond_by` are the latest of `disputes`, for earlier
    releases: `disputed` where only the charge shows one. `access_stays`: the owner lets the access run on.
    """

    payment_intent: Id
    session_id: Id | None
    charge_id: Id
    currency: Code
    amount: int | None = None
    amount_refunded: int = 0
    dispute: Code | None = None
    dispute_id: Id | None = None
    dispute_at: AwareDatetime | None = None
    respond_by: AwareDatetime | None = None
    refunds: tuple[RefundedTotal, ...] = ()
    undated_refunds: int = 0
    disputes: tuple[PaymentDispute, ...] = ()
    access_stays: bool = False

    @property
    def refunded(self) -> bool:
        """Return whether all of it was refunded."""
        return self.amount is not None and self.amount_refunded >= self.amount

    @property
    def every_dispute(self) -> tuple[PaymentDispute, ...]:
        """Return the disputes, with what an earlier release knew of its latest one."""
        known = {one.dispute_id: one for one in self.disputes}
        if self.dispute is None or (self.dispute_id is None and known):
            return self.disputes
        latest = PaymentDispute(
            dispute_id=self.dispute_id,
            status=self.dispute,
            changed_at=self.dispute_at,
            amount=None,
            currency=self.currency,
            respond_by=self.respond_by,
        )
        if latest.takes_money and not latest.is_decided:
            latest = latest.change(taken_at=self.dispute_at)
        same = known.get(self.dispute_id, latest)
        if latest.is_decided and not same.is_decided:  # an earlier release ran again meanwhile
            same = same.change(status=self.dispute)
        return tuple((known | {self.dispute_id: same}).values())


class UnreadableEvent(Record):
    """A signed event that could not be read when it came: its raw body is stored, and it had no effect.

    `event_id` is the processor's, or `sha256-…` of a body whose id could not be read either; `object_id` is the id
    of the event's object, such as a session; `fields` names the wrong fields.
    """

    event_id: Id
    type: Code | None
    object_id: Id | None
    fields: tuple[Code, ...]
    noted_at: AwareDatetime


class RefusedWebhooks(Record):
    """Since when webhooks are refused, one after the other, and why; it is removed when one is accepted.

    `last_at` is when one was refused last, ten minutes early at most. `again`: it is not the first of its day.
    """

    reason: Code
    since: AwareDatetime
    last_at: AwareDatetime | None = None
    again: bool = False


class AccessEnd(Record):
    """The latest end of access of one buyer to one product, from which a further purchase extends."""

    expires_at: AwareDatetime


class Attempt(Record):
    """One visitor's `Idempotency-Key`: the product it came with, and the session that it led to (decision 2).

    `processor_key` is the processor's idempotency key for exactly the parameters of `parameters_digest`;
    `expires_at` is when the session expires, None where that is not known.
    """

    cert_code: Code
    vendor_slug: Code
    parameters_digest: Id
    processor_key: Id
    session_id: Id | None = None
    url: Id | None = None
    expires_at: AwareDatetime | None = None


class StoredDiscrepancy(RecordPart):
    """A session whose access and payment do not match. `reason` has a few words, and nothing personal.

    `item` is the id of an open dispute of `payment`, a separate problem; an `inquiry` has taken no money.
    """

    session_id: Id
    reason: Sentence
    item: Id = ""
    amount: int | None = None
    currency: Code = ""
    payment: Id = ""
    inquiry: bool = False


class LastReconciliation(Record):
    """The result of the last reconciliation of the whole window, for the owner's page.

    `unpaid` are completed sessions whose payment has not come yet; `unreadable` are records that cannot be read.
    Of these and of the discrepancies at most 50 of a kind are kept. `charges_at` is when the charges themselves,
    not only the events about them, were last searched for refunds and disputes. `disputes` are the open ones, in
    every state of their access, and `more_disputes` counts those that are not kept.
    """

    at: AwareDatetime
    since: AwareDatetime
    examined: int
    granted: int
    unpaid: int
    without_access: int
    without_payment: int
    paid_without_access: tuple[StoredDiscrepancy, ...]
    access_without_payment: tuple[StoredDiscrepancy, ...]
    unreadable: tuple[Id, ...] = ()
    partly_refunded: int = 0
    charges_at: AwareDatetime | None = None
    disputes: tuple[StoredDiscrepancy, ...] = ()
    more_disputes: int = 0


class UnknownSales(Record):
    """The processor has completed sessions that this store does not know; `since` is when that was found."""

    since: AwareDatetime


class JournalEntry(Record):
    """One change by the owner: no e-mail address in it, so that it can stay after an erasure."""

    at: AwareDatetime
    action: JournalAction
    session_id: Id
    reason: Sentence


class Receipt(Record):
    """The last parameters of a product that the processor has accepted; `digest` is over them and the version.

    `deployment` is where: in another mode, or at another processor, it proves nothing. `amount_total` and
    `currency` are those of the session that was tried, None in a receipt of an older release.
    """

    vendor_slug: Code
    cert_code: Code
    digest: Id
    parameters: Annotated[dict[str, JsonValue], Impersonal]
    api_version: Code
    run_id: Id
    deployment: Id
    session_id: Id
    accepted_at: AwareDatetime
    amount_total: int | None = None
    currency: Code | None = None


class PreflightTrial(Record):
    """The state of one product in a preflight.

    `asked` is written before the request: a repeated request with the same `idempotency_key` gets the same
    session. `stand_in` means that the price is not the product's own. `mismatch` is a sentence about a session
    that is not what was asked for: then there is no receipt.
    """

    run_id: Id
    deployment: Id
    intent_id: Id
    vendor_slug: Code
    cert_code: Code
    digest: Id
    parameters: Annotated[dict[str, JsonValue], Impersonal]
    api_version: Code
    stand_in: bool
    attempt: int = 1
    idempotency_key: Id
    state: TrialState = "asked"
    session_id: Id | None = None
    expiry_intent_id: Id | None = None
    note: Sentence = ""
    asked_at: AwareDatetime
    amount_total: int | None = None
    currency: Code | None = None
    mismatch: Sentence = ""

    @property
    def product(self) -> ProductKey:
        return ProductKey("cert", self.cert_code, self.vendor_slug)

    @property
    def is_unfinished(self) -> bool:
        """Return whether it may have left a session open."""
        return self.state in {"asked", "open"}

    @property
    def needs_attention(self) -> bool:
        """Return whether it needs attention: its session may be open, or was completed."""
        return self.is_unfinished or self.state == "completed"


class OwnSession(Record):
    """A session that a preflight or a verification created."""

    session_id: Id
    made_by: Literal["preflight", "verify"]
    run_id: Id = ""
    made_at: AwareDatetime


class DriftResult(Record):
    """The conditions that did not hold at the last check of a visitor's session."""

    session_id: Id
    looked_at: AwareDatetime
    kinds: tuple[Code, ...] = ()
