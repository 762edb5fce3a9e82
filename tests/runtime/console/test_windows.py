"""How far back a command looks."""

from datetime import timedelta

import pytest

from orrery.errors import Invalid
from orrery.runtime.console.windows import parse_window
from tests.support.tables import each_case

DAY, HOUR = timedelta(days=1), timedelta(hours=1)


@each_case(
    ("text", "window"),
    [("30d", 30 * DAY), ("12h", 12 * HOUR), ("90m", timedelta(minutes=90)), ("1d", DAY), ("9999d", 9999 * DAY)],
)
def test_a_window(text: str, window: timedelta) -> None:
    """A window is a number of days, hours or minutes."""
    assert parse_window(text) == window


@each_case(
    "text",
    [
        "",
        "d",
        "30",
        "0d",
        "-1d",
        "1.5h",
        "30 d",
        "30D",
        "1w",
        "12345d",
        "\N{ARABIC-INDIC DIGIT THREE}d",
        "1d\n",
        "1d1h",
        "d30",
        "\N{FULLWIDTH DIGIT ONE}d",
        "30dd",
    ],
)
def test_what_is_no_window(text: str) -> None:
    """Anything else is refused in a sentence with an example."""
    with pytest.raises(Invalid, match="30d, 12h or 90m"):
        parse_window(text)
