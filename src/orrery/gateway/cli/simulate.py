"""`orrery gateway simulate`: what each layer of the recovery is worth."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from orrery.gateway.simulation import COMBINATIONS, Figures, figures
from orrery.gateway.simulation_parameters import default_text, read_parameters
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.progress import progress_bar
from orrery.runtime.console.tables import note, show, show_json

_COLUMNS = (
    "combination",
    "availability",
    "gains",
    "machine",
    "service",
    "p50",
    "p99",
    "pushes",
    "job_minutes",
)


def command(
    parameters: Annotated[
        Path | None, typer.Option(help="A TOML file that changes some of them.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Another number is another chance.")] = 1,
    days: Annotated[int, typer.Option(min=1, max=3650, help="How many days each run has.")] = 30,
    replicas: Annotated[int, typer.Option(min=1, max=100_000, help="How many runs.")] = 600,
    *,
    show_parameters: Annotated[
        bool, typer.Option("--show-parameters", help="Print the default parameters, to be changed, and end.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Simulate months of shutdowns, and compare what each layer and each alert is worth.

    It needs no settings. The same seed gives the same figures.

    \b
    orrery gateway simulate
    orrery gateway simulate --show-parameters > mine.toml
    orrery gateway simulate --parameters mine.toml --days 90 --json
    """
    if show_parameters:
        typer.echo(default_text(), nl=False)
        return
    given = read_parameters(parameters)
    with progress_bar("simulating", len(COMBINATIONS) * replicas) as done:
        found = [figures(one, given, seed=seed, days=days, replicas=replicas, done=done) for one in COMBINATIONS]
    if as_json:
        facts = {"seed": seed, "days": days, "replicas": replicas, "parameters": given}
        show_json({**facts, "combinations": found})
        return
    note(f"{replicas} runs of {days} days, seed {seed}; outages in minutes, counts for 30 days.")
    show(list(_rows(found)), _COLUMNS, as_json=False, empty="")
    note("--show-parameters prints all assumptions.")


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
                **{name: f"{getattr(one, name):.1f}" for name in ("p50", "p99", "pushes")},
                "job_minutes": f"{one.job_minutes:.0f}",
            }
        )
    return rows
