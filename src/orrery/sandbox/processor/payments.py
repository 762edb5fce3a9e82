"""Payments: intents, charges and buyers; and the owner's later actions on charges."""

import hashlib
from dataclasses import dataclass, field
from typing import Literal

from orrery.sandbox.ground import Document
from orrery.sandbox.processor.world import World, api_error, new_id

Verdict = Literal["approved", "declined", "challenge", "delayed", "review"]
"""The bank's answer: approved, declined, authentication required, later, or approved with a review."""

ANSWER_WITHIN = 9 * 24 * 3600
"""Seconds that the owner has to answer a dispute: banks give 7 to 21 days, less the vendor's own time."""

_INQUIRY = "warning_"
"""What the status of a mere question of the bank begins with."""

_DECLINED = "generic_decline"
_DECLINE_MESSAGE = "Your card was declined."
_NULL_IN_CHARGES = (
    "application application_fee application_fee_amount balance_transaction description on_behalf_of "
    "receipt_number receipt_url shipping source source_transfer statement_descriptor "
    "statement_descriptor_suffix transfer_data transfer_group"
)
_NULL_IN_INTENTS = (
    "application application_fee_amount automatic_payment_methods canceled_at cancellation_reason "
    "client_secret description next_action on_behalf_of payment_method_configuration_details processing "
    "review setup_future_usage shipping source statement_descriptor statement_descriptor_suffix "
    "transfer_data transfer_group"
)
_BLOCK_LISTS = ("email_blocklist", "card_fingerprint_blocklist", "client_ip_address_blocklist")


@dataclass(frozen=True, slots=True)
class Payment:
    """The buyer's entries. `wallet` is a device wallet over the card, or None."""

    email: str
    verdict: Verdict
    method: str = "card"
    wallet: str | None = None
    ip: str = "127.0.0.1"
    answers: dict[str, str] = field(default_factory=dict[str, str])
    challenged: bool = False
    terms_accepted: bool = False


def pay(world: World, session: Document, payment: Payment) -> str | None:
    """Carry out a payment for an open session; return why it was refused, or None when it went through."""
    refused = _blocked(world, payment) or payment.verdict == "declined"
    intent, charge = _intent(world, session, payment), _charge(world, session, payment)
    charge["payment_intent"], intent["latest_charge"] = intent["id"], charge["id"]
    intent["payment_method"] = charge["payment_method"]
    if refused:
        session["payment_intent"] = intent["id"]
        return _decline(world, session, intent, charge, blocked=payment.verdict != "declined")
    _complete(world, session, payment, intent, charge)
    return None


def settle(world: World, session: Document, *, paid: bool = True) -> Document:
    """Let a delayed payment arrive, or fail permanently."""
    if session["status"] != "complete" or session["payment_status"] != "unpaid":
        raise api_error(400, "Only a complete session that is unpaid can be settled.")
    intent = world.find("payment_intent", session["payment_intent"], "payment_intent")
    charge = world.find("charge", intent["latest_charge"], "charge")
    if paid:
        session["payment_status"] = "paid"
        _succeed(intent, charge)
    else:
        _fail(intent, charge, network="declined_by_network")
    happened = "succeeded" if paid else "failed"
    world.record(
        [session, intent, charge],
        (f"charge.{happened}", charge),
        (f"checkout.session.async_payment_{happened}", session),
    )
    return session


def refund(world: World, charge: Document, amount: int | None = None) -> Document:
    """Give back a charge, or part of it, as the owner does in the dashboard."""
    left = charge["amount"] - charge["amount_refunded"]
    given = left if amount is None else amount
    if charge["status"] != "succeeded" or not 0 < given <= left:
        raise api_error(400, "This charge cannot be refunded by that amount.")
    charge["amount_refunded"] += given
    charge["refunded"] = charge["amount_refunded"] == charge["amount"]
    world.record([charge], ("charge.refunded", charge))
    return charge


def dispute(world: World, charge: Document, amount: int | None = None, *, is_inquiry: bool = False) -> Document:
    """Let the buyer's bank contest a charge, or part of it; or only ask about it, which takes no money."""
    if charge["status"] != "succeeded" or charge["disputed"]:
        raise api_error(400, "This charge cannot be disputed.")
    charge["disputed"] = True
    contested: Document = {
        "id": new_id("du_"),
        "object": "dispute",
        "amount": charge["amount"] if amount is None else amount,
        "charge": charge["id"],
        "created": world.now(),
        "currency": charge["currency"],
        "evidence_details": {
            "due_by": world.now() + ANSWER_WITHIN,
            "has_evidence": False,
            "past_due": False,
            "submission_count": 0,
        },
        "is_charge_refundable": False,
        "livemode": False,
        "payment_intent": charge["payment_intent"],
        "reason": "fraudulent",
        "status": f"{_INQUIRY}needs_response" if is_inquiry else "needs_response",
    }
    world.record([charge, contested], ("charge.dispute.created", contested))
    return charge


def contest(world: World, charge: Document) -> Document:
    """Let the bank contest what it only asked about."""
    asked = _open_dispute(world, charge, f"{_INQUIRY}needs_response")
    contested = asked | {"status": "needs_response"}
    world.record([contested], ("charge.dispute.funds_withdrawn", contested))
    return charge


def close_dispute(world: World, charge: Document, *, won: bool) -> Document:
    """Let the bank decide about a contested charge."""
    closed = _open_dispute(world, charge, "needs_response") | {"status": "won" if won else "lost"}
    world.record([closed], ("charge.dispute.closed", closed))
    return charge


def _open_dispute(world: World, charge: Document, status: str) -> Document:
    found = next((one for one in world.state.newest_first("dispute") if one["charge"] == charge["id"]), None)
    if found is None or found["status"] != status:
        raise api_error(400, "This charge has no open dispute.")
    return found


def _decline(world: World, session: Document, intent: Document, charge: Document, *, blocked: bool) -> str:
    _fail(intent, charge, network="not_sent_to_network" if blocked else "declined_by_network")
    world.record([session, intent, charge], ("charge.failed", charge), ("payment_intent.payment_failed", intent))
    return _DECLINE_MESSAGE


def _complete(world: World, session: Document, payment: Payment, intent: Document, charge: Document) -> None:
    buyer = _customer(world, payment) if session["customer_creation"] == "always" else None
    charge["customer"] = intent["customer"] = session["customer"] = buyer["id"] if buyer else None
    delayed = payment.verdict == "delayed" or world.faults.request("payment").take("unpaid") is not None
    if not delayed:
        _succeed(intent, charge)
    _fill_in(session, payment)
    changed = [session, buyer] if buyer else [session]
    events: list[tuple[str, Document]] = [("customer.created", buyer)] if buyer else []
    if session["amount_total"]:
        session |= {"payment_intent": intent["id"], "payment_status": "unpaid" if delayed else "paid"}
        changed += [intent, charge, *_reviews(world, payment, charge)]
        succeeded = [("charge.succeeded", charge), ("payment_intent.succeeded", intent)]
        events += [("charge.pending", charge)] if delayed else succeeded
    world.record(changed, *events, ("checkout.session.completed", session))


def _fill_in(session: Document, payment: Payment) -> None:
    for one in session["custom_fields"]:
        one[one["type"]]["value"] = payment.answers.get(one["key"]) or None
    accepted = "accepted" if payment.terms_accepted else None
    session |= {
        "status": "complete",
        "url": None,
        "customer_details": {
            "address": None,
            "business_name": None,
            "email": payment.email,
            "individual_name": None,
            "name": None,
            "phone": None,
            "tax_exempt": "none",
            "tax_ids": [],
        },
        "consent": {"promotions": None, "terms_of_service": accepted} if session["consent_collection"] else None,
    }


def _customer(world: World, payment: Payment) -> Document:
    return {
        "id": new_id("cus_", 14),
        "object": "customer",
        "address": None,
        "balance": 0,
        "created": world.now(),
        "currency": None,
        "delinquent": False,
        "description": None,
        "email": payment.email,
        "livemode": False,
        "metadata": {},
        "name": None,
        "phone": None,
        "tax_exempt": "none",
    }


def _intent(world: World, session: Document, payment: Payment) -> Document:
    """Return the session's payment intent: the first attempt makes it, further ones go on with it."""
    known = world.state.get("payment_intent", session["payment_intent"]) if session["payment_intent"] else None
    if known:
        return known | {"status": "processing"}
    return dict.fromkeys(_NULL_IN_INTENTS.split()) | {
        "id": new_id("pi_"),
        "object": "payment_intent",
        "amount": session["amount_total"],
        "amount_capturable": 0,
        "amount_received": 0,
        "capture_method": "automatic_async",
        "confirmation_method": "automatic",
        "created": world.now(),
        "currency": session["currency"],
        "customer": None,
        "last_payment_error": None,
        "latest_charge": None,
        "livemode": False,
        "metadata": {},
        "payment_method_options": session["payment_method_options"],
        "payment_method_types": session["payment_method_types"],
        "receipt_email": payment.email,
        "status": "processing",
    }


def _charge(world: World, session: Document, payment: Payment) -> Document:
    return dict.fromkeys(_NULL_IN_CHARGES.split()) | {
        "id": new_id("ch_"),
        "object": "charge",
        "amount": session["amount_total"],
        "amount_captured": 0,
        "amount_refunded": 0,
        "billing_details": {"address": None, "email": payment.email, "name": None, "phone": None, "tax_id": None},
        "calculated_statement_descriptor": "ORRERY PRACTICE",
        "captured": False,
        "created": world.now(),
        "currency": session["currency"],
        "customer": None,
        "disputed": False,
        "failure_code": None,
        "failure_message": None,
        "fraud_details": {},
        "livemode": False,
        "metadata": {},
        "outcome": None,
        "paid": False,
        "payment_intent": None,
        "payment_method": new_id("pm_"),
        "payment_method_details": _method_details(payment),
        "receipt_email": payment.email,
        "refunded": False,
        "review": None,
        "status": "pending",
    }


def _method_details(payment: Payment) -> Document:
    if payment.method != "card":
        return {"type": payment.method, payment.method: {}}
    challenge = {"authentication_flow": "challenge", "result": "authenticated", "version": "2.2.0"}
    three_d_secure, wallet = challenge if payment.challenged else None, payment.wallet
    card: Document = {
        "brand": "visa",
        "country": "US",
        "exp_month": 12,
        "exp_year": 2034,
        "fingerprint": card_fingerprint(payment.email),
        "funding": "credit",
        "last4": "0002" if payment.verdict == "declined" else "4242",
        "network": "visa",
        "three_d_secure": three_d_secure,
        "wallet": wallet and {"type": wallet, wallet: {}, "dynamic_last4": None},
    }
    return {"type": "card", "card": card}


def card_fingerprint(email: str) -> str:
    """Return the fingerprint of the one card that each buyer of the sandbox has."""
    return hashlib.sha256(email.lower().encode()).hexdigest()[:16]


def _succeed(intent: Document, charge: Document) -> None:
    amount = charge["amount"]
    intent |= {"status": "succeeded", "amount_received": amount, "last_payment_error": None}
    charge |= {"status": "succeeded", "paid": True, "captured": True, "amount_captured": amount}
    charge["outcome"] = _outcome("authorized", "approved_by_network", "Payment complete.")


def _fail(intent: Document, charge: Document, *, network: str) -> None:
    kind = "blocked" if network == "not_sent_to_network" else "issuer_declined"
    charge |= {"status": "failed", "failure_code": "card_declined", "failure_message": _DECLINE_MESSAGE}
    reason = "rule" if kind == "blocked" else _DECLINED
    charge["outcome"] = _outcome(kind, network, "The bank did not approve the payment.", reason)
    error = {"type": "card_error", "code": "card_declined", "decline_code": _DECLINED, "charge": charge["id"]}
    intent |= {"status": "requires_payment_method", "last_payment_error": error | {"message": _DECLINE_MESSAGE}}


def _outcome(kind: str, network: str, message: str, reason: str | None = None) -> Document:
    refused_by_bank = kind == "issuer_declined"
    return {
        "advice_code": "try_again_later" if refused_by_bank else None,
        "network_advice_code": None,
        "network_decline_code": "05" if refused_by_bank else None,
        "network_status": network,
        "reason": reason,
        "risk_level": "highest" if kind == "blocked" else "normal",
        "risk_score": 90 if kind == "blocked" else 20,
        "seller_message": message,
        "type": kind,
    }


def _reviews(world: World, payment: Payment, charge: Document) -> list[Document]:
    if payment.verdict != "review":
        return []
    review: Document = {
        "id": new_id("prv_"),
        "object": "review",
        "billing_zip": None,
        "charge": charge["id"],
        "closed_reason": None,
        "created": world.now(),
        "ip_address": payment.ip,
        "ip_address_location": None,
        "livemode": False,
        "open": True,
        "opened_reason": "manual",
        "payment_intent": charge["payment_intent"],
        "reason": "manual",
        "session": None,
    }
    charge["review"] = review["id"]
    return [review]


def _blocked(world: World, payment: Payment) -> bool:
    traits = dict(zip(_BLOCK_LISTS, (payment.email, card_fingerprint(payment.email), payment.ip), strict=True))
    aliases = {one["id"]: one["alias"] for one in world.state.newest_first("radar.value_list")}
    items = world.state.newest_first("radar.value_list_item")
    return any(traits.get(aliases[item["value_list"]], "").lower() == item["value"].lower() for item in items)
