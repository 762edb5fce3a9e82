"""The runbook as the specification has it, for a sandbox that is given no other."""

from collections.abc import Generator
from http import HTTPStatus

from orrery.ports.cloud.machine import LookAtPower, MachineReply, RestartFailed, SignIn, Start, Step, WaitSeconds

POLL_SECONDS, POLLS = 15.0, 16
"""It looks every 15 seconds, for up to four minutes (spec 3, Limits)."""


def bring_back(data: str) -> Generator[Step, MachineReply, str]:
    """Start the machine unless it runs, and wait until it does; what the alert says does not matter."""
    del data
    signed_in = yield SignIn()
    if signed_in.status != HTTPStatus.OK:
        raise RestartFailed("no managed identity")
    seen = yield LookAtPower()
    if seen.status != HTTPStatus.OK:
        raise RestartFailed(f"The look was answered with {seen.status}.")
    if seen.power == "running":
        return "already running"
    asked = yield Start()
    if asked.status != HTTPStatus.ACCEPTED:
        raise RestartFailed(f"The start was answered with {asked.status}.")
    for _ in range(POLLS):
        _ = yield WaitSeconds(POLL_SECONDS)
        seen = yield LookAtPower()
        if seen.power == "running":
            return "running again"
    raise RestartFailed("The machine does not run after four minutes.")
