"""The payment processor's adapters: one connection serves them all."""

from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.objects import read_event
from orrery.adapters.stripe.reads import StripeReads
from orrery.adapters.stripe.sales import StripeProcessor
from orrery.adapters.stripe.writes import StripeWrites
from orrery.app.adapters import Adapters
from orrery.checkout.settings import CheckoutSettings
from orrery.ports.processor import EventReader, Processor, ProcessorReads, ProcessorWrites


def connection(adapters: Adapters) -> StripeConnection:
    checkout = adapters.settings[CheckoutSettings]
    return StripeConnection(
        adapters.secrets.reveal("processor_api_key"),
        base_url=checkout.processor_url,
        api_version=checkout.api_version,
        trust=adapters.trust,
    )


def processor(adapters: Adapters) -> Processor:
    return StripeProcessor(adapters.once(connection))


def reads(adapters: Adapters) -> ProcessorReads:
    return StripeReads(adapters.once(connection))


def writes(adapters: Adapters) -> ProcessorWrites:
    return StripeWrites(adapters.once(connection))


def event_reader(_: Adapters) -> EventReader:
    return read_event
