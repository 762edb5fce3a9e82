"""Fraud screening as one piece: its services over the ports that it is given, and its jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_network

from orrery.fraud.incidents import IncidentLog, read_incidents
from orrery.fraud.operations import ListOperations
from orrery.fraud.reading import AddressOf, ClusterReader
from orrery.fraud.screening import Screening
from orrery.fraud.watch import EVERY, FraudWatch
from orrery.owner.approvals import Approvals, Operation
from orrery.owner.workers import Job
from orrery.ports.clock import Clock
from orrery.ports.panels import Panel
from orrery.ports.processor import ProcessorReads, ProcessorWrites
from orrery.ports.store import Store


@dataclass(frozen=True, slots=True)
class FraudPlan:
    """The settings of a deployment's fraud screening. `own_addresses` are networks that are never blocked."""

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
        self._plan = plan
        self._approvals = approvals
        self._operations = ListOperations(reads, writes)
        self.reading = ClusterReader(store, clock, reads, address_of)
        self.screening = Screening(reads, approvals, self.reading, [ip_network(one) for one in plan.own_addresses])
        self.watch = FraudWatch(store, clock, self.reading, watches=plan.watches)

    def operations(self) -> list[Operation]:
        """Return what may be done at the processor with an approval."""
        return self._operations.both()

    async def incident_log(self) -> IncidentLog:
        """Return the incident log, the newest incident first."""
        return await read_incidents(self._approvals)

    async def panel(self) -> Panel:
        """Return what the owner's page shows."""
        return await self.watch.panel()

    def jobs(self) -> list[Job]:
        return [Job(FraudWatch.JOB, EVERY, self.watch.run)] if self._plan.watches else []
