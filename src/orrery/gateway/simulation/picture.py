"""The simulation as a picture, for a terminal and as SVG: how long the gateway is down, and how long at a time."""

from collections.abc import Iterator, Sequence
from math import log10
from xml.sax.saxutils import escape

from orrery.gateway.simulation.statistics import Figures

_DAY_MINUTES = 1440
_EIGHTHS = " ▏▎▍▌▋▊▉"
_BAR_CELLS = 40


def minutes_a_day(figures: Figures) -> float:
    """Return for how long the gateway is down on a day."""
    return (100 - figures.availability) / 100 * _DAY_MINUTES


def bars(found: Sequence[Figures]) -> Iterator[str]:
    """Yield a line for each combination: its name, a bar, and its minutes."""
    most = max(map(minutes_a_day, found)) or 1
    width = max(len(figures.combination) for figures in found)
    yield f"{'down a day':{width}}"
    for figures in found:
        minutes = minutes_a_day(figures)
        yield f"{figures.combination:{width}}  {_bar(minutes / most)} {minutes:.1f} min"


def _bar(share: float) -> str:
    whole, eighths = divmod(round(share * _BAR_CELLS * 8), 8)
    return "█" * whole + _EIGHTHS[eighths].strip()


# As SVG: on the left the minutes a day, on the right each combination's outages on a logarithmic axis

_LEFT, _TOP, _ROW = 210, 96, 44
_BAR_WIDTH, _AXIS, _AXIS_WIDTH = 190, 560, 280
_WIDTH = 880
_TICKS = ((1, "1 min"), (3, "3"), (10, "10"), (30, "30"), (60, "1 h"), (180, "3 h"), (360, "6 h"))

_STYLE = """
    svg { --page: #f8f7f3; --line: #c9c5b8; --ink: #191b2b; --soft: #54576b; --accent: #3f3ca6; }
    @media (prefers-color-scheme: dark) {
      svg { --page: #0e101b; --line: #4a4f6d; --ink: #eeedf5; --soft: #b6b9cf; --accent: #b3b5ff; }
    }
    text { font-family: -apple-system, BlinkMacSystemFont, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans",
      "Liberation Sans", Arial, sans-serif; font-size: 14px; fill: var(--ink); }
    .page { fill: var(--page); }
    .head { font-weight: 600; }
    .soft { fill: var(--soft); font-size: 13px; }
    .middle { text-anchor: middle; }
    .end { text-anchor: end; }
    .bar { fill: var(--accent); }
    .grid { stroke: var(--line); }
    .span { stroke: var(--accent); stroke-width: 3; stroke-linecap: round; }
    .dot { fill: var(--page); stroke: var(--accent); stroke-width: 2.5; }
"""


def svg(found: Sequence[Figures]) -> str:
    """Return the picture as a file of its own, for light and dark pages."""
    height = _TOP + _ROW * len(found) + 40
    said = "; ".join(
        f"{one.combination}: {one.availability:.1f} %, down {minutes_a_day(one):.0f} min a day, "
        f"outages of {one.p50:.1f} min (median), {one.p90:.1f} (90 %), {one.p99:.1f} (99 %)"
        for one in found
    )
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">',
        '  <title id="title">What each layer of the recovery is worth</title>',
        f'  <desc id="desc">{escape(said)}.</desc>',
        f"  <style>{_STYLE}  </style>",
        f'  <rect class="page" width="{_WIDTH}" height="{height}" rx="12"/>',
        _text(_LEFT, 40, "Down on a day", "head"),
        _text(_AXIS, 40, "How long an outage lasts", "head"),
        _text(_AXIS, 62, "half of them, 90 % and 99 % are shorter", "soft"),
        *_grid(height),
    ]
    most = max(map(minutes_a_day, found)) or 1
    for number, figures in enumerate(found):
        lines += _row(_TOP + _ROW * number + _ROW / 2, figures, most)
    return "\n".join([*lines, "</svg>", ""])


def _grid(height: float) -> Iterator[str]:
    for minutes, name in _TICKS:
        x = _place(minutes)
        yield f'  <line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 10}" y2="{height - 40}"/>'
        yield _text(x, height - 18, name, "soft middle")


def _row(y: float, figures: Figures, most: float) -> Iterator[str]:
    minutes = minutes_a_day(figures)
    width = max(2, minutes / most * _BAR_WIDTH)
    yield _text(_LEFT - 14, y + 5, figures.combination, "end")
    yield f'  <rect class="bar" x="{_LEFT}" y="{y - 9:.1f}" width="{width:.1f}" height="18" rx="3"/>'
    yield _text(_LEFT + width + 8, y + 5, f"{minutes:.0f} min, {figures.availability:.1f} %", "soft")
    dots = [_place(value) for value in (figures.p50, figures.p90, figures.p99)]
    yield f'  <line class="span" x1="{dots[0]:.1f}" x2="{dots[2]:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
    for x in dots:
        yield f'  <circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'


def _place(minutes: float) -> float:
    """Return where a time is on the logarithmic axis."""
    first, last = _TICKS[0][0], _TICKS[-1][0]
    share = log10(max(minutes, first) / first) / log10(last / first)
    return _AXIS + min(share, 1.05) * _AXIS_WIDTH


def _text(x: float, y: float, words: str, kind: str) -> str:
    return f'  <text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'
