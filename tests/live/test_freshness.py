"""How old a count may be (spec 2, States and transitions; decision 19)."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.live.freshness import Freshness, age, freshness, until_next
from tests.support.clock import START

ORDER: list[Freshness] = ["fresh", "stale", "too-old"]


@pytest.mark.parametrize(
    ("seconds", "state"),
    [
        (0, "fresh"),
        (179.999, "fresh"),
        (180, "stale"),
        (1800, "stale"),
        (1800.001, "too-old"),
        (86_400, "too-old"),
    ],
)
def test_the_boundaries(seconds: float, state: Freshness) -> None:
    """Fresh is below 180 s, stale from 180 to 1800 s inclusive, too old above."""
    assert freshness(timedelta(seconds=seconds)) == state


@given(st.timedeltas(timedelta(0), timedelta(days=400)), st.timedeltas(timedelta(0), timedelta(days=400)))
def test_a_value_never_becomes_fresher(one: timedelta, two: timedelta) -> None:
    """Of two ages the higher is never in an earlier state."""
    younger, older = sorted((one, two))
    assert ORDER.index(freshness(younger)) <= ORDER.index(freshness(older))


@given(st.timedeltas(timedelta(0), timedelta(days=2)))
def test_the_time_to_the_next_state(found: timedelta) -> None:
    """A value keeps its state for as long as is told, and has the next one right after."""
    left = until_next(found)
    if left is None:
        assert freshness(found) == "too-old"
        return
    tick = timedelta(microseconds=1)
    assert freshness(found + max(left - tick, timedelta(0))) == freshness(found)
    assert freshness(found + left + tick) != freshness(found)


@given(st.timedeltas(timedelta(seconds=-60), timedelta(days=400)))
def test_the_age_is_what_has_passed(passed: timedelta) -> None:
    """The age is the time since, and zero for what a clock slightly ahead has written."""
    assert age(START, START + passed) == max(passed, timedelta(0))


@given(st.timedeltas(timedelta(seconds=60, microseconds=1), timedelta(days=400)))
def test_a_time_in_the_future_is_not_believed(ahead: timedelta) -> None:
    """A value from more than a minute ahead is corrupt, which is no data."""
    assert age(START + ahead, START) is None
    assert freshness(None) == "empty"
    assert until_next(None) is None
