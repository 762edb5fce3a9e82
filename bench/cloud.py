"""How soon the gateway's machine runs again: over the sandbox's cloud, and over months of a simulation.

The chain is the one that `apply` makes: its resources and alerts, and the runbook's steps, over a moved clock. The
delays are those of the specification, drawn by a seed: added up, 2.6 to 7.7 minutes. No alert of the specification
sees a shutdown by the host of a machine whose health is Unknown: the site pushes, and the owner starts it.
"""

import statistics
import time
from dataclasses import dataclass

from bench.measurement import Figure, Measurement, Round, scratch
from orrery.gateway.simulation import COMBINATIONS, figures
from orrery.gateway.simulation_parameters import read_parameters
from tests.support.provisioning import Layer, layer_in

SEED = 14
MOST = 7.0
"""Minutes: the recovery of the machine takes 3 to 7 (spec 3, Limits)."""

HOUR = 3600


@dataclass(frozen=True, slots=True)
class Case:
    """How the machine is shut down, and whether its health is known; `fires` are the alerts that follow."""

    name: str
    lever: str
    health: str
    fires: str


CASES = (
    Case("by the host", "shutdown", "known", "health"),
    Case("deallocated", "deallocate", "known", "both"),
    Case("deallocated, health Unknown", "deallocate", "unknown", "deallocate"),
    Case("by the host, health Unknown", "shutdown", "unknown", "none"),
)


def recoveries(layer: Layer, case: Case, shutdowns: int) -> Round:
    """Shut the machine down again and again; return how long it took to run, and how often it did in time."""
    layer.box.pull(case.health)
    minutes = [_one(layer, case) for _ in range(shutdowns)]
    within = sum(one is not None and one <= MOST for one in minutes) / shutdowns * 100
    what = f"shut down {case.name}; alerts that fire: {case.fires}"
    share = Figure(f"{what}: runs within {MOST:g} minutes", within, "%")
    found = [one for one in minutes if one is not None]
    if not found:
        return [share]
    return [Figure(f"{what}: median until it runs", statistics.median(found), "minutes", limit=MOST), share]


def _one(layer: Layer, case: Case) -> float | None:
    before = len(layer.box.events())
    layer.box.pull(case.lever)
    events = layer.box.advance(HOUR)["events"][before:]
    found = [one["after"] / 60 for one in events if one["details"].get("power") == "running"]
    if not found:
        layer.box.pull("start")
        layer.box.advance(HOUR)
    return found[0] if found else None


def simulated(replicas: int) -> Round:
    """Return how long the simulation takes, and what each combination of layers is worth."""
    began, parameters = time.perf_counter(), read_parameters()
    found = [figures(combination, parameters, replicas=replicas) for combination in COMBINATIONS]
    seconds = time.perf_counter() - began
    runs = f"{replicas} runs of 30 days of each combination"
    available = [Figure(f"available: {one.combination}", one.availability, "%") for one in found]
    return [Figure(runs, seconds, "s"), *available]


def measure(shutdowns: int = 20, replicas: int = 600) -> Round:
    """Make the layer and shut its machine down; then simulate months."""
    with scratch() as folder, layer_in(folder / "cloud", seed=SEED) as layer:
        if not layer.provisioning.make().succeeded:
            raise RuntimeError("The layer could not be made.")
        recovered = [figure for case in CASES for figure in recoveries(layer, case, shutdowns)]
    return [*recovered, *simulated(replicas)]


MEASUREMENT = Measurement(measure, short={"shutdowns": 1, "replicas": 1}, rounds=1)
