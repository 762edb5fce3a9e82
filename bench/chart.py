"""Bar charts as small SVG files, readable in light and dark."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

RESULTS = Path(__file__).parent / "results"

WIDTH = 720
_LABELS, _BARS, _ROW, _TOP, _FOOT = 250, 380, 34, 56, 34

_STYLE = """\
  svg { font: 14px system-ui, sans-serif }
  svg { --ink: #1f2430; --soft: #667085; --bar: #98a2b3; --ours: #3b5bdb; --aim: #c2410c }
  @media (prefers-color-scheme: dark) {
    svg { --ink: #e6e8ee; --soft: #98a2b3; --bar: #667085; --ours: #8ea4ff; --aim: #fdba74 }
  }
  text { fill: var(--ink) }
  .soft { fill: var(--soft); font-size: 12px }
  .title { font-size: 16px; font-weight: 600 }
  .bar { fill: var(--bar) } .ours { fill: var(--ours) } .aim { stroke: var(--aim); stroke-width: 2 }
"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its length, the text beside it, whether it is ours, and its aim."""

    label: str
    value: float
    text: str
    ours: bool = False
    aim: float | None = None


def chart(title: str, note: str, bars: Sequence[Bar]) -> str:
    """Return an SVG document with one horizontal bar a row; the aim is a line across the bar."""
    longest = max(max(bar.value, bar.aim or 0) for bar in bars)
    rows = [_row(bar, _TOP + number * _ROW, _BARS / longest) for number, bar in enumerate(bars)]
    height = _TOP + len(bars) * _ROW + _FOOT
    described = escape("; ".join(f"{bar.label} {bar.text}" for bar in bars), quote=True)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<desc>{described}</desc>",
            f"<style>\n{_STYLE}</style>",
            f'<text class="title" x="0" y="24">{escape(title)}</text>',
            *rows,
            f'<text class="soft" x="0" y="{height - 8}">{escape(note)}</text>',
            "</svg>",
            "",
        ]
    )


def write(name: str, svg: str) -> Path:
    """Write a chart to the results; return its file."""
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{name}.svg"
    file.write_text(svg, encoding="utf-8")
    return file


def _row(bar: Bar, top: int, scale: float) -> str:
    length, middle = max(bar.value * scale, 1), top + 19
    kind, beside = "ours" if bar.ours else "bar", _LABELS + max(length, (bar.aim or 0) * scale) + 8
    parts = [
        f'<text x="0" y="{middle}">{escape(bar.label)}</text>',
        f'<rect class="{kind}" x="{_LABELS}" y="{top + 4}" height="20" width="{length:.1f}" rx="2"/>',
        f'<text x="{beside:.1f}" y="{middle}">{escape(bar.text)}</text>',
    ]
    if bar.aim is not None:
        at = f"{_LABELS + bar.aim * scale:.1f}"
        parts.insert(2, f'<line class="aim" x1="{at}" x2="{at}" y1="{top}" y2="{top + 28}"/>')
    return "".join(parts)
