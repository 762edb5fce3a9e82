"""What every stand-in for a vendor stands on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.routing import BaseRoute

from orrery.ports.clock import Clock
from orrery.sandbox.faults import Faults
from orrery.sandbox.state import DocumentStore


@dataclass(frozen=True, slots=True)
class SandboxGround:
    """The state and the clock that all stand-ins share, the faults that a test asks for, and the address."""

    state: DocumentStore
    clock: Clock
    faults: Faults
    base_url: str


StandIn = Callable[[SandboxGround], Sequence[BaseRoute]]
"""Returns the routes of one vendor."""
