"""The last outage as the page shows it, and the report that the demo's cloud sends to the site."""

from typing import NoReturn

import httpx2

from orrery.ports.clock import Clock
from orrery.sandbox.cloud import jobs
from orrery.sandbox.cloud.machine import state_of
from orrery.sandbox.cloud.resources import Cloud, seconds_of, timestamp
from orrery.sandbox.ground import PING_TOKEN, Document, Service
from orrery.trust import WELL_KNOWN, Trust

_MINUTE = 60
_BEGINS = frozenset({"shutdown", "deallocate"})
_WORDS = {
    "shutdown": "The host shuts the machine down",
    "deallocate": "A policy deallocates the machine",
    "power": "The machine is {power}",
    "health": "Health is {health}",
    "alert": "The alert {name} fires",
    "webhook": "The webhook answers {status}",
    "mail": "An e-mail goes to {to}",
    "job": "The job is {status}",
    "start": "The machine is asked to start",
    "service": "The service answers",
}
_NEXT = {
    "off": "the machine is off",
    "unhealthy": "health changes",
    "alert": "an alert fires",
    "job": "the job goes on",
    "running": "the machine runs",
}
_TELLING = {"power": "power", "health": "health", "webhook": "status", "job": "status"}
_BAD = frozenset({"stopped", "deallocated", "Unavailable", "Unknown", "Failed", 400, 404})
_GOOD = frozenset({"running", "Available", "Completed", 202})


def shown(cloud: Cloud) -> Document:
    """Return what the page shows."""
    events = cloud.events()
    first = next((one for one in reversed(events) if one["kind"] in _BEGINS), None)
    followed = [one for one in events if first is not None and one["cause"] == first["cause"]]
    state = state_of(cloud)
    return {
        "factor": cloud.config.factor,
        "name": cloud.config.machine,
        "power": state["power"],
        "health": state["health"],
        "unknown": state["unknown"],
        "webhooks": _webhooks(cloud),
        "rows": [_row(one, followed[0]["at"]) for one in followed],
        "next": _NEXT.get(cloud.next_kind(), ""),
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


def _row(event: Document, began: float) -> Document:
    details: Document = event["details"]
    return {
        "at": event["at"],
        "after": _duration(event["after"]),
        "here": f"{event['at'] - began:.1f} s",
        "words": _WORDS[event["kind"]].format(**details),
        "more": details.get("text") or details.get("cause") or "",
        "look": _look(event["kind"], details),
    }


def _look(kind: str, details: Document) -> str:
    value = details.get(_TELLING.get(kind, ""))
    if value in _BAD:
        return "failed"
    return "succeeded" if value in _GOOD or kind == "service" else ""


def _webhooks(cloud: Cloud) -> list[Document]:
    kind = "Microsoft.Automation/automationAccounts/webhooks"
    found = [one["body"] for one in cloud.below(cloud.config.group_id, kind)]
    now = cloud.now().at
    return [
        {
            "name": one["name"],
            "until": seconds_of(one["properties"]["expiryTime"]),
            "expired": seconds_of(one["properties"]["expiryTime"]) <= now,
        }
        for one in found
    ]


def _duration(seconds: float) -> str:
    """Return seconds as people read them: 45 s, 2 min 6 s."""
    whole = round(seconds)
    minutes, rest = divmod(whole, _MINUTE)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


EVERY = 5.0
"""Seconds between two looks; a real report is sent each hour."""

AT_LEAST_EVERY = 12
"""Looks after which a report is sent although nothing has changed."""

TIMEOUT = 10.0

_MOST_JOBS = 10
_ALERTS = {"health": "gateway-unavailable", "deallocate": "gateway-deallocated"}


async def report_for_ever(cloud: Cloud, service: Service, clock: Clock, trust: Trust = WELL_KNOWN) -> NoReturn:
    """Send a report whenever something has changed, until cancelled."""
    sent, looks = Document(), 0
    async with httpx2.AsyncClient(timeout=TIMEOUT, trust_env=False, verify=trust.web) as client:
        while True:
            found = report(cloud)
            if found != sent or looks >= AT_LEAST_EVERY:
                sent, looks = (found if await _send(client, service, found) else Document()), 0
            looks += 1
            await clock.sleep(EVERY)


async def _send(client: httpx2.AsyncClient, service: Service, found: Document) -> bool:
    headers = {"Authorization": f"Bearer {service.secrets.get(PING_TOKEN, '')}"}
    try:
        answer = await client.post(f"{service.url}/ping", json=found, headers=headers)
    except httpx2.HTTPError:
        return False
    return answer.is_success


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
