"""What is wrong in the cloud, with its cause and its fix (spec 3, Errors); pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from orrery.errors import Invalid
from orrery.gateway.causes import WEBHOOK_WARNED_BEFORE, Ping, diagnosis
from orrery.gateway.cloud.plan import PARTS, ResourceChange, RunbookText, current_webhook, planned
from orrery.gateway.cloud.survey import Activity, Survey, known
from orrery.gateway.cloud.wanted import WantedResources
from orrery.ports.cloud import Alert, Kind, RunbookJob, Webhook
from orrery.ports.cloud.errors import CloudError
from orrery.ports.health import Finding

FREE_MINUTES = 500
"""Job-minutes a month that cost nothing (spec 3, Limits)."""

FREE_CALLS = 100_000
"""Calls of webhooks a month that cost nothing (spec 3, Limits)."""

APPLY = "Type `orrery gateway cloud apply`."
ROTATE = "Type `orrery gateway cloud rotate-webhook`."

_EFFECTS: dict[Kind, str] = {
    "identity": "The identity is deleted: a start is refused (Forbidden).",
    "account": "There is no automation account: no alert starts the machine.",
    "role": "The identity has no role on the machine: a start is refused (Forbidden).",
    "runbook": "There is no runbook: no alert starts the machine.",
    "webhook": "There is no webhook that the action group calls: alerts may fire, and the runbook does not.",
    "action-group": "There is no action group: an alert has no effect.",
    "health": "There is no alert on the machine's health: a shutdown is not noticed.",
    "deallocate": (
        "There is no alert on the deallocation of the machine: when its health is Unknown instead of Unavailable, "
        "a shutdown is not noticed."
    ),
}


@dataclass(frozen=True, slots=True)
class GuestReport:
    """The last ping of the guest, and for how long its trouble has lasted."""

    ping: Ping
    lasts: timedelta = timedelta(0)


def findings(
    found: Survey,
    wanted: WantedResources,
    text: RunbookText,
    activity: Activity,
    guest: GuestReport | Invalid | None = None,
) -> list[Finding]:
    """Return a finding for the machine, each resource, the jobs, and the service by the guest's ping.

    A part that is not known is broken, with what is needed to know it.
    """
    if isinstance(found.machine, CloudError) and found.machine is found.identity:  # no sign-in works
        return [_not_known("cloud", found.machine.why, found.machine.todo), _service(guest)]
    plan = planned(found, wanted, text)
    return [
        *(_not_known(one.part, one.error.why, one.error.todo) for one in activity.gaps),
        *_judged("machine", lambda: _machine(found, activity)),
        *(_resource(change) for change in plan.changes if change.kind != "webhook"),
        *_judged("webhook", lambda: _webhook(found, wanted, plan.changes)),
        *(_broken(one.part, one.why, one.todo) for one in plan.troubles),
        *([] if isinstance(activity.jobs, CloudError) else [_jobs(activity.jobs)]),
        *([] if isinstance(activity.minutes, CloudError) else _minutes(activity.minutes)),
        _service(guest),
    ]


def _judged(part: str, judge: Callable[[], Iterable[Finding]]) -> list[Finding]:
    try:
        return list(judge())
    except CloudError as error:
        return [_not_known(part, error.why, error.todo)]


def _ok(part: str, why: str) -> Finding:
    return Finding(part, "ok", why, essential=False)


def _broken(part: str, why: str, todo: str) -> Finding:
    return Finding(part, "broken", why, todo, essential=False)


def _not_known(part: str, why: str, todo: str) -> Finding:
    """Return a finding that is no trouble of a report, which lists what is not known by itself."""
    return Finding(part, "broken", why, todo, essential=False, early=True)


def _machine(found: Survey, activity: Activity) -> Iterator[Finding]:
    machine, health = known(found.machine), activity.health or "Unknown"
    if machine is None:
        return  # a trouble of the plan
    state = f"The machine is {machine.power}."
    if not isinstance(health, CloudError):
        state = f"The machine is {machine.power}; its health is {health}."
    if machine.power == "running":
        yield _ok("machine", state)
    elif machine.pause:
        yield _ok("machine", f"{state} Its restart is paused until {machine.pause}.")
    else:
        why = "The alert comes 1 to 5 minutes after a shutdown, the start takes 1 to 2 minutes."
        yield _broken("machine", state, f"{why} If nothing happens, type `orrery gateway start`.")
    if machine.power != "running" and health == "Unknown":
        why = "The health is Unknown instead of Unavailable: the health alert never fires."
        deallocate = found.alerts["deallocate"]
        on = isinstance(deallocate, Alert) and deallocate.enabled
        net = "The deallocate alert acts once the machine is deallocated." if on else APPLY
        yield _broken("health", why, f"{net} To start it now, type `orrery gateway start`.")


def _resource(change: ResourceChange) -> Finding:
    part = PARTS[change.kind]
    if change.action == "keep":
        return _ok(part, f"{change.name} is as it should be.")
    if change.action == "create":
        return _broken(part, _EFFECTS[change.kind], APPLY)
    if change.action == "unknown":
        return _not_known(part, " ".join(change.why), change.todo)
    return _broken(part, f"{change.name}: {' '.join(change.why)}", APPLY)


def _webhook(found: Survey, wanted: WantedResources, changes: Sequence[ResourceChange]) -> Iterator[Finding]:
    current = current_webhook(found, wanted)
    for change in changes:
        if change.kind != "webhook":
            continue
        if change.action == "delete":
            yield _broken("webhook", f"The webhook {change.name} is left behind. {' '.join(change.why)}", APPLY)
        elif current is None:
            yield _broken("webhook", _EFFECTS["webhook"], APPLY)
        elif change.name != current.name:
            yield _ok("webhook", f"The old webhook {change.name} stays for a while. {' '.join(change.why)}")
        elif change.action == "replace":
            yield _broken("webhook", f"{' '.join(change.why)} Alerts fire, and the runbook does not.", ROTATE)
        else:
            yield _expiry(current, found.at)


def _expiry(current: Webhook, now: datetime) -> Finding:
    why = f"The webhook expires on {current.expires_at:%Y-%m-%d}, in {(current.expires_at - now).days} days."
    if current.expires_at - now <= WEBHOOK_WARNED_BEFORE:
        return _broken("webhook", f"{why} After that no alert starts the machine.", ROTATE)
    return _ok("webhook", why)


def _jobs(jobs: Sequence[RunbookJob]) -> Finding:
    last = next((job for job in jobs if job.has_ended), None)
    if last is None:
        return _ok("jobs", "No job of the runbook has ended yet.")
    at = f"{last.created_at:%Y-%m-%d %H:%M} UTC"
    if last.status == "Completed":
        return _ok("jobs", f"The last job, of {at}, completed.")
    why = f"The last job, of {at}, ended as {last.status}."
    if last.exception:
        # The runbook's own sentence ends with what to do.
        return _broken("jobs", why, last.exception)
    return _broken("jobs", why, "Look at its output in the cloud's portal; if the machine is down, start it.")


def _minutes(minutes: float | None) -> Iterator[Finding]:
    if minutes is None:
        return
    why = f"{minutes:.0f} of {FREE_MINUTES} free job-minutes are used this month."
    if minutes > FREE_MINUTES:
        yield _broken("job-minutes", why, "The others are charged: see which jobs run long in `cloud status`.")
    else:
        yield _ok("job-minutes", why)


def _service(guest: GuestReport | Invalid | None) -> Finding:
    todo = "Type `orrery gateway pings --json > pings.json` on the site's host, and give it by --pings."
    if guest is None:
        return Finding("service", "off", "Unknown: no ping of the guest was given.", todo, essential=False)
    if isinstance(guest, Invalid):
        return _broken("service", f"Unknown: {guest}", todo)
    found = diagnosis(guest.ping, guest.lasts)
    if found.cause:
        return _broken("service", found.cause, found.fix)
    return _ok("service", f"By the guest's last ping the service is {guest.ping.state}.")
