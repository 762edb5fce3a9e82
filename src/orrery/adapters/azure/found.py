"""The vendor's objects in our words; pure.

What decides must be there and of its type: else they raise `AttributeError` or `TypeError`. The rest may be empty.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, TypeVar

from orrery.ports.cloud import (
    PAUSE_TAG,
    RUNTIME,
    ActionGroup,
    Alert,
    AutomationAccount,
    Grant,
    Health,
    Identity,
    MachineEvent,
    MachineFound,
    RunbookJob,
    Webhook,
)
from orrery.ports.cloud.machine import Power

T = TypeVar("T")

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


def required(found: Vendors, kind: type[T]) -> T:
    """Return what must be there; raise `TypeError` when it is not, or is of another type."""
    if not isinstance(found, kind):
        raise TypeError
    return found


def word(found: Vendors) -> str:
    """Return a text that must be there, or the name of an enumeration's value."""
    return required(getattr(found, "value", found), str)


def place(found: Vendors) -> str:
    """Return the id of a resource; raise `ValueError` for another text: the libraries make one of anything."""
    if not word(found).startswith("/"):
        raise ValueError
    return word(found)


def machine(found: Vendors) -> MachineFound:
    codes = [word(one.code) for one in found.instance_view.statuses]
    known: list[Power] = [_POWERS[code] for code in codes if code in _POWERS]
    return MachineFound(place(found.id), known[0] if known else "unknown", pause(found))


def health(found: Vendors) -> Health:
    return _HEALTHS.get(word(found.properties.availability_state), "Unknown")


def pause(found: Vendors) -> str:
    """Return the text of the tag that pauses the restart; the cloud ignores the case of names."""
    return next((value for name, value in tags(found).items() if name.lower() == PAUSE_TAG), "")


def tags(found: Vendors) -> dict[str, str]:
    given: Vendors = found.tags or {}
    return {str(name): str(value) for name, value in given.items()}


def identity(found: Vendors) -> Identity:
    return Identity(place(found.id), word(found.client_id), word(found.principal_id))


def grant(found: Vendors) -> Grant:
    return Grant(place(found.id), place(found.scope), word(found.role_definition_id).rpartition("/")[2])


def account(found: Vendors) -> AutomationAccount:
    used = items(found.identity.user_assigned_identities) if found.identity else []
    return AutomationAccount(word(found.sku.name), tuple(map(str, used)), _clients(found))


def _clients(found: Vendors) -> tuple[str, ...]:
    used: Vendors = (found.identity.user_assigned_identities if found.identity else None) or {}
    return tuple(str(one.client_id) for one in used.values() if one and one.client_id)


def runtime(found: Vendors) -> str:
    """Return a runbook's runtime; newer versions of the API may name it by its environment."""
    kind, environment = word(found.runbook_type), text(getattr(found, "runtime_environment", None))
    return RUNTIME if (kind, environment) == ("PowerShell", ENVIRONMENT) else kind


def webhook(found: Vendors) -> Webhook:
    return Webhook(
        name=word(found.name),
        runbook=str(found.runbook.name) if found.runbook else "",
        enabled=required(found.is_enabled, bool),
        expires_at=required(found.expiry_time, datetime),
        created_at=required(found.creation_time, datetime),
    )


def action_group(found: Vendors) -> ActionGroup:
    hooks = items(found.webhook_receivers)
    return ActionGroup(
        enabled=required(found.enabled, bool),
        uris=tuple(word(one.service_uri) for one in hooks),
        common_uris=tuple(word(one.service_uri) for one in hooks if one.use_common_alert_schema),
        emails=tuple(word(one.email_address) for one in items(found.email_receivers)),
    )


def alert(found: Vendors) -> Alert:
    return Alert(
        enabled=required(found.enabled, bool),
        scopes=tuple(map(word, found.scopes)),
        conditions=frozenset(_conditions(items(found.condition.all_of))),
        action_groups=tuple(word(one.action_group_id) for one in items(found.actions.action_groups)),
    )


def _conditions(found: list[Vendors]) -> Iterator[tuple[str, str]]:
    for one in found:
        # A condition with alternatives is none of ours: it gets a name that no field has.
        yield (str(one.field), str(one.equals)) if one.field and one.equals else ("anyOf", str(one.any_of))


def job(found: Vendors) -> RunbookJob:
    _ = place(found.id)
    return RunbookJob(
        word(found.job_id or found.name),
        word(found.status),
        required(found.creation_time, datetime),
        found.start_time,
        found.end_time,
        str(getattr(found, "exception", "") or ""),
        str(getattr(found, "started_by", "") or ""),
    )


def event(found: Vendors) -> MachineEvent:
    properties: Vendors = found.properties or {}
    return MachineEvent(
        required(found.event_timestamp, datetime),
        word(found.operation_name.value),
        text(found.status.value) if found.status else "",
        str(properties.get("currentHealthStatus", "")),
    )


def minutes(found: list[Vendors]) -> float | None:
    """Return the job-minutes of the month among an account's figures, if they are there."""
    named = {word(one.name.value).lower(): required(one.current_value, float) for one in found}
    return named.get("accountusage")


def content(found: Vendors) -> str:
    """Return a text that some operations answer whole, and others in pieces."""
    if isinstance(found, str):
        return found.removeprefix("\ufeff")
    whole = found if isinstance(found, bytes) else b"".join(found)
    return whole.decode("utf-8-sig", errors="replace")


def nonempty(text: str) -> str:
    """Return a text that cannot be empty; raise `ValueError`."""
    if not text.strip():
        raise ValueError
    return text


def text(found: Vendors) -> str:
    """Return the text of an enumeration's value, which may be one that the library does not know."""
    return str(getattr(found, "value", found) or "")


def items(found: Vendors) -> list[Vendors]:
    return list(found or ())
