"""`orrery gateway cloud`: the layer that starts the gateway's machine (spec 3, Cloud resources).

In what `--help` prints, a line with \\b keeps the lines of the paragraph after it as they are.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from orrery.errors import CloudError
from orrery.gateway.cli.ping_file import read_ping_file
from orrery.gateway.cloud.findings import FREE_CALLS, FREE_MINUTES, GuestSaid, findings
from orrery.gateway.cloud.pause import pause_text
from orrery.gateway.cloud.plan import Plan, current_webhook, planned
from orrery.gateway.cloud.provision import Provisioning
from orrery.gateway.cloud.report import MOST_JOBS, LastOutage, alert_state
from orrery.gateway.cloud.report import report as report_of
from orrery.gateway.cloud.runbook import rendered
from orrery.gateway.cloud.settings import CloudSettings
from orrery.gateway.cloud.survey import Survey, last_jobs, with_reasons
from orrery.gateway.cloud.wanted import Wanted
from orrery.gateway.timeline.cloud_events import job_events, machine_events
from orrery.gateway.timeline.outages import outages
from orrery.ports.clock import Clock
from orrery.ports.cloud import Cloud, Job, Kind, WebhookUri
from orrery.ports.health import Finding
from orrery.ports.site_reports import SiteReports
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

_JOB_COLUMNS = ("job", "status", "started", "seconds", "said")

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
    wanted: Wanted

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
    wanted = Wanted(
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
    """Show what `apply` would change, and change nothing; exit 1 when that is something.

    \b
    orrery gateway cloud plan
    orrery gateway cloud plan --json
    """
    use = _connected(runner)
    plan = planned(use.provisioning.survey(), use.wanted, use.text)
    _show_plan(plan, as_json=as_json)
    if not plan.is_empty:
        raise typer.Exit(1)


def _show_plan(plan: Plan, *, as_json: bool) -> None:
    if as_json:
        troubles = [asdict(one) for one in plan.troubles]
        show_json({"changes": [asdict(change) for change in plan.changes], "troubles": troubles})
        return
    rows = [
        {"resource": change.kind, "name": change.name, "action": change.action, "why": " ".join(change.why)}
        for change in plan.changes
    ]
    show(rows, ("resource", "name", "action", "why"), as_json=False, empty="")
    for trouble in plan.troubles:
        note(str(trouble))


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
    """Replace the webhook by a new one that lasts a year; the old one works until the new one is proven.

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
        note(f"The test job said, after {tested.seconds:.0f} s: {tested.output}")
    else:
        note(f"The test job ended as {tested.status}: {tested.output}")
    if not tested.succeeded:
        raise typer.Exit(1)


@group.command()
def status(runner: Handed, *, jobs: Last = 5, as_json: AsJson = False) -> None:
    """Show the machine, the alerts, the webhook's end, the last jobs and what the month has used.

    \b
    orrery gateway cloud status
    orrery gateway cloud status --jobs 20 --json
    """
    use = _connected(runner)
    found, minutes = use.provisioning.survey(), use.cloud.minutes_used()
    listed = use.cloud.jobs(_MONTHS_JOBS)
    shown_jobs = with_reasons(use.cloud, listed[:jobs])
    webhook, machine = current_webhook(found, use.wanted), found.machine
    calls = sum(job.created_at >= _month(found.at) for job in listed)
    shown = {
        "power": machine.power if machine else "there is no such machine",
        "health": machine.health if machine else "",
        "paused_until": (machine.pause if machine else "") or None,
        "health_alert": alert_state(found.alerts["health"]),
        "deallocate_alert": alert_state(found.alerts["deallocate"]),
        "webhook_expires_at": webhook.expires_at if webhook else None,
        "job_minutes": minutes,
        "free_job_minutes": FREE_MINUTES,
        "webhook_calls": calls,
        "free_webhook_calls": FREE_CALLS,
    }
    if as_json:
        show_json({**shown, "jobs": [asdict(job) for job in shown_jobs]})
        return
    show(_status_rows(shown), ("what", "now"), as_json=False, empty="")
    show(map(_job_row, shown_jobs), _JOB_COLUMNS, as_json=False, empty="No job of the runbook yet.")


def _status_rows(shown: Mapping[str, object]) -> list[dict[str, object]]:
    minutes = shown["job_minutes"]
    used = "unknown" if minutes is None else f"{minutes:.0f}"
    return [
        {"what": "power", "now": shown["power"]},
        {"what": "health", "now": shown["health"]},
        {"what": "restart paused until", "now": shown["paused_until"]},
        {"what": "health alert", "now": shown["health_alert"]},
        {"what": "deallocate alert", "now": shown["deallocate_alert"]},
        {"what": "webhook expires", "now": shown["webhook_expires_at"]},
        {"what": "job-minutes this month", "now": f"{used} of {FREE_MINUTES} free ones"},
        {"what": "webhook calls this month", "now": f"{shown['webhook_calls']} of {FREE_CALLS:,} free ones"},
    ]


def _month(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def _job_row(job: Job) -> dict[str, object]:
    seconds = (job.ended_at - job.started_at).total_seconds() if job.started_at and job.ended_at else None
    return {
        "job": job.id,
        "status": job.status,
        "started": job.started_at or job.created_at,
        "seconds": None if seconds is None else round(seconds),
        "said": job.exception or None,
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
    guest = read_ping_file(pings).guest(use.clock.now()) if pings else None
    show_findings(_examined(use, guest).findings, as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Examination:
    """What was found in the cloud, and what that means."""

    found: Survey
    jobs: Sequence[Job]
    findings: Sequence[Finding]


def _examined(use: _Connected, guest: GuestSaid | None = None) -> _Examination:
    found, jobs = use.provisioning.survey(), last_jobs(use.cloud, MOST_JOBS)
    said = findings(found, use.wanted, use.text, jobs, use.cloud.minutes_used(), guest)
    return _Examination(found, jobs, said)


@group.command()
def report(runner: Handed, *, as_json: AsJson = False) -> None:
    """Send the webhook's end, the alerts and the last jobs to the site, which pushes what is wrong.

    \b
    orrery gateway cloud report
    """
    use = _connected(runner)
    seen = _examined(use)
    outage = _last_outage(use.cloud, seen.jobs, seen.found.at)
    body = report_of(seen.found, use.wanted, seen.jobs, seen.findings, outage)
    runner.port(SiteReports).send(body)
    if as_json:
        show_json(body)
    elif sys.stdout.isatty():
        note("The site has the report.")


def _last_outage(cloud: Cloud, jobs: Sequence[Job], now: datetime) -> LastOutage | None:
    found = outages([*machine_events(cloud.events(now - _LOOKED_BACK, now)), *job_events(jobs)])
    return LastOutage(found[-1].began_at, found[-1].ended_at, ", ".join(found[-1].layers)) if found else None


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
    _say(f"Nothing starts the machine until {until}.", {"paused_until": until}, as_json=as_json)


@group.command()
def resume(runner: Handed, *, as_json: AsJson = False) -> None:
    """End the pause at once. A machine that is down stays so until the next alert: start it by `gateway start`.

    \b
    orrery gateway cloud resume
    """
    use = _connected(runner)
    use.cloud.tag_pause("")
    _say("The pause has ended.", {"paused_until": None}, as_json=as_json)


def _say(sentence: str, document: dict[str, object], *, as_json: bool) -> None:
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
    if not yes and not typer.confirm(f"Delete {', '.join(name for _, name in doomed)}?", err=True):
        raise typer.Exit(1)
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
