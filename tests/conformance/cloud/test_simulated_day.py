"""A day of the simulation beside the real chain: the made layer over the sandbox, whose clock is moved."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from orrery.gateway.simulation.combinations import BOTH, Combination
from orrery.gateway.simulation.parameters import Parameters, read_parameters
from orrery.gateway.simulation.replica import Cycle
from orrery.sandbox.cloud.resources import DELAYS
from tests.support.provisioning import Layer, layer_in
from tests.support.simulated_day import Day, one_day

WITHIN = 60
"""Seconds: how far an event of the model may be from that of the chain."""

BOTH_ALERTS = Combination("layer 1 with both alerts", BOTH)
PARAMETERS = read_parameters()
NEVER_KNOWN = replace(PARAMETERS, machine=replace(PARAMETERS.machine, unknown_share=1))
PLAYED = {"shutdown", "reported", "alert", "job", "start", "running", "job-end"}
"""What layer 1 does; the rest is the service's."""

ABOUT = {"ResourceHealth": "health", "Administrative": "deallocate"}
"""The model's alerts, by the category of the event that each is for."""

NAMED = {"deallocate": "shutdown", "health": "reported", "alert": "alert", "start": "start"}
"""What the model calls the sandbox's events."""


class Happened(NamedTuple):
    """An event of either side; `at` is in seconds since the day began."""

    kind: str
    about: str
    at: float


@pytest.mark.parametrize(("seed", "parameters"), [(1, PARAMETERS), (2, PARAMETERS), (1, NEVER_KNOWN)])
def test_a_day_of_the_simulation_is_the_chains(seed: int, parameters: Parameters, tmp_path: Path) -> None:
    """The same events in the same number, and each at the same time, within a minute."""
    day = one_day(seed, BOTH_ALERTS, parameters)
    with layer_in(tmp_path) as layer:
        assert layer.provisioning.make().succeeded
        chain = sorted(of_the_chain(layer, day))
    model = sorted(Happened(one.kind, one.about, one.at) for one in day.events if one.kind in PLAYED)
    assert [(one.kind, one.about) for one in chain] == [(one.kind, one.about) for one in model]
    apart = [(one, other) for one, other in zip(model, chain, strict=True) if abs(one.at - other.at) > WITHIN]
    assert apart == []
    assert len(model) == sum(7 if cycle.draws.is_unknown else 10 for cycle in day.cycles)


def test_both_draw_between_the_same_bounds() -> None:
    """The delays of the model and those of the sandbox are the same figures of the specification."""
    machine = PARAMETERS.machine
    assert (machine.unavailable_after,) * 2 == DELAYS["health"]
    assert (machine.alert_after, machine.job_after) == (DELAYS["alert"], DELAYS["job"])
    assert machine.starts_within == DELAYS["start"]


def of_the_chain(layer: Layer, day: Day) -> Iterator[Happened]:
    """Let the sandbox have the day: shut the machine down at the same times, with the delays that were drawn."""
    box = layer.box
    before, began = len(box.events()), box.clock.now().timestamp()
    for cycle in day.cycles:
        box.advance(began + cycle.at - box.clock.now().timestamp())
        box.pull("unknown" if cycle.draws.is_unknown else "known")
        box.pull("deallocate", **delays(cycle))
    box.advance(3600)
    abouts = dict(jobs_of(layer))
    for event in box.events()[before:]:
        if found := translated(event, abouts):
            yield Happened(*found, event["at"] - began)


def delays(cycle: Cycle) -> dict[str, float | list[float]]:
    """Return what was drawn, as the lever takes it.

    The deallocation is in the activity log before the health: its alert takes the first of two delays. Jobs take
    theirs as their alerts fire. The others are the sandbox's own: the model leaves out how long the machine takes
    to be off, and the health always takes as long.
    """
    fired = sorted((one.at, one.about) for one in cycle.outage.events if one.kind == "alert")
    drawn = cycle.draws
    return {
        "alert": [drawn.alerts["deallocate"], drawn.alerts["health"]],
        "job": [seconds for _, about in fired for alert, seconds in drawn.jobs.items() if alert == about],
        "start": drawn.starts_within,
    }


def jobs_of(layer: Layer) -> Iterator[tuple[str, str]]:
    """Yield each job's id, and the alert whose payload it was given."""
    for job in layer.box.known()["jobs"]:
        if found := re.search('"category":"([A-Za-z]+)"', job["data"]):
            yield job["name"], ABOUT[found[1]]


def translated(event: dict[str, Any], jobs: dict[str, str]) -> tuple[str, str] | None:
    """Return the kind and the subject of the model's event that is the same, or None where it has none."""
    details = event["details"]
    match event["kind"], details.get("status") or details.get("power"):
        case "job", status:
            return "job" if status == "Running" else "job-end", jobs[details["job"]]
        case "power", "running":
            return "running", ""
        case kind, _:
            about = details.get("health") or ABOUT.get(details.get("category"), "")
            return (NAMED[kind], about) if kind in NAMED else None
