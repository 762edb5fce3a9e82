"""`orrery gateway timeline`: each outage as one story."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from orrery.errors import Invalid, NotFound
from orrery.gateway.cli.gaps import note_gaps
from orrery.gateway.cli.pictures import write_picture
from orrery.gateway.cli.ping_file import read_ping_file, text_of
from orrery.gateway.cloud.asking import Asking, with_reasons
from orrery.gateway.cloud.settings import CloudSettings
from orrery.gateway.cloud.survey import gaps_of
from orrery.gateway.guest.unit_name import UnitName, unit_name
from orrery.gateway.timeline.cloud_events import job_events, machine_events
from orrery.gateway.timeline.events import TimelineEvent
from orrery.gateway.timeline.journal import read_journal
from orrery.gateway.timeline.outages import GatewayOutage, outages, steps
from orrery.gateway.timeline.picture import clock, lanes, svg
from orrery.gateway.timeline.pings import ping_events
from orrery.ports.clock import Clock
from orrery.ports.cloud import Cloud
from orrery.ports.cloud.errors import CloudError
from orrery.ports.journals import Journals
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Runner
from orrery.runtime.console.tables import note, show, show_json
from orrery.runtime.console.terminal import new_console, visible
from orrery.runtime.console.windows import parse_window

MOST_JOBS = 20
"""How many of the last jobs are asked for with their reasons: a week has about that many."""

_PICTURE = 60
"""Characters."""

_COLUMNS = ("outage", "began", "lasted", "ended_by")


Chosen = Annotated[
    str | None, typer.Option(help="Show this one: its id in the list, or `last`.", show_default=False)
]
Since = Annotated[str, typer.Option(help="How far back: 12h, 7d.", metavar="<duration>")]
PingsFile = Annotated[
    Path | None, typer.Option(help="What `orrery gateway pings --json` printed.", show_default=False)
]
JournalFile = Annotated[
    Path | None, typer.Option(help="What `journalctl -o json` printed on the machine.", show_default=False)
]
Ssh = Annotated[
    str | None, typer.Option(help="The machine, to read its journal from over ssh.", show_default=False)
]
Unit = Annotated[str, typer.Option(help="The gateway's unit, for the journal.")]
Picture = Annotated[
    Path | None, typer.Option("--svg", help="Write a picture of the outage to this file.", show_default=False)
]


def command(  # noqa: PLR0913  each is an option of the command line
    runner: Handed,
    *,
    outage: Chosen = None,
    since: Since = "7d",
    pings: PingsFile = None,
    journal: JournalFile = None,
    ssh: Ssh = None,
    unit: Unit = "gateway.service",
    picture: Picture = None,
    as_json: AsJson = False,
) -> None:
    """List the outages, or show one: what happened when, which layer ended it, and how long each step took.

    The cloud's activity log and jobs are always asked. The service shows in a journal, pings and pushes in what
    the site's host printed; `-` reads either from the standard input.

    \b
    orrery gateway timeline --since 30d
    orrery gateway timeline --pings pings.json --ssh gateway.example.org --outage last
    orrery gateway timeline --pings pings.json --outage last --svg outage.svg
    """
    runner.section(CloudSettings).require()
    name = unit_name(unit)
    now = runner.port(Clock).now()
    begin = now - parse_window(since)
    asking, cloud = Asking(runner.port(Cloud), runner.port(Clock)), runner.port(Cloud)
    log = asking.part(lambda: list(machine_events(cloud.events(begin, now))))
    jobs = asking.part(lambda: with_reasons(cloud, cloud.jobs(MOST_JOBS)))
    found = outages(
        [
            *([] if isinstance(log, CloudError) else log),
            *([] if isinstance(jobs, CloudError) else job_events(job for job in jobs if job.created_at >= begin)),
            *(_of_the_pings(pings, begin) if pings else ()),
            *_of_the_service(_journal_lines(runner, journal, ssh, name, begin, now), name, begin),
        ]
    )
    gaps = gaps_of({"activity log": log, "jobs": jobs})
    note_gaps(gaps)
    if outage is None and picture is None:
        _show_list(found, f"No outage in {since}{' is known' if gaps else ''}.", as_json=as_json)
    else:
        _print_story(_chosen(found, outage or "last"), picture, as_json=as_json)
    end_broken(when=gaps)


def _print_story(one: GatewayOutage, picture: Path | None, *, as_json: bool) -> None:
    if picture:
        write_picture(picture, svg(one))
    if as_json:
        show_json(_document(one))
    else:
        _show(one)


def _of_the_pings(file: Path, begin: datetime) -> Iterator[TimelineEvent]:
    return (event for event in ping_events(read_ping_file(file)) if event.at >= begin)


def _journal_lines(
    runner: Runner, journal: Path | None, ssh: str | None, unit: UnitName, begin: datetime, now: datetime
) -> list[str]:
    if journal and ssh:
        raise Invalid("Give the journal by --journal or by --ssh, not by both.")
    if ssh:
        return runner.port(Journals).read(ssh, unit.unit, unit.recover_tag, begin, now)
    return text_of(journal).splitlines() if journal else []


def _of_the_service(lines: Sequence[str], unit: UnitName, begin: datetime) -> Iterator[TimelineEvent]:
    found = read_journal(lines, unit.unit, unit.recover_tag)
    if found.unreadable:
        note(f"{found.unreadable} lines of the journal cannot be read, and are left out.")
    return (event for event in found.events if event.at >= begin)


def _chosen(found: Sequence[GatewayOutage], wanted: str) -> GatewayOutage:
    if not found:
        raise NotFound("There was no outage in that time.")
    if wanted == "last":
        return found[-1]
    for one in found:
        if one.id == wanted:
            return one
    raise NotFound(f"There is no outage {wanted}: the list has {', '.join(one.id for one in found[-3:])}.")


def _lasted(one: GatewayOutage) -> str:
    return "still" if one.seconds is None else clock(timedelta(seconds=one.seconds)).removeprefix("+")


def _show_list(found: Sequence[GatewayOutage], empty: str, *, as_json: bool) -> None:
    if as_json:
        show_json([_document(one) for one in found])
        return
    rows = [
        {
            "outage": one.id,
            "began": one.began_at,
            "lasted": _lasted(one),
            "ended_by": ", ".join(one.layers) or None,
        }
        for one in found
    ]
    show(rows, _COLUMNS, as_json=False, empty=empty)


def _document(one: GatewayOutage) -> dict[str, object]:
    return {
        "id": one.id,
        "began_at": one.began_at,
        "ended_at": one.ended_at,
        "seconds": one.seconds,
        "layers": one.layers,
        "events": [
            {**asdict(step.event), "after": step.after.total_seconds(), "took": step.took.total_seconds()}
            for step in steps(one)
        ],
    }


def _show(one: GatewayOutage) -> None:
    console = new_console()
    by = f", ended by {' and '.join(one.layers)}" if one.layers else ""
    console.print(f"Outage {one.id}: {_lasted(one)}{by}", style="bold", markup=False)
    for name, cells in lanes(one, _PICTURE):
        console.print(f"{name:14}{cells}", markup=False)
    rows = [
        {
            "at": f"{step.event.at:%H:%M:%S}",
            "after": clock(step.after),
            "took": clock(step.took).removeprefix("+"),
            "what": visible(step.event.text),
        }
        for step in steps(one)
    ]
    show(rows, ("at", "after", "took", "what"), as_json=False, empty="")
