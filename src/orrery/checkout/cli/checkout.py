"""`orrery checkout`: the owner's commands for the paid checkout."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from orrery.checkout.cli import checkout_of
from orrery.checkout.cli.events import events
from orrery.checkout.cli.preflight import preflight
from orrery.checkout.cli.verify import verify
from orrery.errors import RecordUnreadable
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import left_out, show_json
from orrery.runtime.console.terminal import marked, new_console
from orrery.runtime.console.windows import parse_window
from orrery.runtime.references import References

if TYPE_CHECKING:
    from orrery.checkout.access.reconcile import ReconciliationReport
    from orrery.checkout.access.refunds import Discrepancy

group = typer.Typer(no_args_is_help=True)
_ = group.command()(events)
_ = group.command()(preflight)
_ = group.command()(verify)


@group.callback()
def checkout() -> None:
    """Look after the paid checkout."""


@group.command()
def reconcile(
    since: Annotated[
        str | None,
        typer.Option(help="How far back, such as 60d or 12h. Without it: to the last success, at least 30d."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell; change nothing.")] = False,  # noqa: FBT002  a flag of the command line
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Grant what is paid without access, and list what does not add up."""
    window = parse_window(since) if since else None

    async def run(services: Services) -> "tuple[ReconciliationReport, References]":
        with _progress() as progress:
            task = progress.add_task("sessions", total=None)
            report = await checkout_of(services).reconciliation.run(
                window, dry_run=dry_run, progress=lambda seen: progress.update(task, completed=seen)
            )
        return report, services[References]

    report, references = runner.run(run)
    if as_json:
        show_json(asdict(report))
    else:
        _show(report, references.within)
    records = [RecordUnreadable(references.within(name)) for name in report.unreadable]
    left_out([*records, *(one.error() for one in report.unread)])


def _progress() -> Progress:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.completed} {task.description}"),
        BarColumn(20),
        TimeElapsedColumn(),
    )
    console = new_console(stderr=True, soft_wrap=False)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _show(report: "ReconciliationReport", within: Callable[[str], str]) -> None:
    """Print the report, with references: a timer's output is a log."""
    console = new_console()

    def shown(finding: "Discrepancy") -> str:
        return marked(within(f"{finding.session_id}: {finding.reason}"))

    would = "would be granted" if report.dry_run else "granted"
    console.print(f"{report.examined} completed sessions: {report.with_access} have access, ", end="")
    console.print(f"{len(report.granted)} {would}, {report.foreign} are not ours.")
    for session in report.granted:
        console.print(f"  [green]{would}[/green]  {marked(within(session))}")
    for session in report.unpaid:
        console.print(f"  [yellow]not paid yet[/yellow]  {marked(within(session))}")
    for session in report.payment_failed:
        console.print(f"  [dim]payment failed[/dim]  {marked(within(session))}")
    for finding in report.paid_without_access:
        console.print(f"  [red]paid without access[/red]  {shown(finding)}")
    for finding in report.access_without_payment:
        console.print(f"  [red]access without payment[/red]  {shown(finding)}")
    for finding in report.partly_refunded:
        console.print(f"  [dim]refunded in part[/dim]  {shown(finding)}")
    if report.held_notifications:
        console.print(
            f"{report.held_notifications} were sold before the restore: their notifications are held back; "
            "see [bold]orrery notifications list --state held[/bold]."
        )
