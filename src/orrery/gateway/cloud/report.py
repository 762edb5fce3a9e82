"""The report of the cloud to the site, which holds no credential of the cloud; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from orrery.gateway.cloud.plan import current_webhook
from orrery.gateway.cloud.survey import ALERTS, Survey
from orrery.gateway.cloud.wanted import Wanted
from orrery.ports.cloud import Alert, Job
from orrery.ports.health import Finding

MOST_JOBS = 10
MOST_TROUBLES = 10

LONGEST_TROUBLE = 300
"""Characters of a trouble's sentence."""

_TOLD_OTHERWISE = frozenset({"machine", "health", "service", "jobs", "webhook"})
"""The findings that the site makes itself, from the report's other fields and from the pings."""


@dataclass(frozen=True, slots=True)
class LastOutage:
    """The last outage of the machine, and the layer that ended it."""

    began_at: datetime
    ended_at: datetime | None
    ended_by: str


def report(
    found: Survey, wanted: Wanted, jobs: Sequence[Job], findings: Sequence[Finding], outage: LastOutage | None
) -> dict[str, object]:
    """Return the body of the request; no address and no id of a resource is in it."""
    webhook = current_webhook(found, wanted)
    machine = found.machine
    return {
        "report": {
            "power": machine.power if machine else "unknown",
            "health": machine.health if machine else "Unknown",
            "webhook_expires_at": webhook.expires_at.isoformat() if webhook else None,
            "alerts": {kind: alert_state(found.alerts[kind]) for kind in ALERTS},
            "jobs": [_job(job) for job in jobs[:MOST_JOBS]],
            "last_outage": _outage(outage) if outage else None,
            "troubles": [
                f"{one.part}: {one.why}"[:LONGEST_TROUBLE]
                for one in findings
                if one.state == "broken" and one.part not in _TOLD_OTHERWISE
            ][:MOST_TROUBLES],
        }
    }


def alert_state(alert: Alert | None) -> Literal["on", "off", "missing"]:
    """Return whether an alert is there, and enabled."""
    if alert is None:
        return "missing"
    return "on" if alert.enabled else "off"


def _outage(outage: LastOutage) -> dict[str, str | None]:
    return {
        "began_at": outage.began_at.isoformat(),
        "ended_at": outage.ended_at.isoformat() if outage.ended_at else None,
        "ended_by": outage.ended_by,
    }


def _job(job: Job) -> dict[str, str | None]:
    return {
        "id": job.id,
        "status": job.status or "Unknown",
        "started_at": (job.started_at or job.created_at).isoformat(),
        "ended_at": job.ended_at.isoformat() if job.ended_at else None,
    }
