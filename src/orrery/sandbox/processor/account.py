"""The account that the sandbox starts with: a NZD account with USD prices (spec 1)."""

import hashlib
from dataclasses import dataclass

from orrery.sandbox.ground import Document
from orrery.sandbox.processor.parameters import CONFIGURABLE_METHODS
from orrery.sandbox.processor.sessions import ENABLED_METHODS
from orrery.sandbox.processor.world import Mode, World

ACCOUNT_ID = "acct_orrery_sandbox"
ACCOUNT_CURRENCY = "nzd"
ACCOUNT_UNITS_PER = {"usd": 1.7, "eur": 1.95, "nzd": 1.0}
"""The sandbox's fixed exchange rates, from a price's currency to the account's."""

_OWNER = "owner@orrery.test"
_CONFIGURATION_NAME = "Orrery Sandbox"


@dataclass(frozen=True, slots=True)
class PriceSeed:
    """A price that exists at the start; `unit_amount` in the currency's smallest unit.

    Without a `mode` the price is in the sandbox's first world: test, or live beside live keys only.
    """

    id: str
    product: str
    unit_amount: int
    currency: str = "usd"
    active: bool = True
    mode: Mode | None = None


def open_account(world: World, prices: tuple[PriceSeed, ...]) -> None:
    """Create the missing objects; existing ones keep their state, so that a price changed by hand stays so."""
    now = world.now()
    wanted = [_account(now), *_configurations(), *_value_lists(now), *(new_price(seed, now) for seed in prices)]
    world.save(*(one for one in wanted if world.state.get(one["object"], one["id"]) is None))


def new_price(seed: PriceSeed, created: int) -> Document:
    return {
        "id": seed.id,
        "object": "price",
        "active": seed.active,
        "billing_scheme": "per_unit",
        "created": created,
        "currency": seed.currency,
        "custom_unit_amount": None,
        "livemode": False,
        "lookup_key": None,
        "metadata": {},
        "nickname": seed.product,
        "product": f"prod_{_digest(seed.product)}",
        "recurring": None,
        "tax_behavior": "unspecified",
        "tiers_mode": None,
        "transform_quantity": None,
        "type": "one_time",
        "unit_amount": seed.unit_amount,
        "unit_amount_decimal": str(seed.unit_amount),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:14]


def _account(now: int) -> Document:
    return {
        "id": ACCOUNT_ID,
        "object": "account",
        "business_profile": {
            "mcc": "8299",
            "name": _CONFIGURATION_NAME,
            "support_email": _OWNER,
            "support_phone": None,
            "support_url": None,
            "url": None,
        },
        "business_type": "individual",
        "capabilities": {"card_payments": "active", "link_payments": "active", "transfers": "active"},
        "charges_enabled": True,
        "country": "NZ",
        "created": now,
        "default_currency": ACCOUNT_CURRENCY,
        "details_submitted": True,
        "email": _OWNER,
        "metadata": {},
        "payouts_enabled": True,
        "settings": {
            "branding": {"icon": None, "logo": None, "primary_color": "#1d4ed8", "secondary_color": "#f59e0b"},
            "card_payments": {"statement_descriptor_prefix": "ORRERY"},
            "dashboard": {"display_name": _CONFIGURATION_NAME, "timezone": "Pacific/Auckland"},
            "payments": {"statement_descriptor": "ORRERY PRACTICE"},
        },
        "type": "standard",
    }


def _configurations() -> list[Document]:
    """Return four configurations: two share the default's name and both claim to be it (spec 1)."""
    return [
        new_configuration("pmc_sandbox_default", _CONFIGURATION_NAME, is_default=True),
        new_configuration(
            "pmc_sandbox_platform", _CONFIGURATION_NAME, is_default=True, parent="pmc_sandbox_parent"
        ),
        new_configuration("pmc_sandbox_parent", "Platform", is_default=False),
        new_configuration("pmc_sandbox_experiment", "Experiment", is_default=False),
    ]


def new_configuration(key: str, name: str, *, is_default: bool, parent: str | None = None) -> Document:
    """Return a payment method configuration with the account's methods switched on."""
    switches = {
        slug: _switch(on=slug in ENABLED_METHODS) for slug in CONFIGURABLE_METHODS if slug not in _NOT_SHOWN
    }
    return {
        "id": key,
        "object": "payment_method_configuration",
        "active": True,
        "application": None,
        "is_default": is_default,
        "livemode": False,
        "name": name,
        "parent": parent,
        **switches,
    }


_NOT_SHOWN = ("apple_pay_later", "fr_meal_voucher_conecs")


def _switch(*, on: bool) -> Document:
    preference = "on" if on else "off"
    return {
        "available": on,
        "display_preference": {"overridable": None, "preference": preference, "value": preference},
    }


_VALUE_LISTS: dict[str, tuple[str, str]] = {
    "email_blocklist": ("Email block list", "email"),
    "card_fingerprint_blocklist": ("Card fingerprint block list", "card_fingerprint"),
    "client_ip_address_blocklist": ("Client IP address block list", "ip_address"),
    "card_bin_blocklist": ("Card BIN block list", "card_bin"),
}


def _value_lists(now: int) -> list[Document]:
    known: Document = {"object": "radar.value_list", "created_by": _OWNER, "livemode": False, "metadata": {}}
    return [
        {**known, "id": f"rsl_sandbox_{alias}", "alias": alias, "created": now, "name": name, "item_type": kind}
        for alias, (name, kind) in _VALUE_LISTS.items()
    ]
