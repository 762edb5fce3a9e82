"""The runbook as the specification has it, for a sandbox that is given no other."""

from collections.abc import Generator
from http import HTTPStatus

from orrery.ports.cloud.machine import LookStep, RestartFailed, SignIn, StartStep, Step, StepReply, WaitStep

POLL_SECONDS, POLLS = 15.0, 16
"""It looks every 15 seconds, for up to four minutes (spec 3, Limits)."""


def bring_back(data: str) -> Generator[Step, StepReply, str]:
    """Start the machine unless it runs, and wait until it does; what the alert says does not matter."""
    del data
    signed_in = yield SignIn()
    if signed_in.status != HTTPStatus.OK:
        raise RestartFailed("no managed identity")
    seen = yield LookStep()
    if seen.status != HTTPStatus.OK:
        raise RestartFailed(f"The look was answered with {seen.status}.")
    if seen.power == "running":
        return "already running"
    asked = yield StartStep()
    if asked.status != HTTPStatus.ACCEPTED:
        raise RestartFailed(f"The start was answered with {asked.status}.")
    for _ in range(POLLS):
        _ = yield WaitStep(POLL_SECONDS)
        seen = yield LookStep()
        if seen.power == "running":
            return "running again"
    raise RestartFailed("The machine does not run after four minutes.")
