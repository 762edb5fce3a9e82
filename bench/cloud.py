"""How soon the gateway's machine runs again: over the sandbox's cloud, and over months of a simulation.

The chain is the one that `apply` makes: its resources and alerts, and the runbook's steps, over a moved clock. The
delays are those of the specification, drawn by a seed. Asserts nothing.
"""

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from orrery.gateway.simulation import COMBINATIONS, Figures, figures
from orrery.gateway.simulation_parameters import read_parameters
from orrery.runtime.console.terminal import new_console
from tests.support.provisioning import Layer, layer_in

SHUTDOWNS = 20
SEED = 14
LEAST, MOST = 3.0, 7.0
"""Minutes: the recovery of the machine (spec 3, Limits)."""

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


def recovered(layer: Layer, case: Case) -> list[float | None]:
    """Shut the machine down again and again; return the minutes until it ran, None where it stayed down."""
    layer.box.pull(case.health)
    return [_one(layer, case) for _ in range(SHUTDOWNS)]


def _one(layer: Layer, case: Case) -> float | None:
    before = len(layer.box.events())
    layer.box.pull(case.lever)
    events = layer.box.advance(HOUR)["events"][before:]
    found = [one["after"] / 60 for one in events if one["details"].get("power") == "running"]
    if not found:
        layer.box.pull("start")
        layer.box.advance(HOUR)
    return found[0] if found else None


def _recoveries() -> Table:
    made = Table(
        title="minutes from the shutdown until the machine runs",
        caption=f"{SHUTDOWNS} shutdowns each, seed {SEED}. The specification: {LEAST:g} to {MOST:g}.",
    )
    for heading in ("shut down", "alerts", "shortest", "median", "longest", f"at most {MOST:g}"):
        made.add_column(heading, justify="left" if heading in {"shut down", "alerts"} else "right")
    with TemporaryDirectory() as folder, layer_in(Path(folder, "cloud"), seed=SEED) as layer:
        if not layer.provisioning.make().succeeded:
            raise RuntimeError("The layer could not be made.")
        for case in CASES:
            made.add_row(case.name, case.fires, *_printed(recovered(layer, case)))
    return made


def _printed(minutes: Sequence[float | None]) -> list[str]:
    found = [one for one in minutes if one is not None]
    if not found:
        return ["-", "not by itself", "-", f"0 of {len(minutes)}"]
    within = sum(one <= MOST for one in found)
    figures = (min(found), statistics.median(found), max(found))
    return [*(f"{one:.1f}" for one in figures), f"{within} of {len(minutes)}"]


def _months() -> Table:
    began = time.perf_counter()
    found = [figures(combination, read_parameters()) for combination in COMBINATIONS]
    seconds = time.perf_counter() - began
    made = Table(
        title="simulated availability", caption=f"600 runs of 30 days each, seed 1: all in {seconds:.1f} s."
    )
    headings = ("combination", "available", "below the ceiling", "machine", "service", "median outage", "99 %")
    for heading in (*headings, "pushes", "job-minutes"):
        made.add_column(heading, justify="left" if heading == "combination" else "right")
    for one in found:
        made.add_row(*_row(one, ceiling=found[-1]))
    return made


def _row(one: Figures, ceiling: Figures) -> tuple[str, ...]:
    return (
        one.combination,
        f"{one.availability:.2f} % ± {one.error:.2f}",
        f"{ceiling.availability - one.availability:.2f}",
        f"{one.machine:.1f} %",
        f"{one.service:.1f} %",
        f"{one.p50:.1f} min",
        f"{one.p99:.0f} min",
        f"{one.pushes:.0f}",
        f"{one.job_minutes:.0f}",
    )


def main() -> None:
    """Print both tables."""
    console = new_console(soft_wrap=False)
    console.print(_recoveries())
    console.print(_months())


if __name__ == "__main__":
    main()
