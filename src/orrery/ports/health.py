"""What is well and what is not: for `readyz` and `doctor`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

State = Literal["ok", "broken", "off"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One part: how it is, why, and what to do. `off` is a part that nobody configured.

    `essential` parts are those without which the service must not be asked: they decide about `readyz`.
    `told`: another push tells the owner of it. `cause` names the part that this follows from: while that is broken
    as well, it is one fault, and the owner hears of that part only. `settled`: it was judged over time already, so
    that the owner hears of its beginning and of its end at the first look.
    """

    part: str
    state: State
    why: str = ""
    todo: str = ""
    essential: bool = True
    told: bool = False
    cause: str = ""
    settled: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """What a look at every part found, and when it ended."""

    at: datetime
    findings: Sequence[Finding]


def secret_part(name: str) -> str:
    """Return what the findings call a secret."""
    return f"secret {name}"
