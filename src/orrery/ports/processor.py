"""The payment processor, as a port: the operations of spec 1's table, in our words.

No operation here creates or refunds a charge, so nothing can (decision 16, change rule 4).
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

SessionStatus = Literal["open", "complete", "expired"]
PaymentStatus = Literal["paid", "unpaid", "no_payment_required"]

Parameter = str | int | bool | list["Parameter"] | dict[str, "Parameter"]
Parameters = dict[str, Parameter]
"""Session parameters by the names of spec 1, "Session parameters sent to the processor", nested."""


@dataclass(frozen=True, slots=True)
class CheckoutSession:
    """A hosted payment session as the processor reports it.

    `amount_total` is in the currency's smallest unit. `price_ids` is None where the line items were not part
    of the report (webhooks never carry them). `consent` is the answer to the marketing-consent field.
    """

    id: str
    status: SessionStatus
    payment_status: PaymentStatus
    created: datetime
    livemode: bool
    url: str | None = None
    amount_total: int | None = None
    currency: str | None = None
    email: str | None = None
    payment_intent: str | None = None
    price_ids: tuple[str, ...] | None = None
    consent: bool | None = None
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    payment_method_types: tuple[str, ...] = ()
    three_d_secure: str | None = None
    submit_message: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A webhook event: `session` is set when its object is a checkout session."""

    id: str
    type: str
    created: datetime
    livemode: bool
    api_version: str | None
    session: CheckoutSession | None


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge as far as access depends on it; amounts in the currency's smallest unit."""

    id: str
    created: datetime
    payment_intent: str | None
    amount: int
    amount_refunded: int
    currency: str
    paid: bool
    disputed: bool


@dataclass(frozen=True, slots=True)
class WebhookEndpoint:
    """A webhook endpoint of the account."""

    id: str
    url: str
    api_version: str | None
    enabled: bool
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Account:
    """The account that the key belongs to."""

    id: str
    default_currency: str | None
    country: str | None


class Processor(Protocol):
    """What may be asked of the payment processor.

    Every method raises `ProcessorRefused`, `ProcessorUnreachable` or `NotConfigured`; `deadline` is in seconds
    and bounds the whole call.
    """

    async def create_session(
        self, parameters: Parameters, *, idempotency_key: str, deadline: float
    ) -> CheckoutSession:
        """Create a hosted payment session: one call, no repeats."""
        ...

    async def get_session(self, session_id: str) -> CheckoutSession:
        """Return one session with its line items' prices."""
        ...

    def list_completed_sessions(self, since: datetime) -> AsyncIterator[CheckoutSession]:
        """Yield every completed session created at or after `since`, newest first, with prices."""
        ...

    def list_charges(self, since: datetime) -> AsyncIterator[Charge]:
        """Yield every charge created at or after `since`, newest first."""
        ...

    async def get_account(self) -> Account:
        """Return the account that the key belongs to."""
        ...

    async def list_webhook_endpoints(self) -> list[WebhookEndpoint]:
        """Return the account's webhook endpoints."""
        ...


class EventReader(Protocol):
    """Reads a webhook body whose signature has been found good; needs no key and no network."""

    def __call__(self, body: bytes) -> Event:
        """Return the event, or raise `Invalid` when the body is not one."""
        ...
