"""`orrery gateway cloud`: the layer that starts the gateway's machine (spec 3, Cloud resources).

In what `--help` prints, a line with \\b keeps the lines of the paragraph after it as they are.
"""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from orrery.errors import Invalid
from orrery.gateway.cli.gaps import end_with, note_gaps
from orrery.gateway.cli.ping_file import text_of
from orrery.gateway.cloud.asking import Asking, activity, survey
from orrery.gateway.cloud.findings import GuestReport, findings
from orrery.gateway.cloud.pause import pause_text
from orrery.gateway.cloud.ping_file import read_pings
from orrery.gateway.cloud.plan import CloudPlan, planned
from orrery.gateway.cloud.provision import Provisioning
from orrery.gateway.cloud.report import MOST_JOBS
from orrery.gateway.cloud.report import report as report_of
from orrery.gateway.cloud.runbook import rendered
from orrery.gateway.cloud.settings import CloudSettings
from orrery.gateway.cloud.status import rows
from orrery.gateway.cloud.status import status as status_of
from orrery.gateway.cloud.survey import Activity, Survey
from orrery.gateway.cloud.wanted import WantedResources
from orrery.gateway.timeline.cloud_events import job_events, machine_events
from orrery.gateway.timeline.outages import outages
from orrery.ports.clock import Clock
from orrery.ports.cloud import Cloud, Kind, RunbookJob, WebhookUri
from orrery.ports.cloud.errors import CloudError
from orrery.ports.health import Finding
from orrery.ports.site_reports import SiteReports
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.findings import show_findings
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed, Runner
from orrery.runtime.console.tables import note, show, show_json
from orrery.runtime.console.windows import parse_window

group = typer.Typer(no_args_is_help=True)

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Last = Annotated[int, typer.Option("--jobs", help="How many jobs are shown.", min=1, max=100)]

_MONTHS_JOBS = 100
"""How many jobs are asked for to count this month's calls: 90 shutdowns a month are the usual."""

_LOOKED_BACK = timedelta(days=2)
"""How far back a report looks for the machine's last outage."""

_JOB_COLUMNS = ("job", "status", "started", "seconds", "reason")

_DESTROYED: tuple[tuple[Kind, str], ...] = (
    ("deallocate", "the deallocate alert"),
    ("health", "the health alert"),
    ("action-group", "the action group"),
    ("webhook", "the webhook"),
    ("runbook", "the runbook"),
    ("account", "the automation account"),
    ("role", "the role of the identity"),
    ("identity", "the identity"),
)
"""In the order of their deletion: what calls comes before what is called."""


@group.callback()
def cloud() -> None:
    """Make, watch and remove what starts the gateway's machine after a shutdown."""


@dataclass(frozen=True, slots=True)
class _Connected:
    """What a command works with."""

    cloud: Cloud
    uri: WebhookUri
    clock: Clock
    wanted: WantedResources

    @property
    def provisioning(self) -> Provisioning:
        return Provisioning(self.cloud, self.uri, self.clock, self.wanted, self.text, note, self.wait)

    def text(self, client_id: str) -> str:
        """Return the runbook for the identity with this client id."""
        return rendered(self.cloud.machine_id, client_id)

    def wait(self, seconds: float) -> None:
        asyncio.run(self.clock.sleep(seconds))


def _connected(runner: Runner) -> _Connected:
    settings = runner.section(CloudSettings)
    settings.require()
    wanted = WantedResources(
        settings.identity,
        settings.account,
        settings.runbook,
        settings.webhook,
        settings.action_group,
        {"health": settings.health_alert, "deallocate": settings.deallocate_alert},
        settings.email or "",
    )
    return _Connected(runner.port(Cloud), runner.port(WebhookUri), runner.port(Clock), wanted)


@group.command("plan")
def plan_command(runner: Handed, *, as_json: AsJson = False) -> None:
    """Show what `apply` would change, and change nothing; exit 1 when that is something, or a part is not known.

    \b
    orrery gateway cloud plan
    orrery gateway cloud plan --json
    """
    use = _connected(runner)
    plan = planned(use.provisioning.survey(), use.wanted, use.text)
    _show_plan(plan, as_json=as_json)
    end_broken(when=not plan.is_empty)


def _show_plan(plan: CloudPlan, *, as_json: bool) -> None:
    if as_json:
        troubles = [asdict(one) for one in plan.troubles]
        changes = [asdict(change) for change in plan.changes]
        show_json({"changes": changes, "troubles": troubles, "unknown": [gap.document for gap in plan.gaps]})
        return
    rows = [
        {
            "resource": change.kind,
            "name": change.name,
            "action": change.action,
            "why": "" if change.action == "unknown" else " ".join(change.why),
        }
        for change in plan.changes
    ]
    show(rows, ("resource", "name", "action", "why"), as_json=False, empty="")
    for trouble in plan.troubles:
        note(str(trouble))
    note_gaps(plan.gaps)


@group.command()
def apply(runner: Handed, *, as_json: AsJson = False) -> None:
    """Make what is missing, correct what differs, and prove it by a test job; exit 1 when that fails.

    Cut off at any step, it is completed by doing it again. The webhook's URI is kept in the folder of secrets.

    \b
    orrery gateway cloud plan
    orrery gateway cloud apply
    """
    _make(runner, rotate=False, as_json=as_json)


@group.command("rotate-webhook")
def rotate_webhook(runner: Handed, *, as_json: AsJson = False) -> None:
    """Replace the webhook by a new one that lasts a year; the old one works for half an hour more.

    The first `apply` after that deletes the old one.

    \b
    orrery gateway cloud rotate-webhook
    """
    _make(runner, rotate=True, as_json=as_json)


def _make(runner: Runner, *, rotate: bool, as_json: bool) -> None:
    provisioning = _connected(runner).provisioning
    try:
        tested = provisioning.make(rotate=rotate)
    except CloudError:
        note("It was cut off. What is listed above is done; typed again, the command goes on there.")
        raise
    if as_json:
        show_json(asdict(tested))
    elif tested.succeeded:
        note(f"The test job's output, after {tested.seconds:.0f} s: {tested.output}")
    else:
        note(f"The test job ended as {tested.status}: {tested.output}")
    end_broken(when=not tested.succeeded)


@group.command()
def status(runner: Handed, *, jobs: Last = 5, as_json: AsJson = False) -> None:
    """Show the machine, the alerts, the webhook's end, the last jobs and what the month has used.

    What is not known is named, with the reason; it exits with 1 then.

    \b
    orrery gateway cloud status
    orrery gateway cloud status --jobs 20 --json
    """
    use = _connected(runner)
    asking = Asking(use.cloud, use.clock)
    found, seen = survey(asking, use.uri.read()), activity(asking, _MONTHS_JOBS, jobs)
    gaps = [*found.gaps, *seen.gaps]
    shown, shown_jobs = (
        status_of(found, use.wanted, seen),
        None if isinstance(seen.jobs, CloudError) else seen.jobs[:jobs],
    )
    if as_json:
        values = {name: None if isinstance(value, CloudError) else value for name, value in shown.items()}
        listed = None if shown_jobs is None else [asdict(job) for job in shown_jobs]
        show_json({**values, "jobs": listed, "unknown": [gap.document for gap in gaps]})
    else:
        show(rows(shown), ("what", "now"), as_json=False, empty="")
        if shown_jobs is not None:
            show(map(_job_row, shown_jobs), _JOB_COLUMNS, as_json=False, empty="No job of the runbook yet.")
    end_with(gaps)


def _job_row(job: RunbookJob) -> dict[str, object]:
    seconds = (job.ended_at - job.started_at).total_seconds() if job.started_at and job.ended_at else None
    return {
        "job": job.id,
        "status": job.status,
        "started": job.started_at or job.created_at,
        "seconds": None if seconds is None else round(seconds),
        "reason": job.exception or None,
    }


@group.command()
def doctor(
    runner: Handed,
    *,
    pings: Annotated[
        Path | None, typer.Option(help="What `orrery gateway pings --json` printed.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look at each part of the layer: ok or broken, why, and what to do; exit 1 when something is broken.

    Whether the service works on a running machine is known by the guest's last ping alone.

    \b
    orrery gateway cloud doctor
    ssh shop.example.org orrery gateway pings --json > pings.json
    orrery gateway cloud doctor --pings pings.json
    """
    use = _connected(runner)
    guest = _guest(pings, use.clock.now()) if pings else None
    show_findings(_examined(use, guest)[-1], as_json=as_json)


def _guest(file: Path, now: datetime) -> GuestReport | Invalid | None:
    text = text_of(file)
    try:
        return read_pings(text).guest(now)
    except Invalid as error:
        return error


def _examined(
    use: _Connected, guest: GuestReport | Invalid | None = None, since: datetime | None = None
) -> tuple[Survey, Activity, list[Finding]]:
    """Return what was found in the cloud, what has happened there, and what that means."""
    asking = Asking(use.cloud, use.clock)
    found, seen = survey(asking, use.uri.read()), activity(asking, MOST_JOBS, MOST_JOBS, since)
    return found, seen, findings(found, use.wanted, use.text, seen, guest)


@group.command()
def report(runner: Handed, *, as_json: AsJson = False) -> None:
    """Send the webhook's end, the alerts and the last jobs to the site, which pushes what is wrong.

    What is not known is named in the report; the command exits with 1 then.

    \b
    orrery gateway cloud report
    """
    use = _connected(runner)
    found, seen, judged = _examined(use, since=use.clock.now() - _LOOKED_BACK)
    body = report_of(found, use.wanted, seen, judged, _last_outage(seen))
    runner.port(SiteReports).send(body)
    if as_json:
        show_json(body)
    elif sys.stdout.isatty():
        note("The site has the report.")
    end_with([*found.gaps, *seen.gaps])


def _last_outage(seen: Activity) -> dict[str, str | None] | None:
    if isinstance(seen.events, CloudError) or isinstance(seen.jobs, CloudError):
        return None
    if not (found := outages([*machine_events(seen.events), *job_events(seen.jobs)])):
        return None
    last = found[-1]
    ended_at = last.ended_at.isoformat() if last.ended_at else None
    return {"began_at": last.began_at.isoformat(), "ended_at": ended_at, "ended_by": ", ".join(last.layers)}


@group.command()
def pause(
    runner: Handed,
    *,
    lasts: Annotated[str, typer.Option("--for", help="How long, such as 2h or 30m.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Let the machine stay down for a while: nothing starts it until then. The pause ends by itself.

    \b
    orrery gateway cloud pause --for 2h
    """
    use = _connected(runner)
    until = pause_text(use.clock.now(), parse_window(lasts))
    use.cloud.tag_pause(until)
    _report(f"Nothing starts the machine until {until}.", {"paused_until": until}, as_json=as_json)


@group.command()
def resume(runner: Handed, *, as_json: AsJson = False) -> None:
    """End the pause at once. A machine that is down stays so until the next alert: start it by `gateway start`.

    \b
    orrery gateway cloud resume
    """
    use = _connected(runner)
    use.cloud.tag_pause("")
    _report("The pause has ended.", {"paused_until": None}, as_json=as_json)


def _report(sentence: str, document: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        show_json(document)
    else:
        note(sentence)


@group.command()
def destroy(runner: Handed, *, yes: Yes = False, as_json: AsJson = False) -> None:
    """Delete what `apply` made, and the URI that is kept here. The machine itself is not touched.

    \b
    orrery gateway cloud destroy
    """
    use = _connected(runner)
    others = use.cloud.other_runbooks() if use.cloud.account() else []
    kept = ["the machine", "the resource group"]
    if others:
        kept.append(f"the automation account {use.wanted.account}, which has other runbooks: {', '.join(others)}")
    note(f"Not touched: {'; '.join(kept)}.")
    doomed: list[tuple[Kind, str]] = [
        (kind, name) for kind, name in _DESTROYED if not (kind == "account" and others)
    ]
    end_broken(when=not yes and not typer.confirm(f"Delete {', '.join(name for _, name in doomed)}?", err=True))
    _delete(use, doomed, as_json=as_json)


def _delete(use: _Connected, doomed: Sequence[tuple[Kind, str]], *, as_json: bool) -> None:
    deleted: list[Kind] = []
    with use.uri.held():
        for kind, name in doomed:
            if use.cloud.delete(kind):
                deleted.append(kind)
                note(f"Deleted: {name}.")
            else:
                note(f"There was none: {name}.")
        use.uri.remove()
    if as_json:
        show_json({"deleted": deleted})
