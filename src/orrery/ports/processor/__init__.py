"""The payment processor, as a port: the operations of spec 1's table.

Three roles: the operations of selling, the reads, and the writes that need an approval. No operation here creates
or refunds a charge, so Orrery cannot (decision 16, change rule 4).
"""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Protocol

from orrery.ports.processor.errors import ItemUnreadable, ProcessorError, ProcessorRefused, ProcessorUnreachable
from orrery.ports.processor.values import (
    BRANDING,
    Balance,
    Charge,
    ChargeEvent,
    CheckoutSession,
    Configuration,
    Customer,
    Dispute,
    EventSummary,
    ListEntry,
    Parameter,
    Parameters,
    PartialEvent,
    PaymentStatus,
    Price,
    ProcessorAccount,
    ProcessorEvent,
    Review,
    SessionStatus,
    Unneeded,
    ValueList,
    WebhookEndpoint,
    split_unreadable,
)

__all__ = [
    "BRANDING",
    "Balance",
    "Charge",
    "ChargeEvent",
    "CheckoutSession",
    "Configuration",
    "Customer",
    "Dispute",
    "EventReader",
    "EventSummary",
    "ItemUnreadable",
    "ListEntry",
    "Parameter",
    "Parameters",
    "PartialEvent",
    "PaymentStatus",
    "Price",
    "Processor",
    "ProcessorAccount",
    "ProcessorError",
    "ProcessorEvent",
    "ProcessorReads",
    "ProcessorRefused",
    "ProcessorUnreachable",
    "ProcessorWrites",
    "Review",
    "SessionStatus",
    "Unneeded",
    "ValueList",
    "WebhookEndpoint",
    "split_unreadable",
]


class Processor(Protocol):
    """What selling asks of the payment processor.

    Every method of these three raises `ProcessorRefused`, `ProcessorUnreachable` or `NotConfigured`; `deadline`
    is in seconds and bounds the whole call. A list yields `ItemUnreadable` in the place of an object that is not
    as documented, and goes on.
    """

    async def create_session(
        self, parameters: Parameters, *, idempotency_key: str, deadline: float, api_version: str | None = None
    ) -> CheckoutSession:
        """Create a hosted payment session, in the configured version or another: one call, no repeats."""
        ...

    async def get_session(self, session_id: str) -> CheckoutSession:
        """Return one session with its line items' prices."""
        ...

    def list_completed_sessions(self, since: datetime) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield every completed session created at or after `since`, newest first, with prices."""
        ...

    def list_expired_sessions(self, since: datetime) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield every expired session created at or after `since`, newest first, without prices."""
        ...

    def list_charges_of(self, payment_intent: str) -> AsyncIterator[Charge | ItemUnreadable]:
        """Yield the charges of one payment, newest first: each attempt to pay is one."""
        ...

    async def get_account(self) -> ProcessorAccount:
        """Return the account that the key belongs to."""
        ...

    def list_webhook_endpoints(self) -> AsyncIterator[WebhookEndpoint | ItemUnreadable]:
        """Yield the account's webhook endpoints."""
        ...


class ProcessorReads(Protocol):
    """The owner's reads. Lists yield all objects, or those created at or after `since`, newest first."""

    def page_of_payment(self, payment_intent: str, *, livemode: bool) -> str | None:
        """Return the address at which the owner sees a payment in a browser, or None at a stand-in."""
        ...

    def list_sessions(
        self, since: datetime | None = None, *, payment_intent: str | None = None
    ) -> AsyncIterator[CheckoutSession | ItemUnreadable]:
        """Yield sessions in any state, with prices: those created since, or the one of a payment."""
        ...

    async def get_session(self, session_id: str) -> CheckoutSession:
        """Return one session with its line items' prices."""
        ...

    def list_charges(self, since: datetime) -> AsyncIterator[Charge | ItemUnreadable]:
        """Yield every charge created at or after `since`, newest first."""
        ...

    def list_customers(
        self, email: str | None = None, *, since: datetime | None = None
    ) -> AsyncIterator[Customer | ItemUnreadable]:
        """Yield buyer records: all, or those of an address, which the processor compares exactly."""
        ...

    def list_reviews(self, since: datetime | None = None) -> AsyncIterator[Review | ItemUnreadable]:
        """Yield the reviews that are open."""
        ...

    async def get_balance(self) -> Balance: ...

    async def get_account(self) -> ProcessorAccount:
        """Return the account that the key belongs to."""
        ...

    def list_configurations(self) -> AsyncIterator[Configuration | ItemUnreadable]:
        """Yield the payment method configurations."""
        ...

    def list_prices(
        self, *, active: bool | None = None, since: datetime | None = None
    ) -> AsyncIterator[Price | ItemUnreadable]: ...

    async def first_active_price(self) -> Price | None:
        """Return one active price, or None (`GET /v1/prices?limit=1&active=true`)."""
        ...

    def list_value_lists(self, since: datetime | None = None) -> AsyncIterator[ValueList | ItemUnreadable]:
        """Yield the fraud screening's lists."""
        ...

    def list_entries(
        self, list_id: str, value: str | None = None, *, since: datetime | None = None
    ) -> AsyncIterator[ListEntry | ItemUnreadable]:
        """Yield the entries of a list: all, or those with this value."""
        ...

    def list_events(
        self, since: datetime | None = None, *, undelivered: bool = False
    ) -> AsyncIterator[EventSummary | ItemUnreadable]:
        """Yield the events of the last 30 days at most, or those with a delivery that was not accepted."""
        ...

    def list_charge_events(self, since: datetime) -> AsyncIterator[ChargeEvent | ItemUnreadable]:
        """Yield refunds, and disputes opened and closed, of at most 30 days, whatever the charge's age."""
        ...

    async def get_event(self, event_id: str) -> bytes:
        """Return one event as its webhook's body would be."""
        ...

    async def first_unneeded(self, kind: Unneeded) -> None:
        """Ask for one object of a kind that nothing here needs: a restricted key should be refused."""
        ...


class ProcessorWrites(Protocol):
    """What changes something at the processor: only an approved intent may come here (change rule 4).

    A repeat under the same `idempotency_key` is answered as the first time.
    """

    async def expire_session(self, session_id: str, *, idempotency_key: str) -> CheckoutSession: ...

    async def add_entry(self, list_id: str, value: str, *, idempotency_key: str) -> ListEntry:
        """Add an entry to a fraud screening list."""
        ...

    async def remove_entry(self, entry_id: str) -> None: ...

    async def create_configuration(
        self, name: str, methods: Mapping[str, bool], *, parent: str | None, idempotency_key: str
    ) -> Configuration: ...

    async def update_configuration(
        self,
        configuration_id: str,
        methods: Mapping[str, bool],
        *,
        name: str | None,
        active: bool | None,
        idempotency_key: str,
    ) -> Configuration:
        """Change a configuration; values that are not named stay."""
        ...

    async def update_account(self, branding: Mapping[str, str]) -> ProcessorAccount:
        """Change account-level branding by the names of `BRANDING` (decision 17)."""
        ...


class EventReader(Protocol):
    """Reads a webhook body whose signature has been found good; needs no key and no network."""

    def __call__(self, body: bytes) -> ProcessorEvent | PartialEvent:
        """Return the event, or what could be read of a body that is not one."""
        ...
