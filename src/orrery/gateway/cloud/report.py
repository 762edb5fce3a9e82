"""The report of the cloud to the site, which holds no credential of the cloud; pure."""

from collections.abc import Mapping, Sequence
from typing import Literal

from orrery.gateway.cloud.plan import current_webhook
from orrery.gateway.cloud.survey import ALERTS, Activity, Survey
from orrery.gateway.cloud.wanted import WantedResources
from orrery.ports.cloud import Alert, RunbookJob
from orrery.ports.cloud.errors import CloudError
from orrery.ports.health import Finding

MOST_JOBS = 10
MOST_TROUBLES = 10

LONGEST_TROUBLE = 300
"""Characters of a trouble's sentence."""

LastOutage = Mapping[str, str | None]
"""`began_at`, `ended_at` and `ended_by`, as the site takes them."""

_REPORTED_ELSEWHERE = frozenset({"machine", "health", "service", "jobs", "webhook"})
"""The findings that the site makes itself, from the report's other fields and from the pings."""


def report(
    found: Survey,
    wanted: WantedResources,
    activity: Activity,
    findings: Sequence[Finding],
    outage: Mapping[str, str | None] | None,
) -> dict[str, object]:
    """Return the body of the request; no address and no id of a resource is in it.

    `outage` is the last one of the machine. What is not known is named in `unknown`. The end of a webhook that is
    not known is left out: null means none.
    """
    gaps = [*found.gaps, *activity.gaps]
    machine = None if isinstance(found.machine, CloudError) else found.machine
    jobs = list[RunbookJob]() if isinstance(activity.jobs, CloudError) else activity.jobs
    return {
        "report": {
            "power": machine.power if machine else "unknown",
            "health": "Unknown" if isinstance(activity.health, CloudError) else activity.health or "Unknown",
            **_expiry(found, wanted),
            "alerts": {kind: alert_state(found.alerts[kind]) for kind in ALERTS},
            "jobs": [_job(job) for job in jobs[:MOST_JOBS]],
            "last_outage": outage,
            "troubles": _troubles(findings),
            "unknown": [{"part": gap.part, "state": gap.state} for gap in gaps],
        }
    }


def _expiry(found: Survey, wanted: WantedResources) -> dict[str, str | None]:
    try:
        webhook = current_webhook(found, wanted)
    except CloudError:
        return {}
    return {"webhook_expires_at": webhook.expires_at.isoformat() if webhook else None}


def _troubles(findings: Sequence[Finding]) -> list[str]:
    """Return the sentences of what is broken; what is not known has its own field."""
    return [
        f"{one.part}: {one.why}"[:LONGEST_TROUBLE]
        for one in findings
        if one.state == "broken" and one.part not in _REPORTED_ELSEWHERE and not one.early
    ][:MOST_TROUBLES]


def alert_state(alert: Alert | CloudError | None) -> Literal["on", "off", "missing", "unknown"]:
    """Return whether an alert is there, and enabled."""
    if isinstance(alert, CloudError):
        return "unknown"
    if alert is None:
        return "missing"
    return "on" if alert.enabled else "off"


def _job(job: RunbookJob) -> dict[str, str | None]:
    return {
        "id": job.id,
        "status": job.status or "Unknown",
        "started_at": (job.started_at or job.created_at).isoformat(),
        "ended_at": job.ended_at.isoformat() if job.ended_at else None,
    }
