"""The last outage, and the report that the demo's cloud sends to the site."""

from typing import NoReturn

import httpx2

from orrery.ports.clock import Clock
from orrery.sandbox.cloud import jobs
from orrery.sandbox.cloud.machine import state_of
from orrery.sandbox.cloud.resources import Cloud, timestamp
from orrery.sandbox.ground import TIMEOUT, Document, Service, is_taken
from orrery.trust import WELL_KNOWN, Trust

_BEGINS = frozenset({"shutdown", "deallocate"})
WEBHOOKS = "Microsoft.Automation/automationAccounts/webhooks"


def last_outage(cloud: Cloud) -> Document | None:
    """Return when the last outage began and ended, and what ended it; None when there was none."""
    events = cloud.events()
    first = next((one for one in reversed(events) if one["kind"] in _BEGINS), None)
    if first is None:
        return None
    followed = [one for one in events if one["at"] >= first["at"]]
    end = next((one for one in followed if one["kind"] == "power" and one["details"]["power"] == "running"), None)
    by = next((one["details"]["by"] for one in followed if one["kind"] == "start"), "")
    layer = "layer 1" if by == "runbook" else "by hand"
    return {
        "began_at": timestamp(first["at"]),
        "ended_at": timestamp(end["at"]) if end else None,
        "ended_by": layer if end else "",
    }


EVERY = 5.0
"""Seconds between two looks; a real report is sent each hour."""

AT_LEAST_EVERY = 12
"""Looks after which a report is sent although nothing has changed."""

_MOST_JOBS = 10
_ALERTS = {"health": "gateway-unavailable", "deallocate": "gateway-deallocated"}


async def report_for_ever(cloud: Cloud, service: Service, clock: Clock, trust: Trust = WELL_KNOWN) -> NoReturn:
    """Send a report whenever something has changed, until cancelled."""
    sent, looks = Document(), 0
    async with httpx2.AsyncClient(timeout=TIMEOUT, trust_env=False, verify=trust.web) as client:
        while True:
            found = report(cloud)
            if found != sent or looks >= AT_LEAST_EVERY:
                sent, looks = (found if is_taken(await service.take(client, found)) else Document()), 0
            looks += 1
            await clock.sleep(EVERY)


def report(cloud: Cloud) -> Document:
    """Return what `orrery gateway cloud report` would send."""
    state = state_of(cloud)
    ends = [one["properties"]["expiryTime"] for one in of_type(cloud, WEBHOOKS)]
    alerts = {
        one["name"]: one["properties"]["enabled"] for one in of_type(cloud, "Microsoft.Insights/activityLog")
    }
    return {
        "report": {
            "power": state["power"],
            "health": state["health"],
            "webhook_expires_at": max(ends, default=None),
            "alerts": {kind: _STATES[alerts.get(name)] for kind, name in _ALERTS.items()},
            "jobs": [_job(one["body"]["properties"]) for one in jobs.all_jobs(cloud)[:_MOST_JOBS]],
            "last_outage": last_outage(cloud),
            "troubles": [],
        }
    }


_STATES = {None: "missing", True: "on", False: "off"}


def of_type(cloud: Cloud, kind: str) -> list[Document]:
    return [one["body"] for one in cloud.below(cloud.config.group_id, kind)]


def _job(properties: Document) -> Document:
    return {
        "id": properties["jobId"],
        "status": properties["status"],
        "started_at": properties["startTime"] or properties["creationTime"],
        "ended_at": properties["endTime"],
    }
