"""The cloud's page, levers and time, what brings the machine back, and the report of the demo's cloud."""

import json
from collections.abc import Callable
from string import Template
from typing import NoReturn, cast

import httpx2
from starlette.routing import BaseRoute

from orrery.ports.clock import Clock
from orrery.sandbox.board import WEB, Act, Board
from orrery.sandbox.cloud import alerts, jobs, machine
from orrery.sandbox.cloud.api import CloudApi
from orrery.sandbox.cloud.automation import expire_webhooks
from orrery.sandbox.cloud.operations import carry_out
from orrery.sandbox.cloud.resources import Cloud, CloudConfig, seconds_of, timestamp
from orrery.sandbox.ground import TIMEOUT, Document, SandboxGround, Service, is_taken
from orrery.trust import WELL_KNOWN

YEAR = 365 * 24 * 3600.0

_ACCOUNT = "Microsoft.Automation/automationAccounts/gateway-automation"
_REPLACED = (f"{_ACCOUNT}/webhooks/from-the-alert", "Microsoft.Insights/actionGroups/gateway-alerts")
"""A webhook's expiry cannot be changed; a new action group is called at once."""

_AT_FIRST: list[Document] = json.loads((WEB / "cloud.json").read_text(encoding="utf-8"))
"""The requests that put what brings the machine back; `$names` are of the configuration, or of an answer."""


def provision(cloud: Cloud, owner: str) -> None:
    """Put every resource; the webhook is a new one, valid for a year, and the action group calls it."""
    providers = f"{cloud.config.group_id}/providers"
    for replaced in _REPLACED:
        _ = cloud.remove(f"{providers}/{replaced}")
    names: Document = {"owner": owner, "machine": cloud.config.machine_id, "providers": providers}
    names["expires"] = timestamp(cloud.now().at + YEAR)
    for step in _AT_FIRST:
        asked: Document = json.loads(Template(json.dumps(step)).substitute(names))
        answer = carry_out(cloud, asked["method"], asked["path"], asked.get("body", {}), asked.get("text", ""))
        text = bytes(answer.body).decode()
        names |= json.loads(text)["properties"] if answer.media_type == "application/json" else {"uri": text}


ADDRESS = "/cloud"

BUTTONS = {
    "shutdown": ("Shut down", "The host shuts the machine down, as its policy does every 8 to 12 hours."),
    "deallocate": ("Deallocate", "A policy shuts the machine down, and gives its hardware back."),
    "unknown": ("Health unknown", "From now on health is Unknown where it would be Unavailable."),
    "known": ("Health known", "Health is Unavailable again when the machine is off."),
    "expire": ("Webhook expired", "A year has passed: the webhook's URI is refused."),
    "renew": ("Renew webhook", "A new webhook, and the action group calls it."),
    "start": ("Start", "You start the machine by hand."),
}
"""Each button of the page with what it does."""


def cloud_board(cloud: Cloud, api: CloudApi) -> Board:
    """Return the page with the machine, its buttons and its last outage, and the lever under them.

    `do` names the action; other values are the delays of a shutdown, in true seconds, or lists of them.
    """

    def known() -> Document:
        cloud.catch_up()
        return _known(cloud, api)

    def pull(given: Document) -> None:
        action = str(given.pop("do", ""))
        cloud.catch_up()
        actions = _actions(cloud, {name: _seconds(value) for name, value in given.items()})
        if action not in actions:
            raise ValueError(f"`do` is one of {', '.join(actions)}.")
        actions[action]()

    levers: dict[str, Act] = {"GET /_cloud": lambda _: known(), "POST /_cloud": pull}
    return Board(ADDRESS, "cloud.html", known, levers)


def _actions(cloud: Cloud, delays: dict[str, list[float]]) -> dict[str, Callable[[], None]]:
    return {
        "shutdown": lambda: machine.shut_down(cloud, delays),
        "deallocate": lambda: machine.deallocate(cloud, delays, "policy"),
        "start": lambda: machine.start(cloud, cloud.now(), "operator"),
        "unknown": lambda: machine.set_unknown(cloud, unknown=True),
        "known": lambda: machine.set_unknown(cloud, unknown=False),
        "expire": lambda: expire_webhooks(cloud),
        "renew": lambda: provision(cloud, cloud.config.owner or "owner@northwind.example"),
    }


def _known(cloud: Cloud, api: CloudApi) -> Document:
    config, now = cloud.config, cloud.now().at
    expiries = {one["name"]: one["properties"]["expiryTime"] for one in _of_type(cloud, _WEBHOOKS)}
    return {
        "url": config.url,
        "subscription": config.subscription,
        "resource_group": config.resource_group,
        "machine_id": config.machine_id,
        "factor": config.factor,
        "owner": config.owner,
        "buttons": BUTTONS,
        "machine": {"name": config.machine, **machine.state_of(cloud)},
        "webhooks": {name: seconds_of(expiry) > now for name, expiry in expiries.items()},
        "events": cloud.events(),
        "next": next((one["kind"] for one in cloud.waiting()), ""),
        "jobs": [one["body"] | {"output": one["output"], "data": one["data"]} for one in jobs.all_jobs(cloud)],
        "requests": list(api.requests),
    }


def _seconds(given: object) -> list[float]:
    values = cast("list[object]", given) if isinstance(given, list) else [given]
    return [float(str(value)) for value in values]


_BEGINS = frozenset({"shutdown", "deallocate"})
_WEBHOOKS = "Microsoft.Automation/automationAccounts/webhooks"


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


async def report_for_ever(cloud: Cloud, service: Service, clock: Clock) -> NoReturn:
    """Send a report whenever something has changed, until cancelled."""
    sent, looks = Document(), 0
    async with httpx2.AsyncClient(timeout=TIMEOUT, trust_env=False, verify=WELL_KNOWN.web) as client:
        while True:
            found = report(cloud)
            if found != sent or looks >= AT_LEAST_EVERY:
                sent, looks = (found if is_taken(await service.take(client, found)) else Document()), 0
            looks += 1
            await clock.sleep(EVERY)


def report(cloud: Cloud) -> Document:
    """Return what `orrery gateway cloud report` would send."""
    state = machine.state_of(cloud)
    ends = [one["properties"]["expiryTime"] for one in _of_type(cloud, _WEBHOOKS)]
    alerts = {
        one["name"]: one["properties"]["enabled"] for one in _of_type(cloud, "Microsoft.Insights/activityLog")
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


def _of_type(cloud: Cloud, kind: str) -> list[Document]:
    return [one["body"] for one in cloud.below(cloud.config.group_id, kind)]


def _job(properties: Document) -> Document:
    return {
        "id": properties["jobId"],
        "status": properties["status"],
        "started_at": properties["startTime"] or properties["creationTime"],
        "ended_at": properties["endTime"],
    }


_IDLE = 1.0


def cloud_routes(config: CloudConfig, ground: SandboxGround) -> list[BaseRoute]:
    """Return the routes of the cloud, and let it go on without requests."""
    cloud = Cloud(config, ground)
    cloud.handlers |= {
        "off": machine.off,
        "unhealthy": machine.unhealthy,
        "running": machine.running,
        "consider": alerts.consider,
        "alert": alerts.fire,
        "job": jobs.run,
    }
    machine.open_machine(cloud)
    if config.owner is not None and cloud.find(f"{config.group_id}/providers/{_ACCOUNT}") is None:
        provision(cloud, config.owner)
    ground.machine.on_answer.append(lambda: machine.answering(cloud))
    api = CloudApi(cloud, ground)
    ground.background.append(lambda: _go_on(cloud, ground.clock))
    if config.owner is not None and (service := ground.service) is not None:
        ground.background.append(lambda: report_for_ever(cloud, service, ground.clock))
    return [*api.routes(), *cloud_board(cloud, api).routes()]


async def _go_on(cloud: Cloud, clock: Clock) -> NoReturn:
    """Let happen what is due, until cancelled."""
    while True:
        cloud.catch_up()
        left = (one["at"] - clock.now().timestamp() for one in cloud.waiting())
        await clock.sleep(max(0.0, min(_IDLE, next(left, _IDLE))))
