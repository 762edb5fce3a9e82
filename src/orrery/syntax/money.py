"""An amount of money as a text. Pure."""

from decimal import Decimal

_WHOLE = frozenset(
    {"bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf"}
)
"""Currencies without a smaller unit."""

_THOUSANDTHS = frozenset({"bhd", "jod", "kwd", "omr", "tnd"})
"""Currencies whose smallest unit is a thousandth."""


def decimals(currency: str) -> int:
    """Return how many digits an amount has behind its point."""
    return 0 if currency in _WHOLE else 3 if currency in _THOUSANDTHS else 2


def decimal(smallest_units: int, currency: str) -> str:
    """Return an amount without its currency: `49.00`, `-4900`."""
    return f"{Decimal(smallest_units).scaleb(-decimals(currency)):f}"


def money(smallest_units: int, currency: str) -> str:
    """Return an amount for people: `49.00 USD`, `-4900 JPY`."""
    return f"{decimal(smallest_units, currency)} {currency.upper()}"
