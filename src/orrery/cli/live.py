"""`orrery live`: the owner's commands for the live visitor counter (spec 2)."""

from dataclasses import asdict

import typer

from orrery.cli.live_refresh import refresh
from orrery.cli.live_schedule import schedule
from orrery.cli.services import AsJson, Config, with_services
from orrery.cli.tables import show_json
from orrery.cli.terminal import marked, new_console
from orrery.live.monitor import MonitorResult

group = typer.Typer(no_args_is_help=True)
group.command()(refresh)
group.command()(schedule)


@group.callback()
def live() -> None:
    """Look after the live visitor counter."""


@group.command()
def monitor(as_json: AsJson = False, config: Config = None) -> None:  # noqa: FBT002  a flag of the command line
    """Look at the public counter once, as the workers do every 15 minutes; exit 1 when it is bad."""
    result = with_services(config, lambda orrery: orrery.live.monitor.check())
    if as_json:
        show_json(asdict(result))
    else:
        _show(result)
    if result.reason:
        raise typer.Exit(1)


def _show(result: MonitorResult) -> None:
    """Print the result, then the changes to the issue."""
    console = new_console()
    console.print(f"[red]bad[/red]: {marked(result.reason.text)}" if result.reason else "[green]good[/green]")
    for sentence in _tracker_changes(result):
        console.print(sentence, markup=False)


def _tracker_changes(result: MonitorResult) -> list[str]:
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
