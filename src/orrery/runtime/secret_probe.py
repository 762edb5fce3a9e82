"""The probe of a secret: what a module finds when it tries one that is present."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from orrery.ports.running_service import RunningService

RELOAD = "`orrery secrets reload` has the service take it."
"""What to do when the running service holds another value than the present one."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One observation about a secret; with a `todo` the secret is broken. It has no value and no length."""

    text: str
    todo: str = ""


@dataclass(frozen=True, slots=True)
class ProbeContext:
    """What a probe may use beside the ports and secrets of its module.

    `service` is None where no service of this deployment runs; `password` is the admin password, if it was given.
    """

    service: RunningService | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SecretProbe:
    """The probe of one secret, by its name; it is made only when the secret is present.

    `compares_password`: it compares the secret with the admin password, for which the owner is asked.
    """

    secret: str
    remarks: Callable[[ProbeContext], AsyncIterator[Remark]]
    compares_password: bool = False
