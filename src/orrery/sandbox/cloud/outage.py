"""The last outage as the page shows it: each event in words, with its true time."""

from orrery.sandbox.cloud.arm import seconds_of, timestamp
from orrery.sandbox.cloud.machine import state_of
from orrery.sandbox.cloud.world import Cloud
from orrery.sandbox.state import Document

_MINUTE = 60
_BEGINS = frozenset({"shutdown", "deallocate"})
_WORDS = {
    "shutdown": "The host shuts the machine down",
    "deallocate": "A policy deallocates the machine",
    "power": "The machine is {power}",
    "health": "Health is {health}",
    "alert": "The alert {name} fires",
    "webhook": "The webhook answers {status}",
    "mail": "An e-mail goes to {to}",
    "job": "The job is {status}",
    "start": "The machine is asked to start",
    "service": "The service answers",
}
_NEXT = {
    "off": "the machine is off",
    "unhealthy": "health changes",
    "alert": "an alert fires",
    "job": "the job goes on",
    "running": "the machine runs",
}
_TELLING = {"power": "power", "health": "health", "webhook": "status", "job": "status"}
_BAD = frozenset({"stopped", "deallocated", "Unavailable", "Unknown", "Failed", 400, 404})
_GOOD = frozenset({"running", "Available", "Completed", 202})


def shown(cloud: Cloud) -> Document:
    """Return what the page shows."""
    events = cloud.events()
    first = next((one for one in reversed(events) if one["kind"] in _BEGINS), None)
    followed = [one for one in events if first is not None and one["cause"] == first["cause"]]
    state = state_of(cloud)
    return {
        "factor": cloud.config.factor,
        "name": cloud.config.machine,
        "power": state["power"],
        "health": state["health"],
        "unknown": state["unknown"],
        "webhooks": _webhooks(cloud),
        "rows": [_row(one, followed[0]["at"]) for one in followed],
        "next": _NEXT.get(cloud.next_kind(), ""),
    }


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


def _row(event: Document, began: float) -> Document:
    details: Document = event["details"]
    return {
        "at": event["at"],
        "after": _duration(event["after"]),
        "here": f"{event['at'] - began:.1f} s",
        "words": _WORDS[event["kind"]].format(**details),
        "more": details.get("text") or details.get("cause") or "",
        "look": _look(event["kind"], details),
    }


def _look(kind: str, details: Document) -> str:
    said = details.get(_TELLING.get(kind, ""))
    if said in _BAD:
        return "failed"
    return "succeeded" if said in _GOOD or kind == "service" else ""


def _webhooks(cloud: Cloud) -> list[Document]:
    kind = "Microsoft.Automation/automationAccounts/webhooks"
    found = [one["body"] for one in cloud.below(cloud.config.group_id, kind)]
    now = cloud.now().at
    return [
        {
            "name": one["name"],
            "until": seconds_of(one["properties"]["expiryTime"]),
            "expired": seconds_of(one["properties"]["expiryTime"]) <= now,
        }
        for one in found
    ]


def _duration(seconds: float) -> str:
    """Return seconds as people read them: 45 s, 2 min 6 s."""
    whole = round(seconds)
    minutes, rest = divmod(whole, _MINUTE)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
