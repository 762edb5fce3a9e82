"""Curves as a small SVG file, over two logarithmic axes, readable in light and dark."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 880, 520
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 600, 60, 470
_APART = 19
"""How far two names are apart at least."""

_LIGHT = ("#3b5bdb", "#c2410c", "#0f766e", "#a21caf", "#4d7c0f", "#b91c1c", "#475569")
_DARK = ("#8ea4ff", "#fdba74", "#5eead4", "#f0abfc", "#bef264", "#fca5a5", "#cbd5e1")


@dataclass(frozen=True, slots=True)
class Line:
    """A curve: its name, and its points."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class _Axis:
    """Where the powers of ten are on an axis, from the first to the last."""

    first: int
    last: int
    begin: int
    end: int

    def at(self, value: float) -> float:
        """Return the place of a value."""
        return self.begin + (math.log10(value) - self.first) / (self.last - self.first) * (self.end - self.begin)

    def powers(self) -> Iterator[tuple[float, str]]:
        """Yield the place of each power of ten, and what is written there."""
        for power in range(self.first, self.last + 1):
            yield self.at(10.0**power), f"{10**power:,}" if power >= 0 else f"{10.0**power:g}"


def curves(title: str, lines: Sequence[Line]) -> str:
    """Return an SVG document with a curve for each line, whose name is at its end."""
    across = _axis([x for line in lines for x, _ in line.points], _LEFT, _RIGHT)
    up = _axis([y for line in lines for _, y in line.points], _BOTTOM, _TOP)
    ends = _spread([up.at(line.points[-1][1]) for line in lines])
    described = "; ".join(f"{one.name}: {', '.join(f'{x:g}: {y:.3g}' for x, y in one.points)}" for one in lines)
    drawn = (
        _curve(line, number, across, up, end) for number, (line, end) in enumerate(zip(lines, ends, strict=True))
    )
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(described)}</desc>",
            f"<style>\n{_style(len(lines))}\n</style>",
            f'<rect class="page" width="{WIDTH}" height="{HEIGHT}" rx="12"/>',
            f'<text class="title" x="{_LEFT}" y="34">{escape(title)}</text>',
            *_grid(across, up),
            *drawn,
            "</svg>",
            "",
        )
    )


def _axis(values: Sequence[float], begin: int, end: int) -> _Axis:
    first = math.floor(math.log10(min(values)))
    return _Axis(first, max(first + 1, math.ceil(math.log10(max(values)))), begin, end)


def _grid(across: _Axis, up: _Axis) -> Iterator[str]:
    for x, text in across.powers():
        yield f'<path class="grid" d="M{x:.0f} {_TOP}V{_BOTTOM}"/>'
        yield f'<text class="soft" x="{x:.0f}" y="{_BOTTOM + 24}" text-anchor="middle">{text}</text>'
    for y, text in up.powers():
        yield f'<path class="grid" d="M{_LEFT} {y:.0f}H{_RIGHT}"/>'
        yield f'<text class="soft" x="{_LEFT - 10}" y="{y + 5:.0f}" text-anchor="end">{text}</text>'


def _curve(line: Line, number: int, across: _Axis, up: _Axis, end: float) -> str:
    places = [(across.at(x), up.at(y)) for x, y in line.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in places)
    name = f'<text x="{places[-1][0] + 14:.0f}" y="{end + 5:.0f}">{escape(line.name)}</text>'
    return f'<g class="c{number}"><polyline points="{path}"/>{dots}{name}</g>'


def _spread(places: Sequence[float]) -> list[float]:
    """Return places in the same order from above, none nearer to another than two names may be."""
    found, last = dict[int, float](), -math.inf
    for number in sorted(range(len(places)), key=places.__getitem__):
        found[number] = last = max(places[number], last + _APART)
    return [found[number] for number in range(len(places))]


_STYLE = """\
svg { --page: #ffffff; --ink: #1f2430; --soft: #5b6474; --grid: #e2e5ec; font: 14px system-ui, sans-serif }
@media (prefers-color-scheme: dark) {
svg { --page: #0e101b; --ink: #e6e8ee; --soft: #a9b1c2; --grid: #2b3044 }
}
.page { fill: var(--page) } .title { fill: var(--ink); font-size: 17px; font-weight: 600 }
.soft { fill: var(--soft) } .grid { stroke: var(--grid) }
g { fill: var(--line); stroke: none } polyline { fill: none; stroke: var(--line); stroke-width: 2.5 }
"""


def _style(many: int) -> str:
    light, dark = (
        "\n".join(f".c{number} {{ --line: {colours[number % len(colours)]} }}" for number in range(many))
        for colours in (_LIGHT, _DARK)
    )
    return f"{_STYLE}{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}"
