"""The sentences about declines, without personal data. Pure."""

from collections.abc import Sequence
from datetime import timedelta

from orrery.fraud.clusters import NAMES, TRAITS, Cluster

_MINUTE = 60
_HOUR = 3600


def lasting(time: timedelta) -> str:
    """Return how long something lasts: `45 s`, `2 min 10 s`, `1 h 5 min`."""
    seconds = round(time.total_seconds())
    if seconds < _MINUTE:
        return f"{seconds} s"
    if seconds < _HOUR:
        return _two(seconds // _MINUTE, "min", seconds % _MINUTE, "s")
    return _two(seconds // _HOUR, "h", seconds % _HOUR // _MINUTE, "min")


def together(clusters: Sequence[Cluster]) -> list[list[Cluster]]:
    """Return the clusters in groups that have declines in common: one incident, seen by several traits."""
    groups: list[list[Cluster]] = []
    for cluster in clusters:
        touched = [group for group in groups if any(one.charge_ids & cluster.charge_ids for one in group)]
        groups = [group for group in groups if group not in touched]
        groups.append([*(one for group in touched for one in group), cluster])
    return [sorted(group, key=lambda one: (TRAITS.index(one.trait), one.first, one.id)) for group in groups]


def incident(group: Sequence[Cluster]) -> str:
    """Return what clusters that have declines in common amount to, in one or two sentences."""
    declines = {one.charge_id: one for cluster in group for one in cluster.declines}
    stopped = sum(one.stopped for one in declines.values())
    first, last = min(one.first for one in group), max(one.last for one in group)
    counted = f"{len(declines)} declines within {lasting(last - first)}"
    traits = [f"one {NAMES[one.trait]}" for one in group]
    if all(len(one.declines) == len(declines) for one in group):
        return f"{counted} share {_listed(traits)}.{_stopped(stopped, len(declines))}"
    shares = [f"{len(one.declines)} share {what}" for one, what in zip(group, traits, strict=True)]
    return f"{counted}: {_listed(shares)}.{_stopped(stopped, len(declines))}"


def _stopped(stopped: int, declines: int) -> str:
    if not stopped:
        return ""
    counted = "all" if stopped == declines else str(stopped)
    return f" The processor stopped {counted} of them before any bank was asked."


def _two(many: int, unit: str, few: int, smaller: str) -> str:
    return f"{many} {unit} {few} {smaller}" if few else f"{many} {unit}"


def _listed(traits: Sequence[str]) -> str:
    return traits[0] if len(traits) == 1 else f"{', '.join(traits[:-1])} and {traits[-1]}"
