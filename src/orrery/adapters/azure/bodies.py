"""The resources as the management API takes them; pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from orrery.ports.cloud import CONTRIBUTOR, RUNTIME, TIER

Document = dict[str, Any]

EVERYWHERE = "Global"
"""Where alerts and action groups are."""

SHORT_NAME = "gateway"
"""The action group's name in its messages, at most 12 characters."""


def account(location: str, identity_id: str) -> Document:
    return {
        "location": location,
        "properties": {"sku": {"name": TIER}},
        "identity": {"type": "UserAssigned", "userAssignedIdentities": {identity_id: {}}},
    }


def role_assignment(subscription: str, principal_id: str) -> Document:
    definition = f"/subscriptions/{subscription}/providers/Microsoft.Authorization/roleDefinitions/{CONTRIBUTOR}"
    # Without its type, a principal that was just made is looked up, and not found.
    return {
        "properties": {
            "roleDefinitionId": definition,
            "principalId": principal_id,
            "principalType": "ServicePrincipal",
        }
    }


def role_assignment_name(machine_id: str, principal_id: str) -> str:
    """Return the same name for the same right: a repetition makes no second one."""
    return str(uuid5(NAMESPACE_URL, f"{machine_id.lower()}|{principal_id.lower()}|{CONTRIBUTOR}"))


def runbook(name: str, location: str) -> Document:
    properties: Document = {"runbookType": RUNTIME, "logVerbose": False, "logProgress": False, "draft": {}}
    return {"name": name, "location": location, "properties": properties}


def webhook(name: str, runbook_name: str, uri: str, expires_at: datetime) -> Document:
    properties = {
        "isEnabled": True,
        "uri": uri,
        "expiryTime": expires_at.isoformat(),
        "runbook": {"name": runbook_name},
    }
    return {"name": name, "properties": properties}


def action_group(uri: str, email: str) -> Document:
    return {
        "location": EVERYWHERE,
        "properties": {
            "groupShortName": SHORT_NAME,
            "enabled": True,
            "webhookReceivers": [{"name": "runbook", "serviceUri": uri, "useCommonAlertSchema": False}],
            "emailReceivers": [{"name": "owner", "emailAddress": email, "useCommonAlertSchema": False}],
        },
    }


def alert(scope: str, conditions: Sequence[tuple[str, str]], action_group_id: str) -> Document:
    return {
        "location": EVERYWHERE,
        "properties": {
            "enabled": True,
            "scopes": [scope],
            "condition": {"allOf": [{"field": name, "equals": value} for name, value in conditions]},
            "actions": {"actionGroups": [{"actionGroupId": action_group_id}]},
        },
    }
