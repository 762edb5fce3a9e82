"""The parts of the checkout, from its settings and secrets."""

from orrery.approvals.approvals import Approvals
from orrery.checkout.access.notifications import Notifications
from orrery.checkout.domain import CheckoutDomain, CheckoutPlan
from orrery.checkout.settings import CheckoutSettings
from orrery.edge.ratelimit import Limit
from orrery.ports.processor import EventReader, Processor, ProcessorReads, ProcessorWrites
from orrery.runtime.parts import Parts
from orrery.runtime.runtime import Runtime
from orrery.runtime.settings import Server


def build(runtime: Runtime) -> Parts:
    """Return the checkout over its ports."""
    checkout = CheckoutDomain(
        runtime.store,
        runtime.clock,
        runtime.port(Processor),
        runtime.port(ProcessorReads),
        runtime.port(ProcessorWrites),
        runtime.need(Approvals),
        runtime.port(EventReader),
        plan(runtime),
        runtime.tasks,
        index_key=runtime.index_key,
    )
    return checkout.parts()


def plan(runtime: Runtime) -> CheckoutPlan:
    """Return the plan of the checkout."""
    checkout = runtime.section(CheckoutSettings)
    catalogue = checkout.catalogue()
    return CheckoutPlan(
        catalogue=catalogue,
        terms=checkout.terms(),
        notifications=Notifications(checkout.seller, checkout.practice_url, catalogue),
        livemode=runtime.mode == "live",
        api_version=checkout.api_version,
        has_api_key=runtime.secret("processor_api_key") is not None,
        signing_secrets=runtime.secret_values("webhook_signing_secret"),
        service_tokens=runtime.secret_values("access_service_token"),
        limits=(Limit(checkout.sessions_per_minute, 60), Limit(checkout.sessions_per_hour, 3600)),
        read_limit=Limit(checkout.access_reads_per_minute, 60),
        ipv6_site_factor=checkout.ipv6_site_factor,
        revoke_on_refund=checkout.revoke_on_refund,
        trusted_proxies=runtime.section(Server).trusted_proxies,
    )
