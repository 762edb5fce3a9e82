"""Stripe's objects, as far as we read them, and what they are in our words."""

from datetime import UTC, datetime
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orrery.errors import Invalid
from orrery.ports.processor import Account, Charge, CheckoutSession, Event, WebhookEndpoint

Identifier = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[\x21-\x7e]+$")]
Seconds = Annotated[int, Field(ge=0, le=253_402_300_799)]


class _Object(BaseModel):
    """Lenient about what it does not know, strict about what it reads."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Identified(_Object):
    """Anything with an id."""

    id: Identifier


Reference = Identifier | Identified
"""An id, or the object itself where the call asked for it to be expanded."""

Item = TypeVar("Item", bound=Identified)
"""What a page holds."""


class Page(_Object, Generic[Item]):
    """One page of a list."""

    data: list[Item]
    has_more: bool = False


class _Dropdown(_Object):
    value: str | None = None


class _CustomField(_Object):
    key: str
    dropdown: _Dropdown | None = None


class _Card(_Object):
    request_three_d_secure: str | None = None


class _MethodOptions(_Object):
    card: _Card | None = None


class _Text(_Object):
    message: str


class _CustomText(_Object):
    submit: _Text | None = None


class _Customer(_Object):
    email: str | None = None


class _LineItem(Identified):
    price: Reference | None = None


class Session(Identified):
    """`checkout.session`."""

    status: Literal["open", "complete", "expired"]
    payment_status: Literal["paid", "unpaid", "no_payment_required"]
    created: Seconds
    livemode: bool
    url: str | None = None
    amount_total: int | None = None
    currency: str | None = None
    customer_details: _Customer | None = None
    payment_intent: Reference | None = None
    line_items: Page[_LineItem] | None = None
    custom_fields: list[_CustomField] = []
    metadata: dict[str, str] | None = None
    payment_method_types: list[str] = []
    payment_method_options: _MethodOptions | None = None
    custom_text: _CustomText | None = None

    def ours(self) -> CheckoutSession:
        """Return the session in our words."""
        card = self.payment_method_options.card if self.payment_method_options else None
        submit = self.custom_text.submit if self.custom_text else None
        return CheckoutSession(
            id=self.id,
            status=self.status,
            payment_status=self.payment_status,
            created=_moment(self.created),
            livemode=self.livemode,
            url=self.url,
            amount_total=self.amount_total,
            currency=self.currency,
            email=self.customer_details.email if self.customer_details else None,
            payment_intent=_id(self.payment_intent),
            price_ids=self._price_ids(),
            consent=self._consent(),
            metadata=self.metadata or {},
            payment_method_types=tuple(self.payment_method_types),
            three_d_secure=card.request_three_d_secure if card else None,
            submit_message=submit.message if submit else None,
        )

    def _price_ids(self) -> tuple[str, ...] | None:
        if self.line_items is None:
            return None
        return tuple(price for item in self.line_items.data if (price := _id(item.price)))

    def _consent(self) -> bool | None:
        answers = {field.key: field.dropdown.value for field in self.custom_fields if field.dropdown}
        answer = answers.get("marketing_consent")
        return None if answer is None else answer == "yes"


class ChargeObject(Identified):
    """`charge`."""

    created: Seconds
    payment_intent: Reference | None = None
    amount: int
    amount_refunded: int = 0
    currency: str
    paid: bool
    disputed: bool = False

    def ours(self) -> Charge:
        """Return the charge in our words."""
        return Charge(
            id=self.id,
            created=_moment(self.created),
            payment_intent=_id(self.payment_intent),
            amount=self.amount,
            amount_refunded=self.amount_refunded,
            currency=self.currency,
            paid=self.paid,
            disputed=self.disputed,
        )


class Endpoint(Identified):
    """`webhook_endpoint`."""

    url: str
    api_version: str | None = None
    status: str
    enabled_events: list[str] = []

    def ours(self) -> WebhookEndpoint:
        """Return the webhook endpoint in our words."""
        enabled = self.status == "enabled"
        return WebhookEndpoint(self.id, self.url, self.api_version, enabled, tuple(self.enabled_events))


class AccountObject(Identified):
    """`account`."""

    default_currency: str | None = None
    country: str | None = None

    def ours(self) -> Account:
        """Return the account in our words."""
        return Account(self.id, self.default_currency, self.country)


class _Holder(_Object):
    object: _Object


class _SomeEvent(Identified):
    object: Literal["event"]
    type: str
    created: Seconds
    livemode: bool
    api_version: str | None = None
    data: _Holder


class _SessionHolder(_Object):
    object: Session


class _SessionEvent(_Object):
    data: _SessionHolder


def read_event(body: bytes) -> Event:
    """Return the event in a webhook body whose signature was good; raise `Invalid` when it is none."""
    try:
        event = _SomeEvent.model_validate_json(body)
        session = None
        if event.type.startswith("checkout.session."):
            session = _SessionEvent.model_validate_json(body).data.object.ours()
    except ValidationError:
        raise Invalid("The webhook's body is not an event.") from None
    return Event(event.id, event.type, _moment(event.created), event.livemode, event.api_version, session)


def _id(reference: Reference | None) -> str | None:
    return reference.id if isinstance(reference, Identified) else reference


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
