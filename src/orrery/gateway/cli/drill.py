"""`orrery gateway drill`: breaks the gateway's service to see that it comes back."""

from collections.abc import Sequence
from typing import Annotated

import typer

from orrery.errors import Invalid
from orrery.gateway.guest.drill import Drill, kept_report, last_report, ready_drill
from orrery.gateway.guest.drill_report import FAULTS, Fault, Trial, compared
from orrery.gateway.guest.host import Host
from orrery.gateway.guest.installation import require_root
from orrery.gateway.guest.options import flag
from orrery.gateway.guest.unit_name import unit_name
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.tables import note, show

_COLUMNS = ("fault", "noticed", "answered", "last", "within", "result")

_WORDS: dict[Fault, str] = {
    "stop": "stopping it",
    "crash": "killing its processes",
    "exhaust": "using up its budget of starts",
    "hang": "freezing its processes",
}


def command(
    unit: Annotated[
        str, typer.Option("--unit", help="The gateway's unit, such as gateway.service.", show_default=False)
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="One fault of stop, crash, exhaust, hang; may be repeated.", metavar="<fault>", show_default=False
        ),
    ] = None,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Stop, crash, exhaust and hang the gateway's service, and measure how it comes back.

    The service is down for some seconds, several times. The report is kept beside those of earlier drills.
    Exit code 1: a fault was not recovered; the service was then restarted.

    \b
    sudo orrery gateway drill --unit gateway.service
    sudo orrery gateway drill --unit gateway.service --only stop --only crash --yes --json
    """
    host, name = Host(), unit_name(unit)
    require_root(host, "A drill")
    faults = _chosen(only)
    drill = ready_drill(host, name)
    asked = f"Break {name.unit} {len(faults)} times, by {', '.join(_WORDS[one] for one in faults)}?"
    end_broken(when=not yes and not typer.confirm(asked, err=True))
    last = last_report(host, name)
    report = kept_report(host, name, _run(drill, faults))
    if learnt := drill.learn(report.trials):
        note(f"Set: {flag(learnt.option)} {learnt.seconds}s, as {learnt.why}.")
    show(compared(report, last), _COLUMNS, as_json=as_json, empty="")
    end_broken(when=any(trial.failed for trial in report.trials))


def _chosen(only: Sequence[str] | None) -> list[Fault]:
    if unknown := set(only or ()) - set(FAULTS):
        raise Invalid(f"There is no fault {min(unknown)!r}: one of {', '.join(FAULTS)}.")
    return [fault for fault in FAULTS if not only or fault in only]


def _run(drill: Drill, faults: Sequence[Fault]) -> list[Trial]:
    """Make the faults, until one is not recovered."""
    done: list[Trial] = []
    with drill.restored():
        for number, fault in enumerate(faults, 1):
            note(f"{number} of {len(faults)}: {_WORDS[fault]} …")
            trial = drill.trial(fault)
            note(f"  {_shown(trial)}")
            done.append(trial)
            if trial.failed:
                break
    return done


def _shown(trial: Trial) -> str:
    if trial.skipped:
        return f"Skipped: {trial.skipped}."
    return "It did not recover." if trial.answered is None else f"It answered after {trial.answered:.1f} s."
