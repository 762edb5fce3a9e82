"""One run of days: the machine is shut down again and again. The same seed is the same run."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from orrery.gateway.simulation.combinations import AS_BUILT, Combination
from orrery.gateway.simulation.model import Draws, Event, Outage, draw, outage_of
from orrery.gateway.simulation.parameters import Parameters, read_parameters

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Cycle:
    """A machine that was shut down `at` that second, what chance had drawn for it, and how it came back."""

    at: float
    draws: Draws
    outage: Outage


def cycles(
    seed: int, number: int, combination: Combination, parameters: Parameters, seconds: float
) -> Iterator[Cycle]:
    """Yield the shutdowns of one run. Each combination meets the same chance in its n-th shutdown."""
    chance = Random(f"{seed}:{number}")  # noqa: S311  a simulation wants the same numbers again
    draws = draw(chance, parameters)
    at = draws.runs * (1 - draws.elapsed)
    while at < seconds:
        outage = outage_of(draws, combination, parameters)
        yield Cycle(at, draws, outage)
        draws = draw(chance, parameters)
        at += outage.running + draws.runs


@dataclass(frozen=True, slots=True)
class Day:
    """One day with its shutdowns, and all events in their order, in seconds since it began."""

    cycles: tuple[Cycle, ...]
    events: tuple[Event, ...]


def one_day(seed: int, combination: Combination = AS_BUILT, parameters: Parameters | None = None) -> Day:
    """Return a day that begins with a machine that runs: what the real chain is compared with."""
    found = tuple(cycles(seed, 0, combination, parameters or read_parameters(), DAY))
    events = [
        Event(cycle.at + event.at, event.kind, event.about) for cycle in found for event in cycle.outage.events
    ]
    return Day(found, tuple(sorted(events, key=lambda event: event.at)))
