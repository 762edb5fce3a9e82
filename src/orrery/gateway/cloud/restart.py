"""What starts the gateway's machine again, as `files/runbook.ps1` does it: both hold the same table of cases.

An alert is a hint. One that can be read and gives no reason to act ends the run, but only after a look: so a test
shows that the machine can be seen. What cannot be read leads to a look, and to a start when that is needed.

The sign-in, each look and each start are tried again at the next poll, but for what cannot help itself.
"""

import re
from collections.abc import Generator
from http import HTTPStatus

from orrery.ports.cloud.machine import (
    LookAtPower,
    MachineReply,
    Power,
    RestartFailed,
    SignIn,
    Start,
    Step,
    WaitSeconds,
)

POLL_SECONDS = 15
"""Between two looks (spec 3, Limits: runbook poll)."""

MOST_SECONDS = 240
"""For how long it is looked whether the machine runs: 4 minutes (spec 3, Limits)."""

LONGEST_REASON = 200
"""Characters of what went wrong, in the sentence of a run that failed."""

TEST = "this is a test"
"""The output of a run that a test has started."""

TEST_MESSAGE = (
    '{"schemaId": "orrery-test", "data": {"title": "It\'s a \\"test\\"; {not}\\r\\nan alert: \U0001f514"}}'
)
"""What is posted to the webhook to see that it leads to a look. Its title has what breaks bodies on their way."""

_TIME = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3])(:[0-5]\d){2}Z", re.ASCII)
_SOURCE = "(category|eventSource)"
_ON_THE_WAY: frozenset[Power] = frozenset({"starting", "stopping", "deallocating"})
_ACCEPTED = frozenset({HTTPStatus.OK, HTTPStatus.ACCEPTED})
_CANNOT_HELP_ITSELF = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
_REFUSED = (
    "The cloud refused: the identity of the runbook, or its role on the machine, is missing. "
    "Create them again: type `orrery gateway cloud apply`."
)
_GONE = (
    "The machine was not found: it was moved, renamed or deleted. "
    "Correct its id in the settings, then type `orrery gateway cloud apply`."
)
_NO_TIME = " The tag orrery-paused-until holds no time: it pauses nothing."


def restart(webhook_data: str, vm_id: str) -> Generator[Step, MachineReply, str]:
    """Start the machine when the alert, or one that cannot be read, gives reason to; raise `RestartFailed`."""
    idle = _why_idle(webhook_data.replace("\\", ""), vm_id)
    power, remark, trouble, signed_in, started = "unknown", "", "", False, False
    for seconds in range(0, MOST_SECONDS + 1, POLL_SECONDS):
        if seconds:
            _ = yield WaitSeconds(POLL_SECONDS)
        if not signed_in and (trouble := _trouble("sign in", (yield SignIn()))):
            continue
        signed_in = True
        seen = yield LookAtPower()
        if trouble := _trouble("look at the machine", seen):
            continue
        power = seen.power
        if idle:
            return f"Nothing to do: {idle}. The machine is {power}."
        if power == "running":
            return f"{_RUNNING[started]}{remark}"
        if seen.pause and not _TIME.fullmatch(seen.pause):
            remark = _NO_TIME
        elif seen.pause > f"{seen.at:%Y-%m-%dT%H:%M:%SZ}":
            return f"The restart is paused until {seen.pause}: the machine stays {power}."
        if power not in _ON_THE_WAY:
            trouble = _trouble("start the machine", (yield Start()))
            started = started or not trouble
    raise RestartFailed(
        f"The machine was not seen running within 4 min: it is {power}{trouble}. "
        f"Look at its activity log, then type `orrery gateway start`.{remark}"
    )


_RUNNING = {
    True: "The machine was started, and is running.",
    False: "The machine is already running: nothing to do.",
}


def _trouble(step: str, reply: MachineReply) -> str:
    """Return what went wrong and may pass, or nothing; raise `RestartFailed` for what cannot help itself."""
    if reply.status == HTTPStatus.NOT_FOUND and step != "sign in":
        raise RestartFailed(_GONE)
    if reply.status in _CANNOT_HELP_ITSELF:
        raise RestartFailed(_REFUSED)
    if reply.status in _ACCEPTED:
        return ""
    why = " ".join(reply.why.split()) or f"Status: {reply.status}"
    return f" (the attempt to {step} failed: {why[:LONGEST_REASON]})"


def _why_idle(alert: str, vm_id: str) -> str:
    """Return why an alert is none to act on, and nothing when it is or cannot be read."""
    if _has(alert, "schemaId", "orrery-test"):
        return TEST
    if not (_has(alert, "status", r"\w+") and _has(alert, "resourceId", r"/\S+")):
        return ""
    if not _has(alert, "resourceId", re.escape(vm_id)):
        return "the alert names another machine"
    if not _has(alert, "status", "Activated"):
        return "the alert is not activated"
    return "" if _is_unavailable(alert) or _is_deallocated(alert) else "the alert reports no shutdown"


def _is_unavailable(alert: str) -> bool:
    return _has(alert, _SOURCE, "ResourceHealth") and _has(alert, "currentHealthStatus", "Unavailable")


def _is_deallocated(alert: str) -> bool:
    return (
        _has(alert, _SOURCE, "Administrative")
        and _has(alert, "operationName", r"[\w./]+/deallocate/action")
        and _has(alert, "status", "Succeeded")
    )


def _has(alert: str, name: str, value: str) -> bool:
    """Return whether a field has a value, at any place, and with or without its quotes."""
    field = rf"(?<![a-z]){name}[\"'\s]*[:=][\"'\s]*{value}([\"'\s,;}}]|$)"
    return re.search(field, alert, re.IGNORECASE) is not None
