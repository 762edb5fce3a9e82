"""The processor's refusals at a session's creation: spec 1's Errors table and the vendor's own limits."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from orrery.sandbox.processor.errors import ApiError, invalid, missing_parameter, unknown_parameter
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

SMALLEST_TOTAL = 50
"""The least amount that can be charged, in the currency's smallest unit; zero needs no payment."""

MAX_CUSTOM_FIELDS = 3
MAX_DROPDOWN_OPTIONS = 200
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_-]+")
_URL = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://|www\.|mailto:)\S"
    r"|(?<![\w@.-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|org|example)(?![\w-])",
    re.IGNORECASE,
)


def check_session(world: World, params: Document, version: str) -> list[Document]:
    """Return the prices of the line items, or raise the refusal of the first parameter that is wrong."""
    _check_version(params, version)
    _check_mode(params)
    prices = _check_line_items(world, params)
    _check_addresses(params)
    _check_texts(params)
    _check_fields(params.get("custom_fields", []))
    _check_consent(params)
    _check_lifetime(params, world.now())
    _check_methods(world, params, prices[0]["currency"])
    _check_total(params, prices)
    return prices


def _check_version(params: Document, version: str) -> None:
    if version >= METHODS_GONE_FROM and "payment_method_types" in params:
        raise unknown_parameter("payment_method_types")


def _check_mode(params: Document) -> None:
    if "mode" not in params:
        raise missing_parameter("mode")
    if params["mode"] != "payment" or params.get("ui_mode", "hosted_page") != "hosted_page":
        raise invalid("The sandbox simulates hosted pages in payment mode only.", "mode", "sandbox_not_simulated")


def _check_line_items(world: World, params: Document) -> list[Document]:
    items: list[Document] = params.get("line_items", [])
    if not items:
        raise missing_parameter("line_items")
    prices = [_price(world, item, f"line_items[{number}]") for number, item in enumerate(items)]
    currencies = {price["currency"] for price in prices} | {params.get("currency", prices[0]["currency"])}
    if len(currencies) > 1:
        raise invalid("All prices of a Checkout Session must have its currency.", "line_items")
    return prices


def _price(world: World, item: Document, name: str) -> Document:
    if "price" not in item:
        raise missing_parameter(f"{name}[price]")
    if item.get("quantity", 0) < 1:
        raise invalid(f"Quantity is required and at least 1: add `quantity` to `{name}`.", f"{name}[quantity]")
    price = world.find("price", item["price"], f"{name}[price]", status=400)
    if not price["active"]:
        raise invalid("The price specified is inactive. This field only accepts active prices.", f"{name}[price]")
    return price


def _check_addresses(params: Document) -> None:
    if "success_url" not in params:
        raise missing_parameter("success_url")
    for name in ("success_url", "cancel_url"):
        if name in params and not _is_url(params[name]):
            raise invalid("Not a valid URL", name, "url_invalid")
    address = params.get("customer_email")
    if address is not None and not is_email(address):
        raise invalid(f"Invalid email address: {address[:80]}", "customer_email", "email_invalid")


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"\s", text)
    except ValueError:
        return False


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


def _check_texts(params: Document) -> None:
    for slot, content in params.get("custom_text", {}).items():
        name = f"custom_text[{slot}][message]"
        if _URL.search(content.get("message", "")):
            raise invalid("The message holds a URL, which is potentially unsafe: use plain text.", name)
        if slot == "shipping_address" and content:
            raise invalid("This slot needs shipping_address_collection.", name)


def _check_fields(fields: list[Document]) -> None:
    if len(fields) > MAX_CUSTOM_FIELDS:
        raise invalid(f"You can have at most {MAX_CUSTOM_FIELDS} custom fields.", "custom_fields")
    keys = [field["key"] for field in fields]
    if len(set(keys)) < len(keys):
        raise invalid("The key of each custom field must be unique.", "custom_fields")
    for number, field in enumerate(fields):
        _check_field(field, f"custom_fields[{number}]")


def _check_field(field: Document, name: str) -> None:
    if not _PLAIN_NAME.fullmatch(field["key"]):
        raise invalid("A custom field's key must be alphanumeric.", f"{name}[key]")
    if field["type"] != "dropdown":
        return
    if "dropdown" not in field:
        raise missing_parameter(f"{name}[dropdown]")
    options = field["dropdown"]["options"]
    values = [option["value"] for option in options]
    if not 1 <= len(options) <= MAX_DROPDOWN_OPTIONS or len(set(values)) < len(values):
        raise invalid("A dropdown has 1 to 200 options with different values.", f"{name}[dropdown][options]")
    if not all(_PLAIN_NAME.fullmatch(value) for value in values):
        raise invalid("The value of an option must be alphanumeric.", f"{name}[dropdown][options]")


def _check_consent(params: Document) -> None:
    consent = params.get("consent_collection", {})
    if consent.get("promotions") == "auto":
        message = "Collecting consent to promotions is only available to merchants in the US."
        raise invalid(message, "consent_collection[promotions]")
    replaced = params.get("custom_text", {}).get("terms_of_service_acceptance")
    if replaced and consent.get("terms_of_service") != "required":
        message = "This slot needs consent_collection[terms_of_service] to be required."
        raise invalid(message, "custom_text[terms_of_service_acceptance]")


def _check_lifetime(params: Document, now: int) -> None:
    lifetime = params.get("expires_at", now + MAX_LIFETIME) - now
    if lifetime < MIN_LIFETIME:
        raise invalid("`expires_at` must be at least 30 minutes after the session's creation.", "expires_at")
    if lifetime > MAX_LIFETIME:
        raise invalid("`expires_at` must be at most 24 hours after the session's creation.", "expires_at")


def _check_methods(world: World, params: Document, currency: str) -> None:
    configuration = params.get("payment_method_configuration")
    if configuration is not None:
        _check_configuration(world, params, configuration)
    methods = params.get("payment_method_types", ENABLED_METHODS)
    for number, method in enumerate(methods):
        refusal = _method_refusal(method, currency)
        if refusal is not None:
            raise invalid(refusal, "payment_method_types")
        if method in methods[:number]:
            raise invalid(f"payment_method_types names {method} twice.", "payment_method_types")


def _check_configuration(world: World, params: Document, configuration: str) -> None:
    if "payment_method_types" in params:
        message = (
            "You may only specify one of these parameters: payment_method_types, payment_method_configuration."
        )
        raise invalid(message, "payment_method_types", "parameters_exclusive")
    _ = world.find("payment_method_configuration", configuration, "payment_method_configuration", status=400)


def _method_refusal(method: str, currency: str) -> str | None:
    if method in _UNAVAILABLE:
        return f"The payment method type provided: {method} is invalid. {_UNAVAILABLE[method]}"
    currencies = EU_METHODS.get(method)
    if currencies is not None and currency not in currencies:
        return f"The currency provided ({currency}) is invalid: `{method}` only supports {', '.join(currencies)}."
    if currencies is None and method not in ENABLED_METHODS:
        return f"The payment method type provided: {method} is invalid. It is not activated for this account."
    return None


def _check_total(params: Document, prices: list[Document]) -> None:
    total = total_of(params, prices)
    if 0 < total < SMALLEST_TOTAL:
        message = f"The total must be at least {SMALLEST_TOTAL} of the currency's smallest units."
        raise ApiError(400, message, code="amount_too_small", stored=False)


def total_of(params: Document, prices: list[Document]) -> int:
    """Return the sum of the line items in the currency's smallest unit."""
    items = params["line_items"]
    return sum(price["unit_amount"] * item["quantity"] for item, price in zip(items, prices, strict=True))
