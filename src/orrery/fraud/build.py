"""Fraud screening as one piece: its services over the ports that it is given, and its jobs."""

from collections.abc import Sequence
from ipaddress import ip_network

from orrery.approvals.approvals import Approvals
from orrery.fraud.incidents import IncidentLog, read_incidents
from orrery.fraud.operations import ListOperations
from orrery.fraud.reading import AddressOf, ClusterReader
from orrery.fraud.records import last_search
from orrery.fraud.screening import Screening
from orrery.fraud.settings import FraudSettings
from orrery.fraud.watch import EVERY, PART, FraudWatch
from orrery.ports.clock import Clock
from orrery.ports.panels import PanelSource
from orrery.ports.processor import ProcessorReads, ProcessorWrites
from orrery.ports.seller import Seller
from orrery.ports.store import Store
from orrery.runtime.jobs import Job
from orrery.runtime.parts import Parts
from orrery.runtime.runtime import Runtime
from orrery.runtime.settings import ServerSettings


class FraudDomain:
    """Every service of fraud screening, wired."""

    def __init__(  # noqa: PLR0913  the wiring of a domain names each of its ports
        self,
        store: Store,
        clock: Clock,
        reads: ProcessorReads,
        writes: ProcessorWrites,
        approvals: Approvals,
        address_of: AddressOf,
        *,
        watches: bool,
        own_addresses: Sequence[str],
    ) -> None:
        """`own_addresses` are networks that are never blocked."""
        self._watches = watches
        self._store, self._clock = store, clock
        self._approvals = approvals
        self._operations = ListOperations(reads, writes)
        self.reading = ClusterReader(store, clock, reads, address_of)
        self.screening = Screening(reads, approvals, self.reading, [ip_network(one) for one in own_addresses])
        self.watch = FraudWatch(store, clock, self.reading, watches=watches)

    def parts(self) -> Parts:
        """Return what fraud screening brings."""
        return Parts(
            module="fraud",
            jobs=[Job(FraudWatch.JOB, EVERY, self.watch.run)] if self._watches else [],
            panels=[PanelSource("Fraud clusters", self.watch.panel, 70, (PART,))],
            checks=[self.watch.findings],
            operations=self._operations.both(),
            unreadable=[last_search(self._store, self._clock).unreadable],
            offers={FraudDomain: self},
        )

    async def incident_log(self) -> IncidentLog:
        """Return the incident log, the newest incident first."""
        return await read_incidents(self._approvals)


def build(runtime: Runtime) -> Parts:
    """Return fraud screening: a deployment that sells something watches for clusters."""
    seller = runtime.need(Seller)
    fraud = FraudDomain(
        runtime.store,
        runtime.clock,
        runtime.port(ProcessorReads),
        runtime.port(ProcessorWrites),
        runtime.need(Approvals),
        seller.address_of,
        watches=seller.sells,
        own_addresses=own_addresses(runtime),
    )
    return fraud.parts()


def own_addresses(runtime: Runtime) -> tuple[str, ...]:
    """Return the networks that are never blocked: the owner's, and the trusted proxies."""
    return (*runtime.section(FraudSettings).own_addresses, *runtime.section(ServerSettings).trusted_proxies)
