"""`orrery live`: the live visitor counter, looked after by hand (spec 2)."""

from dataclasses import asdict

import typer

from orrery.cli.live_refresh import refresh
from orrery.cli.live_schedule import schedule
from orrery.cli.services import AsJson, Config, with_services
from orrery.cli.tables import show_json
from orrery.cli.terminal import marked, new_console
from orrery.live.monitor import Verdict

group = typer.Typer(no_args_is_help=True)
group.command()(refresh)
group.command()(schedule)


@group.callback()
def live() -> None:
    """Look after the live visitor counter."""


@group.command()
def monitor(as_json: AsJson = False, config: Config = None) -> None:  # noqa: FBT002  a flag of the command line
    """Look at the public counter once, as the workers do every 15 minutes; exit 1 when it is bad."""
    verdict = with_services(config, lambda orrery: orrery.live.monitor.check())
    if as_json:
        show_json(asdict(verdict))
    else:
        _show(verdict)
    if verdict.reason:
        raise typer.Exit(1)


def _show(verdict: Verdict) -> None:
    """Print the verdict, then what was done about it."""
    console = new_console()
    console.print(f"[red]bad[/red]: {marked(verdict.reason.text)}" if verdict.reason else "[green]good[/green]")
    for sentence in _deeds(verdict):
        console.print(sentence, markup=False)


def _deeds(verdict: Verdict) -> list[str]:
    if not verdict.counted:
        return ["Not counted: another check counted less than a minute ago. Nothing was done."]
    bad = verdict.bad_in_a_row > 0
    sentences = [f"{verdict.bad_in_a_row if bad else verdict.good_in_a_row} {'bad' if bad else 'good'} in a row."]
    if verdict.degraded_since:
        sentences.append(f"Degraded since {verdict.degraded_since:%Y-%m-%d %H:%M} UTC.")
    where = f" {verdict.issue.id} {verdict.issue.url}".rstrip() if verdict.issue else ""
    sentences += [f"Issue{where}: {done}." for done in verdict.done]
    if verdict.trouble:
        sentences.append(f"{verdict.trouble} The next check tries again.")
    return sentences
