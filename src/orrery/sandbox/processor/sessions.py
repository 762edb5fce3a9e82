"""Checkout sessions: create, read, list, expire."""

from orrery.sandbox.processor.call import Call
from orrery.sandbox.processor.errors import ApiError
from orrery.sandbox.processor.lists import page
from orrery.sandbox.processor.session_rules import MAX_LIFETIME, check_session, total_of
from orrery.sandbox.processor.world import expire, new_id
from orrery.sandbox.state import Document

_SESSION_SUFFIX = 58
_KIND = "checkout.session"
_TEXT_SLOTS = ("after_submit", "shipping_address", "submit", "terms_of_service_acceptance")


def create(call: Call) -> Document:
    """POST /v1/checkout/sessions."""
    prices = check_session(call.world, call.params, call.version)
    session = _new_session(call, prices)
    call.world.save(session, _line_items(session, call.params, prices))
    call.world.watch(session)
    return session


def retrieve(call: Call) -> Document:
    """GET /v1/checkout/sessions/{session}."""
    return call.world.find(_KIND, call.ids["session"], "session")


def list_all(call: Call) -> Document:
    """GET /v1/checkout/sessions."""
    params = dict(call.params)
    wanted: str | None = params.pop("customer_details", {}).get("email")
    sessions = call.world.state.newest_first(_KIND)
    return page((one for one in sessions if wanted in (None, _email(one))), params, call.path)


def _email(session: Document) -> str | None:
    buyer: Document | None = session["customer_details"]
    return buyer["email"] if buyer else session["customer_email"]


def expire_one(call: Call) -> Document:
    """POST /v1/checkout/sessions/{session}/expire."""
    session = call.world.find(_KIND, call.ids["session"], "session")
    if session["status"] != "open":
        message = f"Only Checkout Sessions with a status of open can be expired; this one is {session['status']}."
        raise ApiError(400, message)
    return expire(call.world, session)


def _line_items(session: Document, params: Document, prices: list[Document]) -> Document:
    pairs = zip(params["line_items"], prices, strict=True)
    items = [_line_item(item["quantity"], price) for item, price in pairs]
    return {"object": "_line_items", "id": session["id"], "items": items}


def _line_item(quantity: int, price: Document) -> Document:
    amount = quantity * price["unit_amount"]
    return {
        "id": new_id("li_"),
        "object": "item",
        "adjustable_quantity": None,
        "amount_discount": 0,
        "amount_subtotal": amount,
        "amount_tax": 0,
        "amount_total": amount,
        "currency": price["currency"],
        "description": price["nickname"],
        "metadata": {},
        "price": price,
        "quantity": quantity,
    }


def _new_session(call: Call, prices: list[Document]) -> Document:
    params, now, key = call.params, call.world.now(), new_id(f"cs_{call.world.mode}_", _SESSION_SUFFIX)
    total = total_of(params, prices)
    return _EMPTY_SESSION | {
        "id": key,
        "amount_subtotal": total,
        "amount_total": total,
        "cancel_url": params.get("cancel_url"),
        "consent_collection": _consent_collection(params),
        "created": now,
        "currency": prices[0]["currency"],
        "custom_fields": [_custom_field(field) for field in params.get("custom_fields", [])],
        "custom_text": {slot: params.get("custom_text", {}).get(slot) or None for slot in _TEXT_SLOTS},
        "customer_creation": params.get("customer_creation", "if_required"),
        "expires_at": params.get("expires_at", now + MAX_LIFETIME),
        "metadata": params.get("metadata", {}),
        "payment_method_options": params.get("payment_method_options", _DEFAULT_OPTIONS),
        "payment_method_types": params.get("payment_method_types") or ["card"],
        "payment_status": "unpaid" if total else "no_payment_required",
        "success_url": params["success_url"],
        "url": f"{call.world.pages_url}/pay/{key}",
    }


def _consent_collection(params: Document) -> Document | None:
    asked = params.get("consent_collection")
    if not asked:
        return None
    return {"payment_method_reuse_agreement": None, "promotions": "none", "terms_of_service": "none"} | asked


def _custom_field(field: Document) -> Document:
    empty: Document = {"default_value": None, "value": None}
    if field["type"] != "dropdown":
        empty |= {"maximum_length": None, "minimum_length": None}
    content = empty | field.get(field["type"], {})
    slots: Document = {"dropdown": None, "numeric": None, "text": None, field["type"]: content}
    return (
        slots | {key: field[key] for key in ("key", "label", "type")} | {"optional": field.get("optional", False)}
    )


_DEFAULT_OPTIONS: Document = {"card": {"request_three_d_secure": "automatic"}}
_NULL_FIELDS = (
    "adaptive_pricing after_expiration allow_promotion_codes billing_address_collection branding_settings "
    "client_reference_id client_secret collected_information consent currency_conversion customer "
    "customer_details customer_email "
    "invoice invoice_creation locale payment_intent payment_link recovered_from return_url setup_intent "
    "shipping_address_collection shipping_cost submit_type subscription "
    "payment_method_configuration_details"
)
_EMPTY_SESSION: Document = dict.fromkeys(_NULL_FIELDS.split()) | {
    "object": _KIND,
    "automatic_tax": {"enabled": False, "liability": None, "provider": None, "status": None},
    "discounts": [],
    "livemode": False,
    "mode": "payment",
    "payment_method_collection": "if_required",
    "phone_number_collection": {"enabled": False},
    "shipping_options": [],
    "status": "open",
    "total_details": {"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0},
    "ui_mode": "hosted_page",
    "wallet_options": None,
}
