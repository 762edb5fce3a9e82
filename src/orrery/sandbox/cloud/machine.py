"""The machine: its power and health, how both go when it is shut down and started, and its activity log."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from orrery.ports.cloud.machine import Power
from orrery.sandbox.cloud.resources import (
    DELAYS,
    Cloud,
    Moment,
    arm_error,
    contains,
    new_guid,
    normal,
    seconds_of,
    timestamp,
)
from orrery.sandbox.ground import Document

_LOG = "activity"
_MOST = 200
_NAMED = ("operationName", "category", "status", "subStatus", "resourceProviderName", "resourceType", "eventName")
_TERM = re.compile(r"(\w+) (eq|ge|le) '([^']*)'")


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


def listed_events(cloud: Cloud, wanted: str) -> list[Document]:
    """Return the events that a filter names, newest first, in the listing's shape."""
    terms = _TERM.findall(wanted)
    events: list[Document] = cloud.value(_LOG).get("events", [])
    return [_shown_event(one) for one in reversed(events) if all(_fits(one, *term) for term in terms)]


def _fits(event: Document, name: str, operator: str, value: str) -> bool:
    if name == "resourceUri":
        return normal(event["resourceId"]) == normal(value)
    at, limit = seconds_of(event["eventTimestamp"]), seconds_of(value)
    return at >= limit if operator == "ge" else at <= limit


def _shown_event(event: Document) -> Document:
    body = {key: value for key, value in event.items() if key not in ("resourceGroup", "resourceProvider")}
    for name in _NAMED:
        text = body.get(name, "")
        body[name] = {"value": text, "localizedValue": text}
    place = f"{event['resourceId']}/events/{event['eventDataId']}"
    return body | {"id": place, "submissionTimestamp": event["eventTimestamp"]}


def is_met(condition: Mapping[str, Any], scopes: list[str], event: Document) -> bool:
    """Return whether an alert with this condition and these scopes is for the event.

    A condition on an unknown field is never fulfilled, without an error, as at the vendor.
    """
    is_here = any(contains(one, event["resourceId"]) for one in scopes)
    return is_here and all(_leaf_is_met(one, event) for one in condition["allOf"])


def _leaf_is_met(leaf: Document, event: Document) -> bool:
    found: Any = event
    for name in leaf["field"].lower().split("."):
        known = cast("Document", found) if isinstance(found, dict) else {}
        found = next((value for key, value in known.items() if key.lower() == name), None)
    return isinstance(found, str) and found.lower() == leaf["equals"].lower()


_NAME = "machine"
_DOWN = frozenset[Power]({"stopping", "stopped", "deallocating", "deallocated"})
_CHANGING = frozenset[Power]({"stopping", "deallocating"})


def state_of(cloud: Cloud) -> Document:
    """Return the machine's state: `power`, `health`, `cause` of the health, `since` (Unix time), `unknown`."""
    fresh = {"power": "running", "health": "Available", "cause": "", "since": cloud.now().at, "unknown": False}
    return fresh | cloud.value(_NAME)


def open_machine(cloud: Cloud) -> None:
    """Create the machine, running, unless it is there."""
    config = cloud.config
    if cloud.find(config.machine_id) is None:
        body = {
            "id": config.machine_id,
            "name": config.machine,
            "type": "Microsoft.Compute/virtualMachines",
            "location": config.location,
            "tags": {},
            "etag": _etag(),
            "properties": {
                "vmId": new_guid(),
                "hardwareProfile": {"vmSize": "Standard_B1s"},
                "provisioningState": "Succeeded",
            },
        }
        _ = cloud.put({"body": body})
    _change(cloud, state_of(cloud)["since"])


def shut_down(cloud: Cloud, delays: Mapping[str, Sequence[float]]) -> None:
    """Let the host shut the machine down; `delays` are those of this outage, by their names in `DELAYS`.

    Of several delays of a name each is used once, in their order, and the last one from then on.
    """
    moment = _begin(cloud, delays)
    cloud.record("shutdown", moment, by="host")
    _change(cloud, moment.at, power="stopping", reason="PlatformInitiated")
    cloud.later("stop", moment, "off", power="stopped")
    cloud.later("health", moment, "unhealthy")


def deallocate(cloud: Cloud, delays: Mapping[str, Sequence[float]], caller: str) -> None:
    """Shut the machine down and give its hardware back, as an administrator or a policy asks for."""
    moment = _begin(cloud, delays)
    cloud.record("deallocate", moment, by=caller)
    operation_event(cloud, moment, "deallocate", "Started", caller)
    _change(cloud, moment.at, power="deallocating", reason="UserInitiated")
    cloud.later("stop", moment, "off", power="deallocated", caller=caller)
    cloud.later("health", moment, "unhealthy")


def _begin(cloud: Cloud, delays: Mapping[str, Sequence[float]]) -> Moment:
    if unknown := sorted(delays.keys() - DELAYS):
        raise ValueError(f"There is no delay {unknown[0]!r}: one of {', '.join(DELAYS)}.")
    if state_of(cloud)["power"] in _DOWN:
        raise ValueError("The machine is not running.")
    cloud.set_value("outage")
    moment = cloud.now()
    cloud.set_value("outage", cause=moment.cause, at=moment.at)
    cloud.set_value("delays", **delays)
    return moment


def off(cloud: Cloud, moment: Moment, data: Document) -> None:
    """The machine is off."""
    if state_of(cloud)["power"] not in _CHANGING:
        return
    _change(cloud, moment.at, power=data["power"])
    cloud.record("power", moment, power=data["power"])
    if data["power"] == "deallocated":
        operation_event(cloud, moment, "deallocate", "Succeeded", data["caller"])


def unhealthy(cloud: Cloud, moment: Moment, _: Document) -> None:
    """Resource health notices that the machine is off, or is Unknown."""
    state = state_of(cloud)
    if state["power"] not in _DOWN:
        return
    health = "Unknown" if state["unknown"] else "Unavailable"
    _change(cloud, moment.at, health=health, cause=state["reason"])
    cloud.record("health", moment, health=health, cause=state["reason"])
    health_event(cloud, moment, health, state["health"], state["reason"])


def start(cloud: Cloud, moment: Moment, caller: str) -> None:
    """Ask for the machine to run; raise `Refusal` while it is on its way down."""
    power = state_of(cloud)["power"]
    if power in _CHANGING:
        raise arm_error(409, "OperationNotAllowed", f"The machine is {power}: another operation is in progress.")
    cloud.record("start", moment, by=caller, power=power)
    operation_event(cloud, moment, "start", "Started", caller)
    if power in _DOWN:
        _change(cloud, moment.at, power="starting")
        cloud.later("start", moment, "running", caller=caller)


def running(cloud: Cloud, moment: Moment, data: Document) -> None:
    """The machine runs again."""
    state = state_of(cloud)
    _change(cloud, moment.at, power="running", health="Available", cause="")
    cloud.set_value("outage")
    cloud.set_value("back", at=moment.at, after=moment.after, cause=moment.cause)
    cloud.record("power", moment, power="running")
    operation_event(cloud, moment, "start", "Succeeded", data["caller"])
    if state["health"] != "Available":
        health_event(cloud, moment, "Available", state["health"], "")


def set_unknown(cloud: Cloud, *, unknown: bool) -> None:
    """Let health be Unknown in the place of Unavailable, or not any more."""
    cloud.set_value(_NAME, **state_of(cloud) | {"unknown": unknown})


def retag(cloud: Cloud, tags: Mapping[str, str], if_match: str | None) -> Document:
    """Replace the machine's tags, unless it was changed since the caller saw its etag; return its body."""
    resource = cloud.require(cloud.config.machine_id)
    body = resource["body"]
    if if_match not in (None, "*", body["etag"]):
        raise arm_error(412, "PreconditionFailed", "The condition specified by the etag was not met.")
    body |= {"tags": dict(tags), "etag": _etag()}
    return cloud.put(resource)["body"]


def instance_view(cloud: Cloud) -> Document:
    state = state_of(cloud)
    codes = [("ProvisioningState/succeeded", "Provisioning succeeded"), (f"PowerState/{state['power']}", "")]
    statuses = [
        {"code": code, "level": "Info", "displayStatus": words or f"VM {state['power']}"} for code, words in codes
    ]
    statuses[0]["time"] = timestamp(state["since"])
    return {"statuses": statuses}


def availability(cloud: Cloud) -> Document:
    """Return the machine's resource health."""
    state = state_of(cloud)
    place = f"{cloud.config.machine_id}/providers/Microsoft.ResourceHealth/availabilityStatuses/current"
    return {
        "id": place,
        "name": "current",
        "type": "Microsoft.ResourceHealth/AvailabilityStatuses",
        "location": cloud.config.location,
        "properties": {
            "availabilityState": state["health"],
            "title": state["health"],
            "summary": f"The machine is {state['power']}.",
            "reasonType": state["cause"],
            "occuredTime": timestamp(state["since"]),
            "reasonChronicity": "Persistent",
            "reportedTime": timestamp(cloud.now().at),
        },
    }


def answering(cloud: Cloud) -> None:
    """The service on the machine has taken a ping for the first time since the machine runs again."""
    back, now = cloud.value("back"), cloud.now().at
    if back:
        cloud.set_value("back")
        after = back["after"] + (now - back["at"]) * cloud.config.factor
        cloud.record("service", Moment(now, after, back["cause"]))


def _change(cloud: Cloud, at: float, **changes: object) -> None:
    state = state_of(cloud) | changes | {"since": at}
    cloud.set_value(_NAME, **state)
    cloud.switch.turn(on=state["power"] == "running")


def _etag() -> str:
    return f'"{new_guid()}"'
