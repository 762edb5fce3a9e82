"""Everything that brings the machine back, put without any library: for a sandbox that has it from the start."""

from uuid import NAMESPACE_URL, uuid5

from orrery.sandbox.cloud.access import MACHINE_CONTRIBUTOR, put_assignment, put_identity
from orrery.sandbox.cloud.alerts import put_alert, put_group
from orrery.sandbox.cloud.arm import timestamp
from orrery.sandbox.cloud.automation import publish, put_account, put_runbook, replace_draft
from orrery.sandbox.cloud.webhooks import generate_uri, put_webhook
from orrery.sandbox.cloud.world import Cloud

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
    _ = cloud.remove(group_id)  # one that is made anew is called at once
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
    """Put the webhook anew: the expiry of the one that was there cannot be changed."""
    _ = cloud.remove(webhook_of(cloud))
    uri = generate_uri(cloud, account_of(cloud))
    expires = timestamp(cloud.now().at + YEAR)
    properties = {"uri": uri, "expiryTime": expires, "isEnabled": True, "runbook": {"name": "restart-gateway"}}
    _ = put_webhook(cloud, webhook_of(cloud), {"properties": properties})
    return uri
