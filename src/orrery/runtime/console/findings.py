"""How commands print findings: what is examined, how it is, why, and what to do."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace

from rich.text import Text

from orrery.ports.health import Finding, Problem, as_row, count_line
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.tables import show_json, table_lines
from orrery.runtime.console.terminal import new_console, visible
from orrery.syntax.track import label, labels_in


def show_findings(findings: Sequence[Finding], *, as_json: bool) -> None:
    """Print findings; the command ends with exit code 1 when something is broken."""
    print_findings(findings, as_json=as_json)
    end_broken(when=any(finding.state == "broken" for finding in findings))


def print_findings(
    findings: Sequence[Finding], *, as_json: bool, problems: Sequence[Problem] | None = None
) -> None:
    """Print findings; those that are problems with what is known of these, folded where they are put aside."""
    known = {one.key: one for one in problems or ()}
    if as_json:
        rows = [(asdict(one), known.get(one.part)) for one in findings]
        show_json([row | as_row(problem) if problem else row for row, problem in rows])
    else:
        shown = [(one, known.get(one.part)) for one in findings]
        findings = [_folded(one, problem) if problem else one for one, problem in shown]
        console = new_console()
        for line in finding_lines(findings, console.width if sys.stdout.isatty() else None):
            console.print(line)
        if problems is not None:
            console.print(f"{count_line(problems)}.")


def _folded(finding: Finding, problem: Problem) -> Finding:
    why, todo = problem.shown
    return replace(finding, why=f"{why} Since {problem.since:%Y-%m-%d %H:%M} UTC.", todo=todo)


def finding_lines(findings: Sequence[Finding], room: int | None) -> Iterator[Text]:
    """Yield a table that breaks no command in two: see `table_lines`. The label of a track is in its part."""
    labels = [" ".join(sorted(map(label, labels_in(one.part.encode())))) for one in findings]
    if any(labels):
        yield Text(" ".join(sorted({*filter(None, labels)})))
    cells = [[visible(cell) for cell in (one.part, one.state, one.why, one.todo)] for one in findings]
    for line in table_lines(("part", "", "why", "what to do"), cells, room, leads=labels):
        _ = line.highlight_words(["broken"], "red")
        yield line
