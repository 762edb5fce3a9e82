"""Texts on one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.syntax.lines import is_header_text, is_line, one_line
from tests.support.tables import each_case


@pytest.mark.parametrize(("text", "expected"), [("", False), ("x", True), ("x y", True), ("xxxx", False)])
def test_a_line_has_a_length(text: str, expected: bool) -> None:  # noqa: FBT001  one column of a table
    """A line has at least one character and at most as many as are named."""
    assert is_line(text, 3) is expected


@each_case("character", ["\n", "\r", "\x1b", "\u202e", "\u2028", "\udc80", "\u200b"])
def test_a_line_hides_nothing(character: str) -> None:
    """A text with a line end, or with a character that steers or hides, is no line."""
    assert not is_line(f"a{character}b", 9)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (" two\r\nlines\tand \u2028 more ", "two lines and more"),
        ("a\x1b[2J\x00\u202eb", "a\ufffd[2J\ufffd\ufffdb"),
    ],
)
def test_one_line_of_what_came_from_outside(text: str, line: str) -> None:
    """White space becomes single spaces, and what cannot be seen shows."""
    assert one_line(text) == line


def test_a_line_is_cut() -> None:
    """A line is no longer than asked for."""
    assert one_line("x" * 9, 5) == "xxxxx"


@given(st.text(), st.integers(1, 40))
def test_any_text_becomes_a_line(text: str, most: int) -> None:
    """Whatever came, there is nothing or a line of that length, and it stays as it is when it is made again."""
    line = one_line(text, most)
    assert not line or is_line(line, most)
    assert one_line(line).strip() == line.strip()


@pytest.mark.parametrize("text", ["x", "a b", "~!", "ghp_0123"])
def test_what_travels_in_a_header(text: str) -> None:
    """Printable ASCII travels in a header as it is."""
    assert is_header_text(text)


@each_case("text", ["", " x", "x ", "a\nb", "a\x00b", "pässword", "\x7f"])
def test_what_does_not(text: str) -> None:
    """Nothing, a space at an end, a control character or another letter does not."""
    assert not is_header_text(text)
