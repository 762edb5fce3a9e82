"""One run of days: the machine is shut down again and again. The same seed is the same run."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from orrery.gateway.simulation.combinations import Combination
from orrery.gateway.simulation.model import Draws, SimulatedOutage, draw, outage_of
from orrery.gateway.simulation.parameters import Parameters

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Cycle:
    """A machine that was shut down `at` that second, what chance had drawn for it, and how it came back."""

    at: float
    draws: Draws
    outage: SimulatedOutage


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
