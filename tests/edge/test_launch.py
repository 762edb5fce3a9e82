"""Codes and the token of a local page (decision 37)."""

import pytest

from orrery.edge.launch import CODE_SECONDS, Launch
from tests.support.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    """Return a clock that a test moves."""
    return ManualClock()


@pytest.fixture
def launch(clock: ManualClock) -> Launch:
    """Return the launch of one process."""
    return Launch(clock)


def test_a_code_is_good_once(launch: Launch) -> None:
    """Its first use returns the token, every later one nothing."""
    code = launch.new_code()
    token = launch.exchange(code)
    assert token is not None
    assert launch.is_token(token.encode())
    assert launch.exchange(code) is None


def test_a_code_is_good_for_a_minute(launch: Launch, clock: ManualClock) -> None:
    """Just before its end it is good, at its end it is not."""
    code = launch.new_code()
    clock.advance(CODE_SECONDS - 0.001)
    assert launch.exchange(code) is not None
    code = launch.new_code()
    clock.advance(CODE_SECONDS)
    assert launch.exchange(code) is None


def test_a_code_that_came_too_late_is_used(launch: Launch, clock: ManualClock) -> None:
    """A clock cannot make it good again."""
    code = launch.new_code()
    clock.advance(CODE_SECONDS)
    assert launch.exchange(code) is None
    clock.advance(-1)
    assert launch.exchange(code) is None


def test_a_new_code_ends_the_one_before(launch: Launch) -> None:
    """There is one good code at a time."""
    first, second = launch.new_code(), launch.new_code()
    assert launch.exchange(first) is None
    assert launch.exchange(second) is not None


@pytest.mark.parametrize("wrong", ["", "x", "\ud800", "ä" * 43, "a" * 43])
def test_another_text_is_no_code(launch: Launch, wrong: str) -> None:
    """Nor does it use the code up, or pass while there is none."""
    assert launch.exchange(wrong) is None
    code = launch.new_code()
    assert launch.exchange(wrong) is None
    assert launch.exchange(code) is not None


def test_another_process_has_another_token(launch: Launch, clock: ManualClock) -> None:
    """What one process gave out opens nothing of the next."""
    token = launch.exchange(launch.new_code())
    assert token is not None
    assert not Launch(clock).is_token(token.encode())
    assert not launch.is_token(None)
    assert not launch.is_token(b"")
