"""One day of the simulation: what the real chain is compared with."""

from dataclasses import dataclass

from orrery.gateway.simulation.combinations import AS_BUILT, Combination
from orrery.gateway.simulation.model import SimulatedEvent
from orrery.gateway.simulation.parameters import Parameters, read_parameters
from orrery.gateway.simulation.replica import DAY, Cycle, cycles


@dataclass(frozen=True, slots=True)
class Day:
    """One day with its shutdowns, and all events in their order, in seconds since it began."""

    cycles: tuple[Cycle, ...]
    events: tuple[SimulatedEvent, ...]


def one_day(seed: int, combination: Combination = AS_BUILT, parameters: Parameters | None = None) -> Day:
    """Return a day that begins with a machine that runs."""
    found = tuple(cycles(seed, 0, combination, parameters or read_parameters(), DAY))
    events = [
        SimulatedEvent(cycle.at + event.at, event.kind, event.about)
        for cycle in found
        for event in cycle.outage.events
    ]
    return Day(found, tuple(sorted(events, key=lambda event: event.at)))
