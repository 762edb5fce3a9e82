"""Reasons that are kept permanently."""

import pytest

from orrery.errors import Invalid
from orrery.syntax.reason import checked_reason, normal_reason


def test_a_reason_loses_the_space_around_it() -> None:
    """What is stored has no white space at its ends."""
    assert normal_reason(" asked by letter \n") == "asked by letter"


@pytest.mark.parametrize("text", ["", "  ", "a\nb", "x" * 501])
def test_what_is_no_reason(text: str) -> None:
    """Empty, too long, or more than one line is refused."""
    with pytest.raises(Invalid, match="1 to 500 printable characters"):
        normal_reason(text)


@pytest.mark.parametrize("text", [" ", "ann@example.org asked", "on behalf of <Ann@Example.org>"])
def test_a_reason_names_nobody(text: str) -> None:
    """An empty reason, or one with an address in it, is refused."""
    with pytest.raises(Invalid, match="reason"):
        checked_reason(text)
