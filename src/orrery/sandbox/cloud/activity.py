"""The activity log of the machine, and whether a condition of an alert is met by one of its events."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from orrery.sandbox.cloud.arm import bad_request, contains, normal, seconds_of, timestamp
from orrery.sandbox.cloud.world import Cloud, Moment, new_guid
from orrery.sandbox.state import Document

_LOG = "activity"
_MOST = 200
_NAMED = ("operationName", "category", "status", "subStatus", "resourceProviderName", "resourceType", "eventName")
_TERM = re.compile(r"(\w+)\s+(eq|ge|le)\s+'([^']*)'", re.IGNORECASE)


def health_event(cloud: Cloud, moment: Moment, now: str, before: str, cause: str) -> None:
    """Record that the machine's health has changed."""
    resolved = now == "Available"
    _append(
        cloud,
        moment,
        {
            "category": "ResourceHealth",
            "operationName": "Microsoft.Resourcehealth/healthevent/Activated/action",
            "level": "Informational" if resolved else "Critical",
            "status": "Resolved" if resolved else "Active",
            "caller": "",
            "properties": {
                "title": f"The machine is {now.lower()}",
                "currentHealthStatus": now,
                "previousHealthStatus": before,
                "type": "Downtime",
                "cause": cause,
            },
        },
    )


def operation_event(cloud: Cloud, moment: Moment, operation: str, status: str, caller: str) -> None:
    """Record a step of an operation on the machine: `Started`, `Accepted`, `Succeeded`."""
    _append(
        cloud,
        moment,
        {
            "category": "Administrative",
            "operationName": f"Microsoft.Compute/virtualMachines/{operation}/action",
            "level": "Informational",
            "status": status,
            "caller": caller,
            "properties": {},
        },
    )


def _append(cloud: Cloud, moment: Moment, event: Document) -> None:
    machine_id = cloud.config.machine_id
    whole = event | {
        "eventDataId": new_guid(),
        "correlationId": moment.cause,
        "eventTimestamp": timestamp(moment.at),
        "resourceId": machine_id,
        "resourceGroup": cloud.config.resource_group,
        "resourceGroupName": cloud.config.resource_group,
        "resourceProvider": "Microsoft.Compute",
        "resourceProviderName": "Microsoft.Compute",
        "resourceType": "Microsoft.Compute/virtualMachines",
        "subStatus": "",
        "subscriptionId": cloud.config.subscription,
    }
    cloud.set_value(_LOG, events=[*cloud.value(_LOG).get("events", []), whole][-_MOST:])
    cloud.later(0, moment, "consider", event=whole)


def listed(cloud: Cloud, wanted: str) -> list[Document]:
    """Return the events that a filter names, newest first, in the listing's shape."""
    terms = _TERM.findall(wanted)
    if not any(name.lower() == "eventtimestamp" for name, _, _ in terms):
        raise bad_request("The filter must name the eventTimestamp from which events are wanted.")
    events: list[Document] = cloud.value(_LOG).get("events", [])
    return [_shown(one) for one in reversed(events) if all(_fits(one, *term) for term in terms)]


def _fits(event: Document, name: str, operator: str, value: str) -> bool:
    match name.lower():
        case "eventtimestamp":
            at, limit = seconds_of(event["eventTimestamp"]), seconds_of(value)
            return at >= limit if operator == "ge" else at <= limit
        case "resourceuri" | "resourceid":
            return normal(event["resourceId"]) == normal(value)
        case "resourcegroupname":
            return event["resourceGroup"].lower() == value.lower()
        case "resourceprovider":
            return event["resourceProvider"].lower() == value.lower()
        case "correlationid":
            return event["correlationId"] == value
        case _:
            raise bad_request(f"The filter's field '{name}' is not supported.")


def _shown(event: Document) -> Document:
    body = {key: value for key, value in event.items() if key not in ("resourceGroup", "resourceProvider")}
    for name in _NAMED:
        text = body.get(name, "")
        body[name] = {"value": text, "localizedValue": text}
    place = f"{event['resourceId']}/events/{event['eventDataId']}"
    return body | {"id": place, "submissionTimestamp": event["eventTimestamp"]}


def is_met(condition: Mapping[str, Any], scopes: list[str], event: Document) -> bool:
    """Return whether an alert with this condition and these scopes is for the event.

    A condition that names what there is not is never met, and no error says so.
    """
    leaves = condition.get("allOf")
    if not isinstance(leaves, list) or not any(contains(one, event["resourceId"]) for one in scopes):
        return False
    return all(_leaf_is_met(one, event) for one in cast("list[Document]", leaves))


def _leaf_is_met(leaf: Document, event: Document) -> bool:
    if leaf.get("anyOf"):
        return any(_leaf_is_met(one, event) for one in leaf["anyOf"])
    values = [value.lower() for value in _values(event, str(leaf.get("field", "")).lower().split("."))]
    if leaf.get("equals") is not None:
        return str(leaf["equals"]).lower() in values
    wanted = [str(one).lower() for one in leaf.get("containsAny") or ()]
    return any(one in value for one in wanted for value in values)


def _values(event: Document, names: list[str]) -> Iterator[str]:
    found: Any = event
    for name in names:
        if not isinstance(found, dict):
            return
        known = {key.lower(): value for key, value in cast("Document", found).items()}
        found = known.get(name)
    if isinstance(found, str):
        yield found
