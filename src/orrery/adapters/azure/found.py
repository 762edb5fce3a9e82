"""The vendor's objects in our words; pure. What is not there, or not known, is empty or "unknown"."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from orrery.ports.cloud import (
    PAUSE_TAG,
    RUNTIME,
    Account,
    ActionGroup,
    Alert,
    Grant,
    Health,
    Identity,
    Job,
    MachineEvent,
    MachineFound,
    Webhook,
)
from orrery.ports.cloud.machine import Power

Vendors = Any
"""An object of the vendor's libraries, whose types are made while they run."""

_POWERS: dict[str, Power] = {
    "PowerState/running": "running",
    "PowerState/starting": "starting",
    "PowerState/stopping": "stopping",
    "PowerState/stopped": "stopped",
    "PowerState/deallocating": "deallocating",
    "PowerState/deallocated": "deallocated",
}
_HEALTHS: dict[str, Health] = {"Available": "Available", "Unavailable": "Unavailable", "Degraded": "Degraded"}

ENVIRONMENT = "PowerShell-7.2"
"""The vendor's own environment for the runtime."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def machine(found: Vendors, health: Vendors) -> MachineFound:
    state = text(health.properties.availability_state) if health and health.properties else ""
    statuses = items(found.instance_view.statuses) if found.instance_view else []
    codes = [str(one.code) for one in statuses]
    known: list[Power] = [_POWERS[code] for code in codes if code in _POWERS]
    power: Power = "unknown" if not known else known[0]
    return MachineFound(
        str(found.id),
        power,
        _HEALTHS.get(state, "Unknown"),
        pause(found),
    )


def pause(found: Vendors) -> str:
    """Return the text of the tag that pauses the restart; the cloud does not tell names apart by their case."""
    return next((value for name, value in tags(found).items() if name.lower() == PAUSE_TAG), "")


def tags(found: Vendors) -> dict[str, str]:
    given: Vendors = found.tags or {}
    return {str(name): str(value) for name, value in given.items()}


def identity(found: Vendors) -> Identity:
    return Identity(str(found.id), str(found.client_id), str(found.principal_id))


def grant(found: Vendors) -> Grant:
    return Grant(str(found.id), str(found.scope), str(found.role_definition_id).rpartition("/")[2])


def account(found: Vendors) -> Account:
    used = items(found.identity.user_assigned_identities) if found.identity else []
    return Account(text(found.sku.name) if found.sku else "", tuple(map(str, used)), _clients(found))


def _clients(found: Vendors) -> tuple[str, ...]:
    used: Vendors = (found.identity.user_assigned_identities if found.identity else None) or {}
    return tuple(str(one.client_id) for one in used.values() if one and one.client_id)


def runtime(found: Vendors) -> str:
    """Return a runbook's runtime; newer versions of the API may name it by its environment."""
    kind, environment = text(found.runbook_type), text(getattr(found, "runtime_environment", None))
    return RUNTIME if (kind, environment) == ("PowerShell", ENVIRONMENT) else kind


def webhook(found: Vendors) -> Webhook:
    runbook = str(found.runbook.name) if found.runbook else ""
    expires_at = found.expiry_time or _EPOCH
    return Webhook(name=str(found.name), runbook=runbook, enabled=bool(found.is_enabled), expires_at=expires_at)


def action_group(found: Vendors) -> ActionGroup:
    hooks = items(found.webhook_receivers)
    return ActionGroup(
        enabled=bool(found.enabled),
        uris=tuple(str(one.service_uri) for one in hooks),
        common_uris=tuple(str(one.service_uri) for one in hooks if one.use_common_alert_schema),
        emails=tuple(str(one.email_address) for one in items(found.email_receivers)),
    )


def alert(found: Vendors) -> Alert:
    groups = items(found.actions.action_groups) if found.actions else []
    conditions = items(found.condition.all_of) if found.condition else []
    return Alert(
        enabled=bool(found.enabled),
        scopes=tuple(map(str, items(found.scopes))),
        conditions=frozenset(_conditions(conditions)),
        action_groups=tuple(str(one.action_group_id) for one in groups),
    )


def _conditions(found: list[Vendors]) -> Iterator[tuple[str, str]]:
    for one in found:
        # A condition with alternatives is none of ours: it gets a name that no field has.
        yield (str(one.field), str(one.equals)) if one.field and one.equals else ("anyOf", str(one.any_of))


def job(found: Vendors) -> Job:
    return Job(
        str(found.job_id or found.name),
        text(found.status),
        found.creation_time or _EPOCH,
        found.start_time,
        found.end_time,
        str(getattr(found, "exception", "") or ""),
    )


def event(found: Vendors) -> MachineEvent:
    properties: Vendors = found.properties or {}
    return MachineEvent(
        found.event_timestamp,
        text(found.operation_name.value) if found.operation_name else "",
        text(found.status.value) if found.status else "",
        str(properties.get("currentHealthStatus", "")),
    )


def content(found: Vendors) -> str:
    """Return a text that some operations answer whole, and others in pieces."""
    if isinstance(found, str):
        return found.removeprefix("\ufeff")
    whole = found if isinstance(found, bytes) else b"".join(found)
    return whole.decode("utf-8-sig", errors="replace")


def text(found: Vendors) -> str:
    """Return the text of an enumeration's value, which may be one that the library does not know."""
    return str(getattr(found, "value", found) or "")


def items(found: Vendors) -> list[Vendors]:
    return list(found or ())
