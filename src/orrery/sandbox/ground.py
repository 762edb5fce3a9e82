"""What every stand-in for a vendor stands on."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field

from starlette.routing import BaseRoute

from orrery.ports.clock import Clock
from orrery.sandbox.faults import Faults
from orrery.sandbox.state import DocumentStore

PING_TOKEN = "gateway_ping_token"  # noqa: S105  the name of a secret


@dataclass(frozen=True, slots=True)
class Service:
    """The service that the sandbox stands beside: its public address, and secrets that stand-ins show it."""

    url: str
    secrets: Mapping[str, str] = field(repr=False)


class MachineSwitch:
    """Whether the gateway's machine runs, for the stand-ins that are on it."""

    def __init__(self) -> None:
        self.running = True
        self.on_change: list[Callable[[], None]] = []
        self.on_answer: list[Callable[[], None]] = []

    def turn(self, *, on: bool) -> None:
        """Start or stop what is on the machine."""
        if on != self.running:
            self.running = on
            for follow in self.on_change:
                follow()

    def answered(self) -> None:
        """Say that the service has taken the first ping since the machine runs."""
        for follow in self.on_answer:
            follow()


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
    machine: MachineSwitch = field(default_factory=MachineSwitch)
    background: list[Callable[[], Coroutine[None, None, None]]] = field(
        default_factory=list[Callable[[], Coroutine[None, None, None]]]
    )


StandIn = Callable[[SandboxGround], Sequence[BaseRoute]]
"""Returns the routes of one vendor."""
