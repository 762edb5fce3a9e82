"""Clusters of declined charges (spec 1, Errors and Limits; decision 18): pure.

Three or more declines that share a trait within 300 s, both ends counted, are flagged. Windows that have a
decline in common are one cluster: it ends where no window of three reaches any further.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, get_args

from orrery.syntax.email_address import normal_email

THRESHOLD = 3
"""How many declines are a cluster (spec 1, Limits)."""

WINDOW = timedelta(minutes=5)
"""Within this time, both ends counted (spec 1, Limits; decision 18)."""

Trait = Literal["address", "card", "email"]
"""What declines may share: a client address, a card's fingerprint, an e-mail address."""

TRAITS: tuple[Trait, ...] = get_args(Trait)

NAMES: dict[Trait, str] = {"address": "client address", "card": "card", "email": "e-mail address"}
"""The name of each trait in texts for people."""


@dataclass(frozen=True, slots=True)
class Decline:
    """One declined charge. A trait that is not known is None, and does not group.

    `stopped`: the processor's own screening stopped it, and no bank was asked.
    """

    charge_id: str
    at: datetime
    address: str | None = None
    card: str | None = None
    email: str | None = None
    stopped: bool = False

    def value(self, trait: Trait) -> str | None:
        """Return the compared form: an e-mail address without ASCII case, None for an empty text."""
        match trait:
            case "address":
                return self.address or None
            case "card":
                return self.card or None
            case "email":
                return normal_email(self.email or "") or None


@dataclass(frozen=True, slots=True)
class Cluster:
    """Declines that share `value`, the oldest first. `id` stays while it grows."""

    id: str
    trait: Trait
    value: str
    declines: tuple[Decline, ...]

    @property
    def first(self) -> datetime:
        """The time of its first decline."""
        return self.declines[0].at

    @property
    def last(self) -> datetime:
        """The time of its last decline so far."""
        return self.declines[-1].at

    @property
    def stopped(self) -> int:
        """How many of them the processor stopped before any bank was asked."""
        return sum(one.stopped for one in self.declines)

    @property
    def charge_ids(self) -> frozenset[str]:
        return frozenset(one.charge_id for one in self.declines)

    def values(self, trait: Trait) -> tuple[str, ...]:
        """Return the different values of a trait among its declines, as far as they are known."""
        return tuple(sorted({value for one in self.declines if (value := one.value(trait))}))

    def busiest(self) -> int:
        """Return the most declines within one window."""
        times = [one.at for one in self.declines]
        return max(sum(start <= time <= start + WINDOW for time in times) for start in times)


def clusters(declines: Iterable[Decline]) -> list[Cluster]:
    """Return the clusters of each trait, the newest first, whatever the order of the declines is."""
    unique = _unique(declines)
    found = [
        Cluster(_id(trait, run[0]), trait, value, run)
        for trait in TRAITS
        for value, sharing in _shared(unique, trait).items()
        for run in _runs(sharing)
    ]
    return sorted(found, key=lambda one: (one.last, one.first, one.id), reverse=True)


def crowded(declines: Iterable[Decline]) -> list[Decline]:
    """Return the declines that are close enough to others to be in a cluster, whatever they share."""
    return [decline for run in _runs(_unique(declines)) for decline in run]


def _unique(declines: Iterable[Decline]) -> list[Decline]:
    """Return each charge once, by time; of two reports of a charge always the same, whatever their order."""
    by_charge: dict[str, Decline] = {}
    for decline in sorted(declines, key=_order):
        _ = by_charge.setdefault(decline.charge_id, decline)
    return list(by_charge.values())


def _order(decline: Decline) -> tuple[datetime, str, str, str, str, bool]:
    traits = (decline.address or "", decline.card or "", decline.email or "")
    return decline.at, decline.charge_id, *traits, decline.stopped


def _shared(declines: Iterable[Decline], trait: Trait) -> dict[str, list[Decline]]:
    groups: defaultdict[str, list[Decline]] = defaultdict(list)
    for decline in declines:
        if value := decline.value(trait):
            groups[value].append(decline)
    return groups


def _runs(ordered: Sequence[Decline]) -> Iterator[tuple[Decline, ...]]:
    """Yield the longest runs in which every decline is in a window with at least three declines."""
    begin = end = 0
    for last in range(THRESHOLD - 1, len(ordered)):
        first = last - THRESHOLD + 1
        if ordered[last].at - ordered[first].at > WINDOW:
            continue
        if first >= end:
            yield from _run(ordered, begin, end)
            begin = first
        end = last + 1
    yield from _run(ordered, begin, end)


def _run(ordered: Sequence[Decline], begin: int, end: int) -> Iterator[tuple[Decline, ...]]:
    if end > begin:
        yield tuple(ordered[begin:end])


def _id(trait: Trait, first: Decline) -> str:
    # A charge has one value of a trait, so this is one cluster's; and nothing personal can be guessed from it.
    return f"fc-{hashlib.sha256(f'{trait}:{first.charge_id}'.encode()).hexdigest()[:10]}"
