"""How commands print findings: what is examined, how it is, why, and what to do."""

import sys
from collections.abc import Sequence
from dataclasses import asdict

import typer
from rich.table import Table

from orrery.ports.health import Finding
from orrery.runtime.console.tables import show_json
from orrery.runtime.console.terminal import marked, new_console
from orrery.syntax.track import label, labels_in

_WIDE = 10_000
"""Cells of a line that is not for a terminal: a pipe gets each finding on one line, with the label in its part."""

_LABEL_WIDTH = len(label("A"))

_SIGNS = {"ok": "[green]ok[/green]", "broken": "[red]broken[/red]", "off": "[dim]off[/dim]"}


def show_findings(findings: Sequence[Finding], *, as_json: bool) -> None:
    """Print findings; the command ends with exit code 1 when something is broken."""
    print_findings(findings, as_json=as_json)
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(1)


def print_findings(findings: Sequence[Finding], *, as_json: bool) -> None:
    if as_json:
        show_json([asdict(finding) for finding in findings])
    else:
        console = new_console(soft_wrap=False, width=None if sys.stdout.isatty() else _WIDE)
        if labels := sorted(map(label, labels_in("\n".join(one.part for one in findings).encode()))):
            console.print(" ".join(labels), markup=False)
        console.print(_table(findings))


def _table(findings: Sequence[Finding]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("part", "", "why", "what to do"):
        table.add_column(column, overflow="fold", min_width=_LABEL_WIDTH if column == "part" else None)
    for finding in findings:
        table.add_row(marked(finding.part), _SIGNS[finding.state], marked(finding.why), marked(finding.todo))
    return table
