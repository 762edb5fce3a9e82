"""What the rounds say: medians, ratios and their spread."""

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.measurement import Figure, Round

ENOUGH = 5
"""Rounds from which on a figure is marked: by chance alone, one of 16 is."""


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over several rounds: the median, and the lowest and the highest."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Return that of some values."""
        return cls(statistics.median(values), min(values), max(values))

    def __str__(self) -> str:
        """Return the lowest and the highest in words."""
        return f"{short(self.low)} to {short(self.high)}"


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of one version, over its rounds; `ratio` is that to what it is measured beside."""

    figure: Figure
    value: Spread
    ratio: Spread | None

    @property
    def judged(self) -> float:
        """What aim and limit are about."""
        return self.ratio.median if self.ratio else self.value.median

    def keeps(self, bound: float | None) -> bool:
        """Tell whether it is within an aim or a limit; none is always kept."""
        if bound is None:
            return True
        return self.judged >= bound if self.figure.more_is_better else self.judged <= bound

    def bound(self, bound: float | None) -> str:
        """Return an aim or a limit in words."""
        least = "at least" if self.figure.more_is_better else "at most"
        return "" if bound is None else f"{least} {short(bound)}{'' if self.keeps(bound) else ', missed'}"


@dataclass(frozen=True, slots=True)
class Pair:
    """A figure of two versions; `ratio` is this one's to the older one's, of the `rounds` made in turn.

    Where it is measured beside another, it is that of the two ratios: the machine changes from round to round.
    """

    figure: Figure
    old: float
    new: float
    ratio: Spread
    rounds: int

    @property
    def mark(self) -> str:
        """Say what is outside of the spread: every one of enough rounds found the same version ahead."""
        if self.rounds < ENOUGH or self.ratio.low <= 1 <= self.ratio.high or f"{self.ratio.median:.2f}" == "1.00":
            return ""
        return "better" if (self.ratio.median > 1) is self.figure.more_is_better else "worse"


def rows(rounds: Sequence[Round]) -> Iterator[Row]:
    """Yield the figures of one version."""
    for figure in rounds[0]:
        values = _values(rounds, figure.name)
        yield Row(figure, Spread.of(values), Spread.of(_judged(rounds, figure)) if figure.beside else None)


def pairs(older: Sequence[Round], newer: Sequence[Round]) -> Iterator[Pair]:
    """Yield the figures that both versions have, of rounds made in turn."""
    known = {figure.name for figure in older[0]}
    for figure in newer[0]:
        if figure.name in known:
            old, new = _values(older, figure.name), _values(newer, figure.name)
            sides = _judged(newer, figure), _judged(older, figure)
            ratios = [one / other for one, other in zip(*sides, strict=True) if other] or [1.0]
            yield Pair(figure, statistics.median(old), statistics.median(new), Spread.of(ratios), len(old))


def _judged(rounds: Sequence[Round], figure: Figure) -> list[float]:
    values = _values(rounds, figure.name)
    others = _values(rounds, figure.beside) if figure.beside else [1.0] * len(values)
    return [one / other if other else one for one, other in zip(values, others, strict=True)]


def _values(rounds: Sequence[Round], name: str) -> list[float]:
    return [next(figure.value for figure in one if figure.name == name) for one in rounds]


def short(value: float) -> str:
    """Return a number with three figures, or all those before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"  # noqa: PLR2004  three figures
