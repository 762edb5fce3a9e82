"""The values of the processor port: sessions, charges, events and others."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeVar

from orrery.ports.processor.errors import ItemUnreadable

SessionStatus = Literal["open", "complete", "expired"]
PaymentStatus = Literal["paid", "unpaid", "no_payment_required"]
Unneeded = Literal["invoices", "payouts", "subscriptions"]
"""Objects that Orrery does not need: it asks for them only to check that a restricted key may not read them."""

Item = TypeVar("Item")

Parameter = str | int | bool | list["Parameter"] | dict[str, "Parameter"]
Parameters = dict[str, Parameter]
"""Session parameters by the names of spec 1, "Session parameters sent to the processor", nested."""


@dataclass(frozen=True, slots=True)
class CheckoutSession:
    """A hosted payment session as the processor reports it.

    `amount_total` is in the currency's smallest unit. `price_ids` is None where the line items were not part
    of the report (webhooks never carry them), and so are `quantities`. `consent` is the answer to the
    marketing-consent field.
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
    quantities: tuple[int, ...] | None = None
    success_url: str | None = None
    cancel_url: str | None = None
    mode: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ProcessorEvent:
    """A webhook event: `session` is set when its object is a checkout session that could be read.

    `unread` names the fields of a session that could not.
    """

    id: str
    type: str
    created: datetime
    livemode: bool
    api_version: str | None
    session: CheckoutSession | None
    object_id: str | None = None
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartialEvent:
    """What could be read of a webhook body that is not an event as documented; `unread` names what could not."""

    id: str | None
    type: str | None
    object_id: str | None
    unread: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge; amounts in the currency's smallest unit.

    `status` is succeeded, pending or failed; `decline` why it failed; `network_status`, `risk` and `message` are
    of the processor's outcome; `wallet` is the device wallet over the card; `three_d_secure` its result. The
    processor gives no client address here (decision 18).
    """

    id: str
    created: datetime
    payment_intent: str | None
    amount: int
    amount_refunded: int
    currency: str
    paid: bool
    disputed: bool
    status: str = ""
    decline: str | None = None
    network_status: str | None = None
    risk: str | None = None
    message: str | None = None
    method: str | None = None
    wallet: str | None = None
    three_d_secure: str | None = None
    card_fingerprint: str | None = None
    email: str | None = None


@dataclass(frozen=True, slots=True)
class Dispute:
    """A payment that the buyer's bank contests, or asks about; `amount` in the currency's smallest unit.

    `status` is the processor's: `needs_response`, `under_review`, `won`, `lost`, or one of these after `warning_`
    while the bank only asks. `respond_by` is the deadline for an answer, or None.
    """

    id: str
    charge: str
    payment_intent: str | None
    amount: int
    currency: str
    status: str
    respond_by: datetime | None = None


@dataclass(frozen=True, slots=True)
class ChargeEvent:
    """A refund, with the charge as it was after it, or a dispute that was opened, took the money, or was closed.

    `reported` is False of a charge that was read by itself: `created` is the charge's time then.
    """

    created: datetime
    subject: Charge | Dispute
    reported: bool = True


@dataclass(frozen=True, slots=True)
class WebhookEndpoint:
    """A webhook endpoint of the account."""

    id: str
    url: str
    api_version: str | None
    enabled: bool
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProcessorAccount:
    """The account that the key belongs to; `branding` holds what `BRANDING` names, as far as it is set."""

    id: str
    default_currency: str | None
    country: str | None
    branding: Mapping[str, str | None] = field(default_factory=dict[str, str | None])


BRANDING = (
    "business_profile.name",
    "business_profile.support_email",
    "business_profile.support_url",
    "business_profile.url",
    "settings.branding.icon",
    "settings.branding.logo",
    "settings.branding.primary_color",
    "settings.branding.secondary_color",
    "settings.payments.statement_descriptor",
)
"""The account-level fields that buyers see (spec 1, What the service does 4)."""


@dataclass(frozen=True, slots=True)
class Customer:
    """A buyer record."""

    id: str
    created: datetime
    email: str | None
    name: str | None


@dataclass(frozen=True, slots=True)
class Review:
    """A payment that waits for a review; `client_address` is the buyer's, when it is known."""

    id: str
    created: datetime
    open: bool
    reason: str
    charge: str | None
    payment_intent: str | None
    client_address: str | None


@dataclass(frozen=True, slots=True)
class Balance:
    """The account's balance, in the smallest unit of each currency."""

    available: Mapping[str, int]
    pending: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Configuration:
    """A payment method configuration; `methods`: whether each slug is on."""

    id: str
    name: str
    is_default: bool
    active: bool
    parent: str | None
    methods: Mapping[str, bool]

    @property
    def enabled(self) -> tuple[str, ...]:
        """Return the slugs that are on."""
        return tuple(sorted(slug for slug, on in self.methods.items() if on))


@dataclass(frozen=True, slots=True)
class Price:
    """A price; the amount in the currency's smallest unit."""

    id: str
    active: bool
    amount: int | None
    currency: str
    product: str | None


@dataclass(frozen=True, slots=True)
class ValueList:
    """A list of the processor's fraud screening."""

    id: str
    alias: str
    name: str
    item_type: str


@dataclass(frozen=True, slots=True)
class ListEntry:
    """One entry of such a list."""

    id: str
    list_id: str
    value: str
    created: datetime
    created_by: str


@dataclass(frozen=True, slots=True)
class EventSummary:
    """An event as the processor lists it; `pending` deliveries have not been accepted yet."""

    id: str
    type: str
    created: datetime
    api_version: str | None
    pending: int
    object_id: str | None


def split_unreadable(found: Iterable[Item | ItemUnreadable]) -> tuple[list[Item], list[ItemUnreadable]]:
    """Return which objects of a list could be read, and why others could not."""
    items: list[Item] = []
    unreadable: list[ItemUnreadable] = []
    for one in found:
        if isinstance(one, ItemUnreadable):
            unreadable.append(one)
        else:
            items.append(one)
    return items, unreadable
