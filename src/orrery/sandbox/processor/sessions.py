"""Checkout sessions: what is refused at their creation (spec 1, Errors), create, read, list, expire."""

import re

from orrery.sandbox.ground import Document
from orrery.sandbox.processor.call import ApiCall, page
from orrery.sandbox.processor.world import World, api_error, expire, invalid, new_id, unknown_parameter

ENABLED_METHODS = ("card", "link")
"""The payment methods of the account (spec 1, Session parameters)."""

EU_METHODS: dict[str, tuple[str, ...]] = {
    "ideal": ("eur",),
    "bancontact": ("eur",),
    "eps": ("eur",),
    "giropay": ("eur",),
    "p24": ("eur", "pln"),
}
"""Methods that work in some currencies only (spec 1, Limits)."""

_UNAVAILABLE = {
    "cashapp": "cashapp is only available to accounts domiciled in the US; this account is in NZ.",
    "klarna": "klarna is not available for this account, and the total is below its minimum amount.",
    "affirm": "affirm is not available in this account's region.",
}
METHODS_GONE_FROM = "2026-09-30"
"""From this API version (2026-09-30.endive) on, sessions take no `payment_method_types` (decision 1)."""

MINUTE, HOUR = 60, 3600
MIN_LIFETIME, MAX_LIFETIME = 30 * MINUTE, 24 * HOUR
"""facts/checkout.md, Sessions: seconds between creation and `expires_at`."""

_URL = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://|www\.|mailto:)\S"
    r"|(?<![\w@.-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|org|example)(?![\w-])",
    re.IGNORECASE,
)


def check_session(world: World, params: Document, version: str) -> list[Document]:
    """Return the prices of the line items, or raise the refusal of the first parameter that is wrong."""
    if version >= METHODS_GONE_FROM and "payment_method_types" in params:
        raise unknown_parameter("payment_method_types")
    prices = [_price(world, item, number) for number, item in enumerate(params["line_items"])]
    for slot, content in params.get("custom_text", {}).items():
        if _URL.search(content["message"]):
            name = f"custom_text[{slot}][message]"
            raise invalid("The message holds a URL, which is potentially unsafe: use plain text.", name)
    if params.get("consent_collection", {}).get("promotions") == "auto":
        message = "Collecting consent to promotions is only available to merchants in the US."
        raise invalid(message, "consent_collection[promotions]")
    _check_lifetime(params, world.now())
    for method in params.get("payment_method_types", ENABLED_METHODS):
        if (refusal := _method_refusal(method, prices[0]["currency"])) is not None:
            raise invalid(refusal, "payment_method_types")
    return prices


def _price(world: World, item: Document, number: int) -> Document:
    name = f"line_items[{number}][price]"
    price = world.find("price", item["price"], name, status=400)
    if not price["active"]:
        raise invalid("The price specified is inactive. This field only accepts active prices.", name)
    return price


def is_email(text: str) -> bool:
    """Return whether the text has the form of an e-mail address."""
    return re.fullmatch(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)*", text) is not None


def _check_lifetime(params: Document, now: int) -> None:
    lifetime = params.get("expires_at", now + MAX_LIFETIME) - now
    if lifetime < MIN_LIFETIME:
        raise invalid("`expires_at` must be at least 30 minutes after the session's creation.", "expires_at")
    if lifetime > MAX_LIFETIME:
        raise invalid("`expires_at` must be at most 24 hours after the session's creation.", "expires_at")


def _method_refusal(method: str, currency: str) -> str | None:
    if method in _UNAVAILABLE:
        return f"The payment method type provided: {method} is invalid. {_UNAVAILABLE[method]}"
    currencies = EU_METHODS.get(method)
    if currencies is not None and currency not in currencies:
        return f"The currency provided ({currency}) is invalid: `{method}` only supports {', '.join(currencies)}."
    if currencies is None and method not in ENABLED_METHODS:
        return f"The payment method type provided: {method} is invalid. It is not activated for this account."
    return None


def total_of(params: Document, prices: list[Document]) -> int:
    """Return the sum of the line items in the currency's smallest unit."""
    items = params["line_items"]
    return sum(price["unit_amount"] * item["quantity"] for item, price in zip(items, prices, strict=True))


_SESSION_SUFFIX = 58
_KIND = "checkout.session"
_TEXT_SLOTS = ("after_submit", "shipping_address", "submit", "terms_of_service_acceptance")


def create(call: ApiCall) -> Document:
    """POST /v1/checkout/sessions."""
    prices = check_session(call.world, call.params, call.version)
    session = _new_session(call, prices)
    call.world.save(session, _line_items(session, call.params, prices))
    call.world.watch(session)
    return session


def list_all(call: ApiCall) -> Document:
    """GET /v1/checkout/sessions."""
    params = dict(call.params)
    buyer: Document = params.pop("customer_details", {})
    sessions = call.world.state.newest_first(_KIND)
    found = (one for one in sessions if buyer.items() <= (one["customer_details"] or {}).items())
    return page(found, params, call.path)


def expire_one(call: ApiCall) -> Document:
    """POST /v1/checkout/sessions/{session}/expire."""
    session = call.world.find(_KIND, call.id, "session")
    if session["status"] != "open":
        message = f"Only Checkout Sessions with a status of open can be expired; this one is {session['status']}."
        raise api_error(400, message)
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


def _new_session(call: ApiCall, prices: list[Document]) -> Document:
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
    content: Document = {"default_value": None, "value": None} | field["dropdown"]
    shown = {"dropdown": content, "numeric": None, "text": None, "optional": field.get("optional", False)}
    return shown | {key: field[key] for key in ("key", "label", "type")}


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
