"""The gateway's machine as the cloud shows it, and the steps by which it is started again.

Steps are plain data: the same order of steps is taken over the cloud's API, inside the sandbox and in the tests.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Power = Literal["running", "starting", "stopping", "stopped", "deallocating", "deallocated", "unknown"]
"""The power state of the machine (instance view, `PowerState/…`)."""


@dataclass(frozen=True, slots=True)
class SignIn:
    """Sign in, so that the cloud can be asked."""


@dataclass(frozen=True, slots=True)
class LookAtPower:
    """Read the power state and the tags of the machine."""


@dataclass(frozen=True, slots=True)
class Start:
    """Ask the cloud to start the machine."""


@dataclass(frozen=True, slots=True)
class WaitSeconds:
    """Wait for some seconds."""

    seconds: float


Step = SignIn | LookAtPower | Start | WaitSeconds


@dataclass(frozen=True, slots=True)
class MachineReply:
    """What a step was answered: the HTTP status and, after a `LookAtPower` with 200, what was seen `at` that time.

    `status` is 0 without a readable answer, and `why` is the reason in words. `pause` is the text of the tag by
    which an operator pauses the restart; it is empty without one.
    """

    status: int
    at: datetime
    power: Power = "unknown"
    pause: str = ""
    why: str = ""


class RestartFailed(Exception):
    """The machine was not brought back: one sentence gives the reason, and what to do."""


Restart = Callable[[str], Generator[Step, MachineReply, str]]
"""Takes the body of an alert, yields steps, is sent a reply to each, and returns a sentence about what was done.

Raises `RestartFailed`, which the cloud shows as a failed job.
"""
