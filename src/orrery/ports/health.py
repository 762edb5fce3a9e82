"""The findings of checks, for `readyz` and `orrery doctor`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

PartState = Literal["ok", "broken", "off"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one part, the reason, and what to do. `off`: the part is not configured.

    The service is not ready while an `essential` part is broken: each check decides whether its part is one. What
    only a command looks at is not. `told`: another push reports it. `cause` names the part that this one follows
    from: while both are broken it is one fault, with a push about the cause only. `settled`: the part has judged
    its state over time, so that pushes about its beginning and its end need no further wait. `early`: the part is
    broken, and not for long enough for a push. `urgent`: its push is urgent, though the service is ready without
    the part. `of_settings`: it follows from the settings and the secrets: the service logs it at its start, and
    `orrery config check` shows it before.
    """

    part: str
    state: PartState
    why: str = ""
    todo: str = ""
    essential: bool = field(kw_only=True)
    told: bool = False
    cause: str = ""
    settled: bool = False
    early: bool = False
    urgent: bool = False
    of_settings: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """The findings of one check of all parts, and the time of its end."""

    at: datetime
    findings: Sequence[Finding]


def secret_part(name: str) -> str:
    """Return the name of a secret's part in findings."""
    return f"secret {name}"
