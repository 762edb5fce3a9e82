"""The timeline of clusters as a small SVG: light and dark, self-contained, with a description. Pure."""

from collections.abc import Iterator, Sequence
from html import escape

from orrery.fraud.clusters import WINDOW, Cluster
from orrery.fraud.timeline import Scale, headline, scale_of, summary, when

WIDTH = 760
_MARGIN = 32
_LANE = 84
_HEAD = 76
_FOOT = 68
_TRACK = 22
_LONGEST_TEXT = 84

_STYLE = """
  svg { --page: #f8f7f3; --surface: #ffffff; --line: #dedbd1; --ink: #191b2b; --soft: #54576b; --window: #ebeaf8;
    --edge: #3f3ca6; --mark: #a0281b; color-scheme: light dark; }
  @media (prefers-color-scheme: dark) {
    svg { --page: #0e101b; --surface: #171a29; --line: #2b2f45; --ink: #eeedf5; --soft: #abaec5; --window: #242749;
      --edge: #b3b5ff; --mark: #ffa497; }
  }
  text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: var(--soft); }
  .title { font-size: 19px; font-weight: 650; fill: var(--ink); }
  .lane { font-weight: 600; fill: var(--ink); }
  .id { font-family: ui-monospace, Menlo, Consolas, "Liberation Mono", monospace; font-size: 12px; }
  .page { fill: var(--page); }
  .track { fill: var(--surface); stroke: var(--line); }
  .window { fill: var(--window); }
  .edge { stroke: var(--edge); stroke-dasharray: 3 3; }
  .tick { stroke: var(--line); }
  .declined { fill: var(--mark); fill-opacity: 0.72; stroke: var(--surface); }
  .stopped { fill: var(--surface); stroke: var(--mark); stroke-width: 1.75; }
"""


def svg(clusters: Sequence[Cluster]) -> str:
    """Return an SVG document of these clusters, with a description in words."""
    height = _HEAD + max(1, len(clusters)) * _LANE + _FOOT
    title = f"{len(clusters)} fraud cluster{'' if len(clusters) == 1 else 's'}"
    description = "\n".join(map(summary, clusters)) or "No cluster was found."
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"',
        f'width="{WIDTH}" height="{height}" role="img" aria-labelledby="title description">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="description">{escape(description)}</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{height}" rx="14"/>',
        f'<g aria-hidden="true"><text class="title" x="{_MARGIN}" y="42">{escape(title)}</text>',
        *_body(clusters, height),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _body(clusters: Sequence[Cluster], height: int) -> Iterator[str]:
    if not clusters:
        yield f'<text x="{_MARGIN}" y="{_HEAD + 24}">No cluster was found.</text>'
        return
    scale = scale_of(clusters)
    for number, cluster in enumerate(clusters):
        yield from _lane(cluster, scale, _HEAD + number * _LANE)
    yield from _ruler(scale, _HEAD + len(clusters) * _LANE)
    yield from _legend(height - 18)


def _lane(cluster: Cluster, scale: Scale, top: int) -> Iterator[str]:
    track, middle = top + 30, top + 30 + _TRACK / 2
    window = _x(scale.place(WINDOW)) - _MARGIN
    yield f'<text class="lane" x="{_MARGIN}" y="{top + 4}">{_short(headline(cluster))}</text>'
    yield f'<text class="id" x="{_MARGIN}" y="{top + 21}">{escape(cluster.id)} · {escape(when(cluster))}</text>'
    yield (
        f'<rect class="track" x="{_MARGIN - 11}" y="{track}" width="{WIDTH - 2 * _MARGIN + 22}" height="{_TRACK}" '
        f'rx="{_TRACK / 2}"/>'
    )
    yield (
        f'<path class="window" d="M{_MARGIN} {track + 1}h{window:.1f}v{_TRACK - 2}h{-window:.1f}'
        f'a10 10 0 0 1 0 {-(_TRACK - 2)}z"/>'
    )
    edge = _x(scale.place(WINDOW))
    yield f'<line class="edge" x1="{edge:.1f}" x2="{edge:.1f}" y1="{track - 3}" y2="{track + _TRACK + 3}"/>'
    for decline in cluster.declines:
        kind, place = "stopped" if decline.stopped else "declined", _x(scale.place(decline.at - cluster.first))
        yield f'<circle class="{kind}" cx="{place:.1f}" cy="{middle}" r="{5 if decline.stopped else 6}"/>'


def _ruler(scale: Scale, top: int) -> Iterator[str]:
    for tick in scale.ticks(6):
        place, minutes = _x(scale.place(tick)), int(tick.total_seconds() // 60)
        label = f"{minutes} min" if minutes else "first decline"
        anchor = "middle" if minutes else "start"
        yield f'<line class="tick" x1="{place:.1f}" x2="{place:.1f}" y1="{top - 20}" y2="{top - 12}"/>'
        yield f'<text x="{place:.1f}" y="{top + 4}" text-anchor="{anchor}">{label}</text>'


def _legend(base: int) -> Iterator[str]:
    y = base - 4
    yield f'<circle class="declined" cx="{_MARGIN + 6}" cy="{y}" r="6"/>'
    yield f'<text x="{_MARGIN + 20}" y="{base}">declined</text>'
    yield f'<circle class="stopped" cx="{_MARGIN + 106}" cy="{y}" r="5"/>'
    yield f'<text x="{_MARGIN + 120}" y="{base}">stopped by the processor</text>'
    yield f'<rect class="window" x="{_MARGIN + 300}" y="{y - 8}" width="26" height="16" rx="3"/>'
    yield f'<line class="edge" x1="{_MARGIN + 326}" x2="{_MARGIN + 326}" y1="{y - 10}" y2="{y + 10}"/>'
    yield f'<text x="{_MARGIN + 338}" y="{base}">the 5 minutes in which three are a cluster</text>'


def _x(place: float) -> float:
    return _MARGIN + place * (WIDTH - 2 * _MARGIN)


def _short(text: str) -> str:
    return escape(text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…")
