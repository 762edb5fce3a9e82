"""Amounts are shown in the currency's own unit."""

import pytest

from orrery.syntax.money import money


@pytest.mark.parametrize(
    ("smallest_units", "currency", "shown"),
    [
        (4900, "usd", "49.00 USD"),
        (5, "eur", "0.05 EUR"),
        (-4900, "jpy", "-4900 JPY"),
        (1234, "kwd", "1.234 KWD"),
    ],
)
def test_an_amount_is_shown_in_its_unit(smallest_units: int, currency: str, shown: str) -> None:
    """A currency has two decimal places, none, or three."""
    assert money(smallest_units, currency) == shown
