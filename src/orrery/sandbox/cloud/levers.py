"""The cloud's page, levers and time, and the resources that bring the machine back."""

from collections.abc import Callable
from typing import NoReturn, cast
from uuid import NAMESPACE_URL, uuid5

from starlette.routing import BaseRoute

from orrery.ports.clock import Clock
from orrery.sandbox.board import Act, Board
from orrery.sandbox.cloud import alerts, jobs, machine
from orrery.sandbox.cloud.access import MACHINE_CONTRIBUTOR, put_assignment, put_identity
from orrery.sandbox.cloud.alerts import put_alert, put_group
from orrery.sandbox.cloud.api import CloudApi
from orrery.sandbox.cloud.automation import (
    expire_webhooks,
    generate_uri,
    publish,
    put_account,
    put_runbook,
    put_webhook,
    replace_draft,
)
from orrery.sandbox.cloud.outage import report_for_ever, shown
from orrery.sandbox.cloud.resources import Cloud, CloudConfig, timestamp
from orrery.sandbox.ground import Document, SandboxGround

YEAR = 365 * 24 * 3600.0

_RUNBOOK = """\
# The sandbox plays the steps of this runbook; it runs no PowerShell.
Connect-AzAccount -Identity -AccountId {client}
Start-AzVM -Id {machine}
"""
_UNAVAILABLE = (("category", "ResourceHealth"), ("properties.currentHealthStatus", "Unavailable"))
_DEALLOCATED = (
    ("category", "Administrative"),
    ("operationName", "Microsoft.Compute/virtualMachines/deallocate/action"),
    ("status", "Succeeded"),
)


def account_of(cloud: Cloud) -> str:
    return f"{cloud.config.group_id}/providers/Microsoft.Automation/automationAccounts/gateway-automation"


def webhook_of(cloud: Cloud) -> str:
    return f"{account_of(cloud)}/webhooks/from-the-alert"


def provision(cloud: Cloud, owner: str) -> None:
    """Put every resource; the webhook is a new one, valid for a year, and the action group calls it."""
    config = cloud.config
    providers = f"{config.group_id}/providers"
    identity_id = f"{providers}/Microsoft.ManagedIdentity/userAssignedIdentities/gateway-restarter"
    _, identity = put_identity(cloud, identity_id, {})
    ids = identity["properties"]
    name = str(uuid5(NAMESPACE_URL, config.machine_id + ids["principalId"]))
    role = {
        "roleDefinitionId": f"/providers/Microsoft.Authorization/roleDefinitions/{MACHINE_CONTRIBUTOR}",
        "principalId": ids["principalId"],
        "principalType": "ServicePrincipal",
    }
    _ = put_assignment(cloud, config.machine_id, name, {"properties": role})
    attached = {"type": "UserAssigned", "userAssignedIdentities": {identity_id: dict[str, str]()}}
    _ = put_account(cloud, account_of(cloud), {"identity": attached})
    runbook_id = f"{account_of(cloud)}/runbooks/restart-gateway"
    _ = put_runbook(cloud, runbook_id, {"properties": {"runbookType": "PowerShell72"}})
    replace_draft(cloud, runbook_id, _RUNBOOK.format(client=ids["clientId"], machine=config.machine_id))
    publish(cloud, runbook_id)
    group_id = f"{providers}/Microsoft.Insights/actionGroups/gateway-alerts"
    receivers = {
        "webhookReceivers": [{"name": "runbook", "serviceUri": _new_webhook(cloud)}],
        "emailReceivers": [{"name": "owner", "emailAddress": owner}],
    }
    _ = cloud.remove(group_id)  # a new one is called at once
    _ = put_group(cloud, group_id, {"properties": {"groupShortName": "gateway", **receivers}})
    for alert, leaves in (("unavailable", _UNAVAILABLE), ("deallocated", _DEALLOCATED)):
        properties = {
            "scopes": [config.machine_id],
            "condition": {"allOf": [{"field": field, "equals": value} for field, value in leaves]},
            "actions": {"actionGroups": [{"actionGroupId": group_id}]},
        }
        alert_id = f"{providers}/Microsoft.Insights/activityLogAlerts/gateway-{alert}"
        _ = put_alert(cloud, alert_id, {"properties": properties})


def _new_webhook(cloud: Cloud) -> str:
    """Replace the webhook: its expiry cannot be changed."""
    _ = cloud.remove(webhook_of(cloud))
    uri = generate_uri(cloud, account_of(cloud))
    expires = timestamp(cloud.now().at + YEAR)
    properties = {"uri": uri, "expiryTime": expires, "isEnabled": True, "runbook": {"name": "restart-gateway"}}
    _ = put_webhook(cloud, webhook_of(cloud), {"properties": properties})
    return uri


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

    def view() -> Document:
        cloud.catch_up()
        return {"buttons": _buttons(cloud), **shown(cloud)}

    def pull(given: Document) -> None:
        action = str(given.pop("do", ""))
        cloud.catch_up()
        actions = _actions(cloud, api, {name: _seconds(value) for name, value in given.items()})
        if action not in actions:
            raise ValueError(f"`do` is one of {', '.join(actions)}.")
        actions[action]()

    levers: dict[str, Act] = {"GET /_cloud": lambda _: known(), "POST /_cloud": pull}
    return Board(ADDRESS, "cloud.html", known, view, levers)


def _buttons(cloud: Cloud) -> dict[str, tuple[str, str]]:
    hidden = {"known" if not machine.state_of(cloud)["unknown"] else "unknown"}
    if cloud.config.owner is None:
        hidden.add("renew")
    return {name: words for name, words in BUTTONS.items() if name not in hidden}


def _actions(cloud: Cloud, api: CloudApi, delays: dict[str, list[float]]) -> dict[str, Callable[[], None]]:
    return {
        "shutdown": lambda: machine.shut_down(cloud, delays),
        "deallocate": lambda: machine.deallocate(cloud, delays, "policy"),
        "start": lambda: machine.start(cloud, cloud.now(), "operator"),
        "unknown": lambda: machine.set_unknown(cloud, unknown=True),
        "known": lambda: machine.set_unknown(cloud, unknown=False),
        "expire": lambda: expire_webhooks(cloud),
        "renew": lambda: provision(cloud, cloud.config.owner or "owner@northwind.example"),
        "expire_tokens": api.tokens.expire,
    }


def _known(cloud: Cloud, api: CloudApi) -> Document:
    config = cloud.config
    return {
        "url": config.url,
        "subscription": config.subscription,
        "resource_group": config.resource_group,
        "machine_id": config.machine_id,
        "factor": config.factor,
        "machine": machine.state_of(cloud),
        "events": cloud.events(),
        "jobs": [one["body"] | {"output": one["output"], "data": one["data"]} for one in jobs.all_jobs(cloud)],
        "requests": list(api.requests),
    }


def _seconds(given: object) -> list[float]:
    values = cast("list[object]", given) if isinstance(given, list) else [given]
    return [float(str(value)) for value in values]


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
    if config.owner is not None and cloud.find(account_of(cloud)) is None:
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
        due = cloud.next_due()
        await clock.sleep(_IDLE if due is None else max(0.0, min(_IDLE, due - clock.now().timestamp())))
