"""`orrery gateway simulate`: what each layer of the recovery is worth."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from orrery.gateway.cli.pictures import write_picture
from orrery.gateway.simulation.combinations import COMBINATIONS
from orrery.gateway.simulation.limits import limits
from orrery.gateway.simulation.parameters import default_text, read_parameters
from orrery.gateway.simulation.picture import bars, svg
from orrery.gateway.simulation.statistics import Figures, SimulationPlan, simulated
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.progress import progress_bar
from orrery.runtime.console.tables import note, show, show_json
from orrery.runtime.console.terminal import new_console

_COLUMNS = (
    "combination",
    "availability",
    "gains",
    "machine",
    "service",
    "p50",
    "p90",
    "p99",
    "longest",
    "pushes",
    "jobs",
    "job_minutes",
)
_LIMITS = ("limit", "spec", "simulated_as_specified", "simulated_as_built")


def command(
    parameters: Annotated[
        Path | None, typer.Option(help="A TOML file that changes some of them.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Another number is another chance.")] = 1,
    days: Annotated[int, typer.Option(min=1, max=3650, help="How many days each run has.")] = 30,
    replicas: Annotated[int, typer.Option(min=1, max=100_000, help="How many runs.")] = 600,
    *,
    as_svg: Annotated[
        Path | None, typer.Option("--svg", help="Also write the picture to a file.", show_default=False)
    ] = None,
    show_parameters: Annotated[
        bool, typer.Option("--show-parameters", help="Print the default parameters, to be changed, and end.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Play months of shutdowns through, and compare what each layer and each alert is worth.

    It needs no settings. The same seed gives the same figures.

    \b
    orrery gateway simulate
    orrery gateway simulate --seed 7 --svg gateway.svg
    orrery gateway simulate --show-parameters > mine.toml
    orrery gateway simulate --parameters mine.toml --days 90 --json
    """
    if show_parameters:
        typer.echo(default_text(), nl=False)
        return
    plan = SimulationPlan(read_parameters(parameters), seed, days, replicas)
    with progress_bar("simulating", len(COMBINATIONS) * replicas) as done:
        found = simulated(plan, done)
    if as_svg:
        write_picture(as_svg, svg(found))
    compared = limits(plan.parameters, found)
    if as_json:
        facts = {"seed": seed, "days": days, "replicas": replicas, "parameters": plan.parameters}
        show_json({**facts, "combinations": found, "limits": compared})
        return
    note(f"{replicas} runs of {days} days, seed {seed}; outages in minutes, counts for 30 days.")
    show(list(_rows(found)), _COLUMNS, as_json=False, empty="")
    console = new_console()
    for line in ["", *bars(found), ""]:
        console.print(line, markup=False)
    show(compared, _LIMITS, as_json=False, empty="")
    note("`=` is an assumption of the simulation, `-` is not played. --show-parameters prints all assumptions.")


def _rows(found: Sequence[Figures]) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []
    for before, one in zip([None, *found], found, strict=False):
        gains = f"{one.availability - before.availability:+.2f}" if before else "-"
        rows.append(
            {
                "combination": one.combination,
                "availability": f"{one.availability:.2f} % ± {one.error:.2f}",
                "gains": gains,
                "machine": f"{one.machine:.2f} %",
                "service": f"{one.service:.2f} %",
                **{name: f"{getattr(one, name):.1f}" for name in ("p50", "p90", "p99", "longest", "pushes")},
                "jobs": f"{one.jobs:.0f}",
                "job_minutes": f"{one.job_minutes:.0f}",
            }
        )
    return rows
