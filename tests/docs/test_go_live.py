"""The pages about going live read so that they can be typed; tests/rehearsal types them."""

from pathlib import Path

import pytest

from tests.docs.documents import ROOT
from tests.rehearsal.afterwards import ADDING, ELSEWHERE, GATEWAY, NOT_WHOLE, ROTATING, pointing_pages
from tests.rehearsal.going_live import BY_HAND, PAGE
from tests.rehearsal.page import Typed, pieces


@pytest.mark.parametrize("page", [PAGE, BY_HAND])
def test_each_step_says_what_is_seen_and_what_to_do_if_not(page: Path) -> None:
    """Who types can tell after each step whether it worked, and goes on from there if not."""
    steps = page.read_text(encoding="utf-8").split("\n## ")[1:]
    assert [
        step for step in steps if step[0].isdecimal() and ("**You see**" not in step or "**If not" not in step)
    ] == []


def test_each_page_that_points_into_going_live_is_typed() -> None:
    """Who comes back by such a page types commands that work: a new page needs a test."""
    pages = {page.name for page in pointing_pages()}
    assert pages == {ADDING, GATEWAY, ROTATING, *ELSEWHERE, *NOT_WHOLE}
    for page, file in ELSEWHERE.items():
        assert page in (ROOT / file).read_text(encoding="utf-8")


def test_what_asks_for_input_ends_its_block() -> None:
    """Anyone who pastes a block at once must not answer a question with its next line."""
    asking = (
        "secret ",
        "read ",
        "as_orrery secrets check",
        "as_orrery live refresh",
        "orrery admin hash",
        "orrery setup",
    )
    for piece in [*pieces(PAGE), *pieces(BY_HAND)]:
        if isinstance(piece, Typed):
            assert not [line for line in piece.lines[:-1] if line.startswith(asking)], piece
