"""What every stand-in for a vendor stands on."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field

from starlette.routing import BaseRoute

from orrery.ports.clock import Clock
from orrery.sandbox.faults import Faults
from orrery.sandbox.state import DocumentStore


@dataclass(frozen=True, slots=True)
class Service:
    """The service that the sandbox stands beside: its public address, and secrets that stand-ins show it."""

    url: str
    secrets: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class SandboxGround:
    """The state and the clock that all stand-ins share, the faults that a test asks for, and the address.

    `service` is None where the sandbox stands alone. What a stand-in does by itself it adds to `background`: the
    sandbox runs that until it ends.
    """

    state: DocumentStore
    clock: Clock
    faults: Faults
    base_url: str
    service: Service | None = None
    background: list[Callable[[], Coroutine[None, None, None]]] = field(
        default_factory=list[Callable[[], Coroutine[None, None, None]]]
    )


StandIn = Callable[[SandboxGround], Sequence[BaseRoute]]
"""Returns the routes of one vendor."""
