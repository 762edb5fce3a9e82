"""The parts of fraud screening, from its settings."""

from orrery.approvals.approvals import Approvals
from orrery.fraud.domain import FraudDomain, FraudPlan
from orrery.fraud.settings import FraudSettings
from orrery.ports.processor import ProcessorReads, ProcessorWrites
from orrery.ports.seller import Seller
from orrery.runtime.parts import Parts
from orrery.runtime.runtime import Runtime
from orrery.runtime.settings import Server


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
        FraudPlan(seller.sells, own_addresses(runtime)),
    )
    return fraud.parts()


def own_addresses(runtime: Runtime) -> tuple[str, ...]:
    """Return the networks that are never blocked: the owner's, and the trusted proxies."""
    return (*runtime.section(FraudSettings).own_addresses, *runtime.section(Server).trusted_proxies)
