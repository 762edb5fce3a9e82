"""Alerts on the activity log, and the action group that they call."""

import json

from orrery.sandbox.cloud.automation import call_webhook, token_of
from orrery.sandbox.cloud.machine import is_met
from orrery.sandbox.cloud.resources import Cloud, Moment, part
from orrery.sandbox.ground import Document
from orrery.sandbox.mail import deliver

_ALERT, _GROUP = "Microsoft.Insights/activityLogAlerts", "Microsoft.Insights/actionGroups"
_RECEIVERS = (
    "emailReceivers",
    "smsReceivers",
    "webhookReceivers",
    "itsmReceivers",
    "azureAppPushReceivers",
    "automationRunbookReceivers",
    "voiceReceivers",
    "logicAppReceivers",
    "azureFunctionReceivers",
    "armRoleReceivers",
)

CACHED = 300.0
"""Seconds for which an action group may still be used as it was before a change; made up, for "some minutes"."""

_SENDER = "azure-noreply@cloud.sandbox.example"


def put_group(cloud: Cloud, resource_id: str, given: Document) -> tuple[int, Document]:
    """Create an action group, or replace it."""
    asked = part(given, "properties")
    short = str(asked.get("groupShortName") or "")
    receivers: dict[str, list[Document]] = {name: asked.get(name) or [] for name in _RECEIVERS}
    receivers["emailReceivers"] = [one | {"status": "Enabled"} for one in receivers["emailReceivers"]]
    properties = {"groupShortName": short, "enabled": asked.get("enabled", True), **receivers}
    known = cloud.find(resource_id)
    before = {"before": known["body"]["properties"], "changed": cloud.now().at} if known else {}
    return cloud.stored(resource_id, _GROUP, given, properties, **before)


def put_alert(cloud: Cloud, resource_id: str, given: Document) -> tuple[int, Document]:
    """Create an alert, or replace it. Its condition is stored unchecked, as the vendor does."""
    asked = part(given, "properties")
    properties = {"enabled": True, "description": "", **asked}
    return cloud.stored(resource_id, _ALERT, given, properties)


def alerts(cloud: Cloud) -> list[Document]:
    return [one["body"] for one in cloud.below(cloud.config.group_id, _ALERT)]


def consider(cloud: Cloud, moment: Moment, data: Document) -> None:
    """Let the alerts that are for an event of the activity log fire some minutes later."""
    for alert in alerts(cloud):
        properties = alert["properties"]
        if is_met(properties["condition"], properties["scopes"], data["event"]):
            cloud.later("alert", moment, "alert", alert=alert["id"], event=data["event"])


def fire(cloud: Cloud, moment: Moment, data: Document) -> None:
    """Call the action groups of an alert, which may have been changed meanwhile."""
    alert = cloud.find(data["alert"])
    if alert is None or not alert["body"]["properties"]["enabled"]:
        return
    cloud.record("alert", moment, name=alert["body"]["name"], category=data["event"]["category"])
    for action in alert["body"]["properties"]["actions"].get("actionGroups") or ():
        group = cloud.find(action["actionGroupId"])
        if group is not None and group["body"]["properties"]["enabled"]:
            # For some minutes after a change, alerts are still delivered as before.
            is_cached = moment.at - group.get("changed", 0.0) < CACHED
            properties = group["before"] if is_cached else group["body"]["properties"]
            _act(cloud, moment, properties, alert["body"], data["event"])


def _act(cloud: Cloud, moment: Moment, group: Document, alert: Document, event: Document) -> None:
    payload = _specified(event)
    for receiver in group["webhookReceivers"]:
        headers = {"Content-Type": "application/json; charset=utf-8", "Connection": "Keep-Alive"}
        body = json.dumps(payload, separators=(",", ":"))
        _ = call_webhook(cloud, moment, token_of(receiver["serviceUri"]), body, headers)
    for receiver in group["emailReceivers"]:
        to = receiver["emailAddress"]
        subject = f"Azure Monitor alert '{alert['name']}' was activated"
        deliver(cloud.state, moment.at, _SENDER, to, subject, json.dumps(payload, indent=2))
        cloud.record("mail", moment, to=to)


def _specified(event: Document) -> Document:
    """Return the payload of the specification (spec 3, Alert payload posted to the webhook)."""
    names = ["category", "resourceId"]
    if event["category"] == "Administrative":
        names += ["operationName", "status"]
    log = {name: event[name] for name in names}
    if event["category"] == "ResourceHealth":
        log["properties"] = {name: event["properties"][name] for name in ("currentHealthStatus", "cause")}
    activated = {"status": "Activated", "context": {"activityLog": log}}
    return {"schemaId": "Microsoft.Insights/activityLogs", "data": activated}
