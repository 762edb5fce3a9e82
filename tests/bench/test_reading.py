"""What the rounds say: which figures are marked, and which miss an aim."""

import pytest

from bench.measurement import Figure, Round, Unit
from bench.reading import Pair, Row, pairs, rows


def made(values: tuple[float, ...], unit: Unit = "ms", aim: float | None = None) -> list[Round]:
    """Return a round for each value, which is measured beside another that is always 10."""
    return [[Figure("peer", 10, unit), Figure("ours", value, unit, "peer", aim)] for value in values]


def compared(old: tuple[float, ...], new: tuple[float, ...], unit: Unit) -> Pair:
    """Return what is said of two versions."""
    return [*pairs(made(old, unit), made(new, unit))][-1]


def row(values: tuple[float, ...], unit: Unit, aim: float) -> Row:
    """Return what is said of one version."""
    return [*rows(made(values, unit, aim))][-1]


@pytest.mark.parametrize(
    ("old", "new", "unit", "mark"),
    [
        ((4, 4, 4, 4, 4), (5, 6, 5, 6, 5), "ms", "worse"),
        ((4, 4, 4, 4, 4), (5, 6, 5, 6, 5), "a second", "better"),
        ((5, 5, 5, 5, 5), (4, 4, 4, 4, 4), "ms", "better"),
        ((4, 4, 4, 4, 4), (5, 3, 5, 6, 5), "ms", ""),
        ((4, 4, 4, 4), (5, 6, 5, 6), "ms", ""),
        ((1000, 1000, 1000, 1000, 1000), (1001, 1002, 1001, 1002, 1001), "ms", ""),
    ],
)
def test_a_figure_is_marked_where_each_of_enough_rounds_found_the_same_version_ahead(
    old: tuple[float, ...], new: tuple[float, ...], unit: Unit, mark: str
) -> None:
    """A time grows worse, a speed better; one round that found the contrary, or a rounding, marks nothing."""
    assert compared(old, new, unit).mark == mark


def test_the_ratio_is_the_median_of_the_pairs_and_not_that_of_the_medians() -> None:
    """The two of a turn ran on the same machine, which is twice as slow in the second turn."""
    assert compared((1, 2, 9), (2, 4, 9), "ms").ratio.median == 2


def test_what_is_measured_beside_another_is_compared_by_its_ratio_to_that() -> None:
    """The machine was twice as slow while the new version was measured, and so was the peer."""
    slow = [[Figure("peer", 20, "ms"), Figure("ours", 8, "ms", "peer")]]
    assert [pair.ratio.median for pair in pairs(made((4,)), slow)] == [2, 1]


@pytest.mark.parametrize(
    ("values", "unit", "aim", "bound"),
    [
        ((4, 5, 6), "ms", 0.5, "at most 0.5"),
        ((6, 6, 6), "ms", 0.5, "at most 0.5, missed"),
        ((6, 6, 6), "a second", 0.5, "at least 0.5"),
        ((4, 4, 4), "a second", 0.5, "at least 0.5, missed"),
    ],
)
def test_an_aim_is_of_the_ratio_where_there_is_one(
    values: tuple[float, ...], unit: Unit, aim: float, bound: str
) -> None:
    """A time keeps it at most, a speed at least."""
    assert row(values, unit, aim).bound(aim) == bound
