"""An amount of money as a text. Pure."""

_WHOLE = frozenset(
    {"bif", "clp", "djf", "gnf", "jpy", "kmf", "krw", "mga", "pyg", "rwf", "vnd", "vuv", "xaf", "xof", "xpf"}
)
"""Currencies without a smaller unit."""

_THOUSANDTHS = frozenset({"bhd", "jod", "kwd", "omr", "tnd"})
"""Currencies whose smallest unit is a thousandth."""


def money(smallest_units: int, currency: str) -> str:
    """Return an amount for people: `49.00 USD`, `-4900 JPY`."""
    digits = 0 if currency in _WHOLE else 3 if currency in _THOUSANDTHS else 2
    return f"{smallest_units / 10**digits:.{digits}f} {currency.upper()}"
