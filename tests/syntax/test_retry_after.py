"""How long somebody asks to wait, in each of the ways in which that is written."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from orrery.syntax.retry_after import LONGEST, retry_after
from tests.support.tables import each_case

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OTHERWISE = 7.0


@each_case(
    ("text", "seconds"),
    [
        ("0", 0),
        ("1", 1),
        (" 120 ", 120),
        ("1.5", 1.5),
        ("1.", 1),
        ("0.25", 0.25),
        ("Sun, 01 Mar 2026 12:00:05 GMT", 5),
        ("Sunday, 01-Mar-26 12:01:00 GMT", 60),
        ("Sun Mar  1 12:00:30 2026", 30),
        ("Sun, 01 Mar 2026 13:00:05 +0100", 5),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("9" * 400, LONGEST),
        ("Mon, 01 Jan 2999 00:00:00 GMT", LONGEST),
        ("", OTHERWISE),
        ("-1", OTHERWISE),
        ("-0", OTHERWISE),
        ("+1", OTHERWISE),
        ("1e3", OTHERWISE),
        ("nan", OTHERWISE),
        ("inf", OTHERWISE),
        ("1,5", OTHERWISE),
        ("soon", OTHERWISE),
        ("\u0661", OTHERWISE),
        ("Sun, 99 Mar 2026 12:00:05 GMT", OTHERWISE),
        ("Sun, 01 Mar 99999 12:00:05 GMT", OTHERWISE),
    ],
)
def test_each_way(text: str, seconds: float) -> None:
    """A number of seconds, of which some send a fraction, or a date; what is neither is as if nothing was said."""
    assert retry_after(text, NOW, otherwise=OTHERWISE) == seconds


@given(st.text())
def test_anything(text: str) -> None:
    """Whatever is sent, what is waited has a bound."""
    assert 0 <= retry_after(text, NOW, otherwise=OTHERWISE) <= LONGEST
