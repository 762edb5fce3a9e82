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


RECEIVER = "runbook"
"""The name of our webhook among the receivers of the action group."""


def account(location: str, identity_id: str) -> Document:
    return {
        "location": location,
        "properties": {"sku": {"name": TIER}},
        "identity": {"type": "UserAssigned", "userAssignedIdentities": {identity_id: {}}},
    }


def account_change(identity_id: str, found: Any) -> Document:  # noqa: ANN401  the vendor's object
    """Return what lets an account's runbooks use one identity more; what else it has stays."""
    identity = found.identity
    kind = str(getattr(identity.type, "value", identity.type)) if identity and identity.type else ""
    others: Document = {id_: {} for id_ in identity.user_assigned_identities or ()} if identity else {}
    return {
        "properties": {"sku": {"name": TIER}},
        "identity": {
            "type": "SystemAssigned, UserAssigned" if kind.startswith("System") else "UserAssigned",
            "userAssignedIdentities": {**others, identity_id: {}},
        },
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
            "webhookReceivers": [{"name": RECEIVER, "serviceUri": uri, "useCommonAlertSchema": False}],
            "emailReceivers": [{"name": "owner", "emailAddress": email, "useCommonAlertSchema": False}],
        },
    }


def joined(found: Document, own: Document) -> Document:
    """Return our action group with the tags, the short name and the receivers that others have given it."""
    properties: Document = dict(found.get("properties") or {})
    for kind, id_ in (("webhookReceivers", "serviceUri"), ("emailReceivers", "emailAddress")):
        (mine,) = own["properties"][kind]
        others = [
            one for one in properties.get(kind) or () if _is_other(one, mine, "name") and _is_other(one, mine, id_)
        ]
        properties[kind] = [mine, *others]
    properties |= {"enabled": True}
    properties.setdefault("groupShortName", SHORT_NAME)
    return {"location": EVERYWHERE, "tags": found.get("tags") or {}, "properties": properties}


def _is_other(one: Document, mine: Document, name: str) -> bool:
    return str(one.get(name, "")).lower() != str(mine[name]).lower()


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
