"""docs/how-to/go-live.md reads so that it can be typed; tests/rehearsal types it."""

from tests.rehearsal.going_live import PAGE
from tests.rehearsal.page import Typed, pieces


def test_each_step_says_what_is_seen_and_what_to_do_if_not() -> None:
    """Who types can tell after each step whether it worked, and goes on from there if not."""
    steps = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    assert [step for step in steps if "**You see**" not in step or "**If not" not in step] == []


def test_what_asks_for_input_ends_its_block() -> None:
    """Anyone who pastes a block at once must not answer a question with its next line."""
    asking = ("secret ", "read ", "as_orrery secrets check", "as_orrery live refresh", "orrery admin hash")
    for piece in pieces(PAGE):
        if isinstance(piece, Typed):
            assert not [line for line in piece.lines[:-1] if line.startswith(asking)], piece
