"""Outages: which events belong to one, which layer ended it, and how long each step took; pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from orrery.gateway.timeline.events import Source, TimelineEvent

Layer = Literal["layer 1", "layer 2", "layer 3", "by hand", "by itself"]

APART = timedelta(minutes=5)
"""Troubles that are closer to each other are one outage: the service comes back some time after its machine."""

BEFORE = timedelta(minutes=2)
"""How long before an outage is noticed what led to it is looked for."""

_WATCHED: tuple[Source, ...] = ("machine", "service", "ping")


@dataclass(frozen=True, slots=True)
class OutageSpan:
    """A time in which a source was down, or a job ran; `end` is None while it lasts."""

    source: Source
    begin: datetime
    end: datetime | None


@dataclass(frozen=True, slots=True)
class GatewayOutage:
    """One outage with all its events; `ended_at` is None while it lasts.

    `layers` are what brought the machine back, and what its service.
    """

    began_at: datetime
    ended_at: datetime | None
    events: tuple[TimelineEvent, ...]
    layers: tuple[Layer, ...]

    @property
    def id(self) -> str:
        """The name by which a command takes it: when it began, in UTC."""
        return f"{self.began_at:%Y%m%dT%H%M%SZ}"

    @property
    def seconds(self) -> float | None:
        """How long it lasted, or None while it lasts."""
        return None if self.ended_at is None else (self.ended_at - self.began_at).total_seconds()


def outages(events: Iterable[TimelineEvent]) -> list[GatewayOutage]:
    """Return the outages, oldest first."""
    # At the same moment, by their sources: one ping may end a silence and begin the next.
    ordered = sorted(events, key=lambda one: (one.at, one.source))
    times = [one.at for one in ordered]
    found = list[GatewayOutage]()
    for begin, end in _merged(spans(ordered)):
        near = ordered[
            bisect_left(times, begin - BEFORE) : bisect_right(times, end + BEFORE if end else times[-1])
        ]
        inside = tuple(one for one in near if _earliest(one, begin) <= one.at)
        found.append(GatewayOutage(begin, end, inside, (*_of_the_machine(inside), *_of_the_service(inside))))
    return found


def _earliest(event: TimelineEvent, begin: datetime) -> datetime:
    """Return when an event of this source may be at the earliest: no job leads to an outage."""
    return begin if event.source == "job" else begin - BEFORE


def spans(ordered: Sequence[TimelineEvent]) -> list[OutageSpan]:
    """Return when each source was down, and when jobs ran, from events in their order."""
    found, open_since = list[OutageSpan](), dict[Source, datetime]()
    for event in ordered:
        if event.kind in {"down", "began"}:
            _ = open_since.setdefault(event.source, event.at)
        elif event.kind in {"up", "ended"} and event.source in open_since:
            found.append(OutageSpan(event.source, open_since.pop(event.source), event.at))
        if event.kind == "boot":
            _ = open_since.setdefault("service", event.at)
    return found + [OutageSpan(source, begin, None) for source, begin in open_since.items()]


def _merged(found: Sequence[OutageSpan]) -> list[tuple[datetime, datetime | None]]:
    merged = list[tuple[datetime, datetime | None]]()
    for span in sorted((one for one in found if one.source in _WATCHED), key=lambda one: one.begin):
        if merged and (merged[-1][1] is None or span.begin - merged[-1][1] <= APART):
            begin, end = merged.pop()
            merged.append((begin, None if end is None or span.end is None else max(end, span.end)))
        else:
            merged.append((span.begin, span.end))
    return merged


def _of_the_machine(events: Sequence[TimelineEvent]) -> tuple[Layer, ...]:
    downs = [one.at for one in events if one.source == "machine" and one.kind == "down"]
    ups = [
        one.at for one in events if one.source == "machine" and one.kind == "up" and downs and one.at > downs[0]
    ]
    if not ups:
        return ()
    ran = [span for span in spans(events) if span.source == "job"]
    if any(span.begin <= ups[-1] and (span.end is None or span.end >= downs[0]) for span in ran):
        return ("layer 1",)
    return ("by hand",) if any(one.kind == "asked" for one in events) else ("by itself",)


def _of_the_service(events: Sequence[TimelineEvent]) -> tuple[Layer, ...]:
    ups = [one.at for one in events if one.source == "service" and one.kind == "up"]
    if not ups:
        return ()
    before = [one for one in events if one.at <= ups[-1]]
    if any(one.kind == "recovering" for one in before):
        return ("layer 3",)
    if any(one.kind == "retry" for one in before):
        return ("layer 2",)
    return () if any(one.kind == "boot" for one in before) else ("by hand",)


@dataclass(frozen=True, slots=True)
class OutageStep:
    """One event of an outage, `after` its begin, and how long after the event before."""

    event: TimelineEvent
    after: timedelta
    took: timedelta


def steps(outage: GatewayOutage) -> list[OutageStep]:
    """Return the events with their times."""
    found = list[OutageStep]()
    before = outage.events[0].at if outage.events else outage.began_at
    for event in outage.events:
        found.append(OutageStep(event, event.at - outage.began_at, event.at - before))
        before = event.at
    return found
