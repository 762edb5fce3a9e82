"""The timer that reports the cloud to the site, played: no library of the cloud is needed for the demo."""

from typing import NoReturn

import httpx2

from orrery.ports.clock import Clock
from orrery.sandbox.cloud import jobs
from orrery.sandbox.cloud.arm import seconds_of, timestamp
from orrery.sandbox.cloud.machine import state_of
from orrery.sandbox.cloud.outage import last_outage
from orrery.sandbox.cloud.world import Cloud
from orrery.sandbox.ground import PING_TOKEN, Service
from orrery.sandbox.state import Document
from orrery.trust import WELL_KNOWN, Trust

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
    async with httpx2.AsyncClient(timeout=TIMEOUT, trust_env=False, verify=trust.web_by_itself) as client:
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
