"""The timeline of clusters: one lane for each, all to one scale, from the cluster's first decline on. Pure.

It is the layout, and the description in words, of the picture at the terminal and of the SVG file.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from orrery.fraud.clusters import NAMES, WINDOW, Cluster
from orrery.fraud.sentences import lasting
from orrery.syntax.lines import one_line

MARK, STOPPED, HEAVY, SHADE, REST = "●", "○", "+", "▒", "·"
"""A decline, one that the processor stopped, more than nine in one place, the five minutes, what follows them."""

LEGEND = (
    f"{MARK} declined  {STOPPED} stopped by the processor  2-9, {HEAVY} several in one place  {SHADE} 5 minutes"
)

_TICKS = (1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 720, 1440, 2880)
"""Minutes that a scale may be marked with."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How long a lane is: the longest cluster, and at least the window with a little beyond it."""

    length: timedelta

    def place(self, after: timedelta) -> float:
        """Return the position on a lane, from 0 to 1."""
        return after / self.length

    def ticks(self, most: int) -> list[timedelta]:
        """Return the marks of the scale: the window's end, or wider ones where there would be more than `most`."""
        minutes = self.length / timedelta(minutes=1)
        step = next((one for one in _TICKS if one >= WINDOW.seconds // 60 and minutes / one <= most), _TICKS[-1])
        return [timedelta(minutes=step * number) for number in range(int(minutes // step) + 1)]


def scale_of(clusters: Sequence[Cluster]) -> Scale:
    return Scale(max([WINDOW, *(one.last - one.first for one in clusters)]) * 1.06)


def lane(cluster: Cluster, scale: Scale, width: int) -> str:
    """Return a cluster's lane as `width` characters."""
    window = round(scale.place(WINDOW) * (width - 1))
    cells = [SHADE if column <= window else REST for column in range(width)]
    counts = [0] * width
    for decline in cluster.declines:
        column = round(scale.place(decline.at - cluster.first) * (width - 1))
        counts[column] += 1
        cells[column] = _mark(counts[column], stopped=decline.stopped)
    return "".join(cells)


def ruler(scale: Scale, width: int) -> str:
    """Return the marks under the lanes: how long after the first decline."""
    text = [" "] * (width + 12)
    for tick in scale.ticks(max(2, width // 12)):
        label = "0" if not tick else lasting(tick)
        start = round(scale.place(tick) * (width - 1)) - (len(label) // 2 if tick else 0)
        text[start : start + len(label)] = label
    return "".join(text).rstrip()


def headline(cluster: Cluster) -> str:
    """Return a cluster's headline: how many declines, over which time, and what they share."""
    declines = f"{len(cluster.declines)} declines within {lasting(cluster.last - cluster.first)}"
    return f"{declines}, one {NAMES[cluster.trait]}: {one_line(cluster.value)}"


def summary(cluster: Cluster) -> str:
    """Return the timeline in sentences, as the alternative text of the picture."""
    sentences = [f"{cluster.id}: {headline(cluster)}.", f"From {when(cluster)}."]
    if cluster.busiest() < len(cluster.declines):
        sentences.append(f"At most {cluster.busiest()} within 5 minutes.")
    if cluster.stopped:
        sentences.append(f"The processor stopped {cluster.stopped} of them.")
    return " ".join(sentences)


def when(cluster: Cluster) -> str:
    """Return from when to when, in UTC."""
    same_day = cluster.first.date() == cluster.last.date()
    end = f"{cluster.last:%H:%M:%S}" if same_day else f"{cluster.last:%Y-%m-%d %H:%M:%S}"
    return f"{cluster.first:%Y-%m-%d %H:%M:%S} to {end} UTC"


def _mark(count: int, *, stopped: bool) -> str:
    if count == 1:
        return STOPPED if stopped else MARK
    return str(count) if count <= 9 else HEAVY  # noqa: PLR2004  a cell holds one digit
