"""`orrery checkout`: the owner's commands for the paid checkout."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from orrery.checkout.cli import checkout_of
from orrery.checkout.cli.selling import preflight, verify
from orrery.errors import Invalid, RecordUnreadable
from orrery.ports.processor import split_unreadable
from orrery.ports.processor.errors import ItemUnreadable
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Services
from orrery.runtime.console.tables import left_out, note, show, show_json
from orrery.runtime.console.terminal import marked, new_console
from orrery.runtime.console.windows import parse_window
from orrery.runtime.references import References

if TYPE_CHECKING:
    from orrery.checkout.access.events import KnownEvent, Replay
    from orrery.checkout.access.raw_events import ReceivedResult
    from orrery.checkout.access.reconcile import ReconciliationReport
    from orrery.checkout.access.refunds import Discrepancy

group = typer.Typer(no_args_is_help=True)
_ = group.command()(preflight)
_ = group.command()(verify)


_COLUMNS = ("created", "type", "pending", "stored", "became", "why", "id", "session_id")

_SENTENCES: "dict[ReceivedResult, str]" = {
    "granted": "Access is granted; Orrery notifies you and the buyer.",
    "already": "Access had been granted before; nothing changed.",
    "waiting": "No access yet: it is not paid, or what was offered is not known. See `orrery checkout reconcile`.",
    "refused": "No access: what was paid is not what was offered. See `orrery checkout reconcile`.",
    "foreign": "It is not ours: its session names none of our products.",
    "ignored": "It is stored; its type asks for nothing.",
    "duplicate": "It had come in before, and its type asks for nothing; nothing changed.",
    "unreadable": "It is stored, but cannot be read: it is not as documented. A newer release may read it.",
    "conflict": "Another event came in under this id before, and is kept; nothing changed.",
}


@group.callback()
def checkout() -> None:
    """Look after the paid checkout."""


@group.command()
def reconcile(
    since: Annotated[
        str | None,
        typer.Option(help="How far back, such as 60d or 12h. Without it: to the last success, at least 30d."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only report; change nothing.")] = False,  # noqa: FBT002  a flag of the command line
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


@group.command()
def events(
    failed: Annotated[bool, typer.Option("--failed", help="Only what did not come through.")] = False,  # noqa: FBT002  a flag of the command line
    replay: Annotated[
        str | None, typer.Option(help="Receive this event as its webhook would.", metavar="ID", show_default=False)
    ] = None,
    since: Annotated[str, typer.Option(help="How far back, such as 30d, 12h or 90m.")] = "7d",
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """List the processor's events about sessions and what became of them here, or receive one once more.

    Exit 1 when --failed finds something.
    """
    window = parse_window(since)
    if replay is not None and failed:
        raise Invalid("--replay receives one event; --failed only lists.")
    if replay is not None:
        _show_replay(runner.run(lambda services: checkout_of(services).events.replay(replay)), as_json=as_json)
        return

    async def read(services: Services) -> "list[KnownEvent | ItemUnreadable]":
        return [event async for event in checkout_of(services).events.list_events(window, failed=failed)]

    found, unread = split_unreadable(runner.run(read))
    empty = "Nothing failed to come through." if failed else "The processor lists no event."
    show(map(asdict, found), _COLUMNS, as_json=as_json, empty=empty, unreadable=unread)
    end_broken(when=failed and (found or unread))


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


def _show_replay(replayed: "Replay", *, as_json: bool) -> None:
    if as_json:
        show_json(asdict(replayed))
    else:
        subject = f"{replayed.id}, session {replayed.session_id}" if replayed.session_id else replayed.id
        note(f"{subject}: {_SENTENCES[replayed.result]}")
    end_broken(when=replayed.result in ("unreadable", "conflict"))
