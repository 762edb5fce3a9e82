"""Fraud screening as one piece: its services over the ports that it is given, and its jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_network

from orrery.approvals.approvals import Approvals
from orrery.fraud.incidents import IncidentLog, read_incidents
from orrery.fraud.operations import ListOperations
from orrery.fraud.reading import AddressOf, ClusterReader
from orrery.fraud.records import last_search
from orrery.fraud.screening import Screening
from orrery.fraud.watch import EVERY, FraudWatch
from orrery.ports.clock import Clock
from orrery.ports.panels import PanelSource
from orrery.ports.processor import ProcessorReads, ProcessorWrites
from orrery.ports.store import Store
from orrery.runtime.jobs import Job
from orrery.runtime.parts import Parts


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
        self._store, self._clock = store, clock
        self._approvals = approvals
        self._operations = ListOperations(reads, writes)
        self.reading = ClusterReader(store, clock, reads, address_of)
        self.screening = Screening(reads, approvals, self.reading, [ip_network(one) for one in plan.own_addresses])
        self.watch = FraudWatch(store, clock, self.reading, watches=plan.watches)

    def parts(self) -> Parts:
        """Return what fraud screening brings."""
        return Parts(
            module="fraud",
            jobs=[Job(FraudWatch.JOB, EVERY, self.watch.run)] if self._plan.watches else [],
            panels=[PanelSource("Fraud clusters", self.watch.panel, 70)],
            operations=self._operations.both(),
            unreadable=[last_search(self._store, self._clock).unreadable],
            offers={FraudDomain: self},
        )

    async def incident_log(self) -> IncidentLog:
        """Return the incident log, the newest incident first."""
        return await read_incidents(self._approvals)
