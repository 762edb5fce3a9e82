"""The last outage as the page shows it, and the report that the demo's cloud sends to the site."""

from typing import NoReturn

import httpx2

from orrery.ports.clock import Clock
from orrery.sandbox.cloud import jobs
from orrery.sandbox.cloud.machine import state_of
from orrery.sandbox.cloud.resources import Cloud, seconds_of, timestamp
from orrery.sandbox.ground import TAKEN, TIMEOUT, Document, Service
from orrery.trust import WELL_KNOWN, Trust

_BEGINS = frozenset({"shutdown", "deallocate"})


def shown(cloud: Cloud) -> Document:
    """Return what the page shows: the machine, its webhooks, the events of the last outage, what happens next."""
    events, now = cloud.events(), cloud.now().at
    first = next((one for one in reversed(events) if one["kind"] in _BEGINS), {"cause": None})
    webhooks = _of_type(cloud, "automationAccounts/webhooks")
    return {
        **state_of(cloud),
        "factor": cloud.config.factor,
        "name": cloud.config.machine,
        "webhooks": [(one["name"], seconds_of(one["properties"]["expiryTime"]) <= now) for one in webhooks],
        "events": [one for one in events if one["cause"] == first["cause"]],
        "next": cloud.next_kind(),
    }


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
                sent, looks = (found if await service.take(client, found) == TAKEN else Document()), 0
            looks += 1
            await clock.sleep(EVERY)


def report(cloud: Cloud) -> Document:
    """Return what `orrery gateway cloud report` would send."""
    state = state_of(cloud)
    ends = [seconds_of(one["properties"]["expiryTime"]) for one in _of_type(cloud, "automationAccounts/webhooks")]
    alerts = {one["name"]: one["properties"]["enabled"] for one in _of_type(cloud, "activityLogAlerts")}
    return {
        "report": {
            "power": state["power"],
            "health": state["health"],
            "webhook_expires_at": timestamp(max(ends)) if ends else None,
            "alerts": {kind: _state(alerts.get(name)) for kind, name in _ALERTS.items()},
            "jobs": [_job(one["body"]["properties"]) for one in jobs.all_jobs(cloud)[:_MOST_JOBS]],
            "last_outage": last_outage(cloud),
            "troubles": [],
        }
    }


def _of_type(cloud: Cloud, kind: str) -> list[Document]:
    provider = "Microsoft.Insights" if kind == "activityLogAlerts" else "Microsoft.Automation"
    return [one["body"] for one in cloud.below(cloud.config.group_id, f"{provider}/{kind}")]


def _state(enabled: bool | None) -> str:  # noqa: FBT001  a field of the vendor's
    if enabled is None:
        return "missing"
    return "on" if enabled else "off"


def _job(properties: Document) -> Document:
    return {
        "id": properties["jobId"],
        "status": properties["status"],
        "started_at": properties["startTime"] or properties["creationTime"],
        "ended_at": properties["endTime"],
    }
