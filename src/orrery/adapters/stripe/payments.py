"""Stripe's objects about payments and buyers, with the fields that Orrery reads, and their conversion."""

from collections import Counter
from typing import Literal

from pydantic import Field

from orrery.adapters.stripe.objects import Identified, Lenient, Loose, Reference, Seconds, from_unix, id_of
from orrery.ports.processor import Balance, Charge, ChargeEvent, Customer, Dispute, Price, Review

CHARGE_EVENTS = (
    "charge.refunded",
    "charge.dispute.created",
    "charge.dispute.funds_withdrawn",  # an inquiry of the bank became a dispute
    "charge.dispute.closed",
)
"""The types of the events about refunds and disputes."""


class _Wallet(Lenient):
    type: str | None = None


class _ThreeDSecure(Lenient):
    result: str | None = None


class _PaidCard(Lenient):
    wallet: Loose[_Wallet] = None
    three_d_secure: Loose[_ThreeDSecure] = None
    fingerprint: str | None = None


class _Details(Lenient):
    type: Loose[str] = None
    card: _PaidCard | None = None


class _Outcome(Lenient):
    network_status: str | None = None
    reason: Loose[str] = None
    risk_level: Loose[str] = None
    seller_message: Loose[str] = None


class _Billing(Lenient):
    email: str | None = None


class ChargeObject(Identified):
    """`charge`."""

    created: Seconds
    payment_intent: Reference | None = None
    amount: int
    amount_refunded: int = 0
    currency: str
    paid: bool
    disputed: bool = False
    status: str = ""
    failure_code: Loose[str] = None
    outcome: _Outcome | None = None
    payment_method_details: _Details | None = None
    billing_details: _Billing | None = None
    receipt_email: str | None = None

    def to_value(self) -> Charge:
        outcome, details = self.outcome or _Outcome(), self.payment_method_details or _Details()
        card = details.card or _PaidCard()
        billing = self.billing_details.email if self.billing_details else None
        return Charge(
            id=self.id,
            created=from_unix(self.created),
            payment_intent=id_of(self.payment_intent),
            amount=self.amount,
            amount_refunded=self.amount_refunded,
            currency=self.currency,
            paid=self.paid,
            disputed=self.disputed,
            status=self.status,
            decline=(outcome.reason or self.failure_code) if self.status == "failed" else None,
            network_status=outcome.network_status,
            risk=outcome.risk_level,
            message=outcome.seller_message,
            method=details.type,
            wallet=card.wallet.type if card.wallet else None,
            three_d_secure=card.three_d_secure.result if card.three_d_secure else None,
            card_fingerprint=card.fingerprint,
            email=billing or self.receipt_email,
        )


class _RefundedCharge(ChargeObject):
    object: Literal["charge"]


class _Evidence(Lenient):
    due_by: Loose[Seconds] = None


class _DisputeObject(Identified):
    object: Literal["dispute"]
    charge: Reference
    payment_intent: Reference | None = None
    amount: int
    currency: str
    status: str
    evidence_details: Loose[_Evidence] = None

    def to_value(self) -> Dispute:
        due_by = self.evidence_details.due_by if self.evidence_details else None
        return Dispute(
            id=self.id,
            charge=id_of(self.charge) or "",
            payment_intent=id_of(self.payment_intent),
            amount=self.amount,
            currency=self.currency,
            status=self.status,
            respond_by=from_unix(due_by) if due_by else None,
        )


class _ChargeEventHolder(Lenient):
    object: _RefundedCharge | _DisputeObject = Field(discriminator="object")


class ChargeEventObject(Identified):
    """`event` of one of the types `CHARGE_EVENTS`."""

    created: Seconds
    data: _ChargeEventHolder

    def to_value(self) -> ChargeEvent:
        return ChargeEvent(from_unix(self.created), self.data.object.to_value())


class CustomerObject(Identified):
    """`customer`."""

    created: Seconds
    email: str | None = None
    name: str | None = None

    def to_value(self) -> Customer:
        return Customer(self.id, from_unix(self.created), self.email, self.name)


class ReviewObject(Identified):
    """`review`."""

    created: Seconds
    open: bool
    reason: str
    charge: Reference | None = None
    payment_intent: Reference | None = None
    ip_address: str | None = None

    def to_value(self) -> Review:
        return Review(
            id=self.id,
            created=from_unix(self.created),
            open=self.open,
            reason=self.reason,
            charge=id_of(self.charge),
            payment_intent=id_of(self.payment_intent),
            client_address=self.ip_address,
        )


class _Funds(Lenient):
    amount: int
    currency: str


class BalanceObject(Lenient):
    """`balance`, which has no id."""

    available: list[_Funds]
    pending: list[_Funds]

    def to_value(self) -> Balance:
        return Balance(_by_currency(self.available), _by_currency(self.pending))


class PriceObject(Identified):
    """`price`."""

    active: bool
    unit_amount: int | None = None
    currency: str
    product: Reference | None = None

    def to_value(self) -> Price:
        return Price(self.id, self.active, self.unit_amount, self.currency, id_of(self.product))


def _by_currency(funds: list[_Funds]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in funds:
        total[one.currency] += one.amount
    return dict(total)
