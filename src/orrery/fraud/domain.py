"""Fraud screening as one piece: its services over the ports that it is given, and its jobs."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from orrery.owner.approvals import Approvals, Operation
from orrery.owner.workers import Job
from orrery.ports.clock import Clock
from orrery.ports.processor import ProcessorReads, ProcessorWrites
from orrery.ports.store import Store

AddressOf = Callable[[str], Awaitable[str | None]]
"""Returns the client address that asked for the session of a payment intent, or None."""


@dataclass(frozen=True, slots=True)
class FraudPlan:
    """What a deployment says about its fraud screening. `own_addresses` are networks that are never blocked."""

    watches: bool
    own_addresses: Sequence[str]


class FraudDomain:
    """Every service of fraud screening, wired."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        reads: ProcessorReads,
        writes: ProcessorWrites,
        approvals: Approvals,
        address_of: AddressOf,
        plan: FraudPlan,
    ) -> None:
        del store, clock, reads, writes, approvals, address_of
        self._plan = plan

    def operations(self) -> list[Operation]:
        """Return what may be done at the processor with an approval."""
        return []

    def jobs(self) -> list[Job]:
        """Return what repeats."""
        return []
