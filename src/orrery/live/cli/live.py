"""`orrery live`: the owner's commands for the live visitor counter (spec 2)."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from orrery.live.cli import live_of
from orrery.live.cli.refresh import refresh
from orrery.live.cli.schedule import schedule
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed
from orrery.runtime.console.tables import note, show_json
from orrery.runtime.console.terminal import marked, new_console

if TYPE_CHECKING:
    from orrery.live.monitor import MonitorResult

group = typer.Typer(no_args_is_help=True)
_ = group.command()(refresh)
_ = group.command()(schedule)


@group.callback()
def live() -> None:
    """Look after the live visitor counter."""


@group.command()
def monitor(as_json: AsJson = False, *, runner: Handed) -> None:  # noqa: FBT002  a flag of the command line
    """Look at the public counter once, as the workers do every 15 minutes; exit 1 when it is bad."""
    result = runner.run(lambda services: live_of(services).monitor.check())
    if as_json:
        show_json(asdict(result))
    else:
        _show(result)
    end_broken(when=result.reason)


@group.command("test")
def try_report(*, runner: Handed) -> None:
    """Ask the analytics provider for one report; nothing is stored of it, and exit 1 when it gives none."""
    count = runner.run(lambda services: live_of(services).report())
    note(f"The analytics provider counts {count} {'visitor' if count == 1 else 'visitors'} now.")


def _show(result: "MonitorResult") -> None:
    """Print the result, then the changes to the issue."""
    console = new_console()
    console.print(f"[red]bad[/red]: {marked(result.reason.text)}" if result.reason else "[green]good[/green]")
    for sentence in _tracker_changes(result):
        console.print(sentence, markup=False)


def _tracker_changes(result: "MonitorResult") -> list[str]:
    if not result.counted:
        return ["Not counted: another check counted less than a minute ago. Nothing was done."]
    bad = result.bad_in_a_row > 0
    sentences = [f"{result.bad_in_a_row if bad else result.good_in_a_row} {'bad' if bad else 'good'} in a row."]
    if result.degraded_since:
        sentences.append(f"Degraded since {result.degraded_since:%Y-%m-%d %H:%M} UTC.")
    where = f" {result.issue.id} {result.issue.url}".rstrip() if result.issue else ""
    sentences += [f"Issue{where}: {done}." for done in result.done]
    if result.trouble:
        sentences.append(f"{result.trouble} The next check tries again.")
    return sentences
