"""An outage as a picture: lanes of blocks for the terminal, and the same as SVG; pure."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from html import escape

from orrery.gateway.timeline.events import Source
from orrery.gateway.timeline.outages import GatewayOutage, OutageSpan, spans, steps
from orrery.syntax.lines import one_line

LANES: tuple[tuple[Source, str], ...] = (
    ("machine", "machine down"),
    ("job", "runbook runs"),
    ("service", "service down"),
    ("ping", "no good ping"),
)

_WIDTH, _LEFT, _LANE, _LINE = 960, 150, 34, 24
"""Pixels: the picture, the names of its lanes, one lane, one line of text."""

_TICKS = 6


def lanes(outage: GatewayOutage, columns: int) -> list[tuple[str, str]]:
    """Return the name of each lane and its blocks, `columns` characters; lanes without a block are left out."""
    begin, end = _window(outage)
    found = list[tuple[str, str]]()
    for source, name in LANES:
        own = [span for span in spans(outage.events) if span.source == source]
        if own:
            found.append((name, "".join(_cell(own, begin, end, index, columns) for index in range(columns))))
    return found


def _cell(own: Sequence[OutageSpan], begin: datetime, end: datetime, index: int, columns: int) -> str:
    width = (end - begin) / columns
    left = begin + index * width
    covered = any(span.begin < left + width and (span.end or end) > left for span in own)
    return "█" if covered else "·"


def _window(outage: GatewayOutage) -> tuple[datetime, datetime]:
    """Return the time that the picture shows: at least a minute, with all events."""
    times = [outage.began_at, *(event.at for event in outage.events)]
    last = max([*times, outage.ended_at or outage.began_at])
    return min(times), max(last, min(times) + timedelta(minutes=1))


def svg(outage: GatewayOutage) -> str:
    """Return a whole picture: the lanes, and below them each event with its time."""
    begin, end = _window(outage)
    shown_steps = steps(outage)
    shown: list[tuple[Source, str]] = [
        (source, name) for source, name in LANES if any(one.source == source for one in spans(outage.events))
    ]
    top = 70
    height = top + len(shown) * _LANE + 40 + len(shown_steps) * _LINE + 20
    title = _title(outage)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img"',
        f' aria-label="{escape(title)}">',
        _STYLE,
        f'<rect class="paper" width="{_WIDTH}" height="{height}"/>',
        f'<text class="title" x="20" y="36">{escape(title)}</text>',
    ]
    for row, (source, name) in enumerate(shown):
        parts += _lane(outage, source, name, top + row * _LANE, (begin, end))
    below = top + len(shown) * _LANE + 16
    parts += _axis(begin, end, below)
    for row, step in enumerate(shown_steps):
        y = below + 34 + row * _LINE
        parts.append(f'<text class="when" x="20" y="{y}">{step.event.at:%H:%M:%S}</text>')
        parts.append(f'<text class="when" x="100" y="{y}">{escape(clock(step.after))}</text>')
        parts.append(f'<text x="190" y="{y}">{escape(one_line(step.event.text))}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _title(outage: GatewayOutage) -> str:
    lasted = "it lasts" if outage.seconds is None else clock(timedelta(seconds=outage.seconds)).removeprefix("+")
    by = f", ended by {' and '.join(outage.layers)}" if outage.layers else ""
    return f"Outage of {outage.began_at:%Y-%m-%d %H:%M} UTC: {lasted}{by}"


def _lane(
    outage: GatewayOutage, source: Source, name: str, y: int, window: tuple[datetime, datetime]
) -> list[str]:
    begin, end = window
    parts = [
        f'<text x="20" y="{y + 20}">{escape(name)}</text>',
        f'<rect class="lane" x="{_LEFT}" y="{y + 6}" width="{_WIDTH - _LEFT - 20}" height="20"/>',
    ]
    for span in spans(outage.events):
        if span.source == source:
            left, right = _x(span.begin, begin, end), _x(span.end or end, begin, end)
            shape = "job" if source == "job" else "down"
            width = max(2.0, right - left)
            parts.append(f'<rect class="{shape}" x="{left:.1f}" y="{y + 6}" width="{width:.1f}" height="20"/>')
    return parts


def _axis(begin: datetime, end: datetime, y: int) -> list[str]:
    parts = list[str]()
    for tick in range(_TICKS + 1):
        at = begin + (end - begin) * tick / _TICKS
        anchor = "end" if tick == _TICKS else "middle"
        parts.append(
            f'<text class="when" text-anchor="{anchor}" x="{_x(at, begin, end):.1f}" y="{y}">{at:%H:%M:%S}</text>'
        )
    return parts


def _x(at: datetime, begin: datetime, end: datetime) -> float:
    return _LEFT + (_WIDTH - _LEFT - 20) * ((at - begin) / (end - begin))


def clock(lasts: timedelta) -> str:
    """Return a duration as `+4:05` or `+1:04:05`, and one before the begin with a minus."""
    seconds = round(abs(lasts).total_seconds())
    sign = "-" if lasts < timedelta(0) else "+"
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{sign}{hours}:{minutes:02}:{seconds:02}" if hours else f"{sign}{minutes}:{seconds:02}"


_STYLE = """<style>
  text { font: 14px system-ui, sans-serif; fill: #1b1f24 }
  .title { font-weight: 600; font-size: 18px }
  .when { fill: #57606a; font-size: 12px }
  .paper { fill: #fff } .lane { fill: #eaeef2 } .down { fill: #cf222e } .job { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .when { fill: #9198a1 } .paper { fill: #0d1117 } .lane { fill: #21262d }
    .down { fill: #f85149 } .job { fill: #4493f8 }
  }
</style>"""
