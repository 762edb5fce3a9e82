"""The processor's refusals at a session's creation: spec 1's Errors table and the vendor's own limits."""

import re
from ipaddress import ip_address

from orrery.sandbox.processor.errors import invalid, unknown_parameter
from orrery.sandbox.processor.world import World
from orrery.sandbox.state import Document

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


def is_ip_address(text: str) -> bool:
    """Return whether the text is an IPv4 or IPv6 address."""
    try:
        _ = ip_address(text)
    except ValueError:
        return False
    return True


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
