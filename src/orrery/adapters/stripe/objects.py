"""Stripe's sessions and events, with the fields that Orrery reads, and their conversion to the port's values.

Fields that decide about money or access are read strictly, object by object. Fields that only describe are
`Loose`: in an unknown form such a field counts as missing, and the object stays readable.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Generic, Literal, TypeGuard, TypeVar, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import CoreSchema, core_schema

from orrery.ports.processor import CheckoutSession, ItemUnreadable, PartialEvent, ProcessorEvent

Identifier = Annotated[str, Field(min_length=1, max_length=255, pattern=r"^[\x21-\x7e]+$")]
Seconds = Annotated[int, Field(ge=0, le=253_402_300_799)]
EventType = Annotated[str, Field(pattern=r"^[a-z0-9_.]{1,100}$")]


class Lenient(BaseModel):
    """An object: unknown fields are ignored, known fields are checked strictly."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, defer_build=True)


class Identified(Lenient):
    """Anything with an id."""

    id: Identifier


Reference = Identifier | Identified
"""An id, or the object itself where the call asked for it to be expanded."""

Item = TypeVar("Item", bound=Identified)
"""The type of a page's objects."""

Value = TypeVar("Value")


class _OrNone:
    """Reads a value in an unknown form as None, without a call of Python for each."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_default_schema(handler(source), default=None, on_error="default")


Loose = Annotated[Value | None, _OrNone()]
"""A field that decides nothing."""


def _or_unreadable(value: object, read: ValidatorFunctionWrapHandler) -> object:
    try:
        return read(value)
    except ValidationError as error:
        return unreadable(value, error)


class Page(Lenient, Generic[Item]):
    """One page of a list: each object by itself, so that one that cannot be read hides no other."""

    data: list[Annotated[Item, WrapValidator(_or_unreadable)]]
    has_more: bool = False

    def items(self) -> list[Item | ItemUnreadable]:
        return [*self.data]


_ID: TypeAdapter[str] = TypeAdapter(Identifier)
_NAME = re.compile(r"[a-z][a-z_.]{0,59}")


def unreadable(value: object, error: ValidationError) -> ItemUnreadable:
    """Return the error about an object that cannot be read, with its kind, id and the names of wrong fields."""
    fields: Mapping[str, object] = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    kind = fields.get("object")
    return ItemUnreadable(kind if _is_name(kind) else "object", _id_in(fields), wrong_fields(error))


def wrong_fields(error: ValidationError) -> tuple[str, ...]:
    """Return the names of the fields that are not as documented."""
    wrong = {".".join(part for part in one["loc"] if _is_name(part)) for one in error.errors(include_input=False)}
    return tuple(sorted(wrong - {""}))


def _id_in(fields: Mapping[str, object]) -> str | None:
    try:
        return _ID.validate_python(fields.get("id"), strict=True)
    except ValidationError:
        return None


def _is_name(part: object) -> TypeGuard[str]:
    return isinstance(part, str) and bool(_NAME.fullmatch(part))


class _Dropdown(Lenient):
    value: str | None = None


class _CustomField(Lenient):
    key: str
    dropdown: _Dropdown | None = None


class _Card(Lenient):
    request_three_d_secure: str | None = None


class _MethodOptions(Lenient):
    card: _Card | None = None


class _Text(Lenient):
    message: str


class _CustomText(Lenient):
    submit: _Text | None = None


class _Customer(Lenient):
    email: str | None = None


class _LineItem(Identified):
    price: Reference | None = None
    quantity: Loose[int] = None


class _LineItems(Lenient):
    data: list[_LineItem]


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
    line_items: _LineItems | None = None
    metadata: dict[str, str] | None = None
    custom_fields: Loose[list[_CustomField]] = None
    payment_method_types: Loose[list[str]] = None
    payment_method_options: Loose[_MethodOptions] = None
    custom_text: Loose[_CustomText] = None
    success_url: Loose[str] = None
    cancel_url: Loose[str] = None
    mode: Loose[str] = None
    expires_at: Loose[Seconds] = None

    def to_value(self) -> CheckoutSession:
        card = self.payment_method_options.card if self.payment_method_options else None
        submit = self.custom_text.submit if self.custom_text else None
        return CheckoutSession(
            id=self.id,
            status=self.status,
            payment_status=self.payment_status,
            created=from_unix(self.created),
            livemode=self.livemode,
            url=self.url,
            amount_total=self.amount_total,
            currency=self.currency,
            email=self.customer_details.email if self.customer_details else None,
            payment_intent=id_of(self.payment_intent),
            price_ids=self._price_ids(),
            consent=self._consent(),
            metadata=self.metadata or {},
            payment_method_types=tuple(self.payment_method_types or ()),
            three_d_secure=card.request_three_d_secure if card else None,
            submit_message=submit.message if submit else None,
            quantities=self._quantities(),
            success_url=self.success_url,
            cancel_url=self.cancel_url,
            mode=self.mode,
            expires_at=None if self.expires_at is None else from_unix(self.expires_at),
        )

    def _price_ids(self) -> tuple[str, ...] | None:
        if self.line_items is None:
            return None
        return tuple(price for item in self.line_items.data if (price := id_of(item.price)))

    def _quantities(self) -> tuple[int, ...] | None:
        if self.line_items is None:
            return None
        return tuple(item.quantity or 0 for item in self.line_items.data)

    def _consent(self) -> bool | None:
        answers = {field.key: field.dropdown.value for field in self.custom_fields or () if field.dropdown}
        answer = answers.get("marketing_consent")
        return None if answer is None else answer == "yes"


class _Subject(Lenient):
    id: Loose[Identifier] = None


class _Holder(Lenient):
    object: _Subject


class _SomeEvent(Identified):
    object: Literal["event"]
    type: EventType
    created: Seconds
    livemode: bool
    api_version: Loose[str] = None
    data: _Holder


class _SessionHolder(_Holder):
    object: Session  # pyright: ignore[reportIncompatibleVariableOverride]  frozen: it is only read


class _SessionEvent(_SomeEvent):
    data: _SessionHolder  # pyright: ignore[reportIncompatibleVariableOverride]  the same


class _LooseHolder(Lenient):
    object: Loose[_Subject] = None


class _Remains(Lenient):
    id: Loose[Identifier] = None
    type: Loose[EventType] = None
    data: Loose[_LooseHolder] = None


def read_event(body: bytes) -> ProcessorEvent | PartialEvent:
    """Return the event in a webhook body whose signature was good, or what could be read of one that is none."""
    try:
        event = _SessionEvent.model_validate_json(body)  # most are: one parse
    except ValidationError as error:
        return _without_session(body, error)
    return _event(event, event.data.object.to_value() if event.type.startswith(_SESSIONS) else None)


_SESSIONS = "checkout.session."


def _without_session(body: bytes, why: ValidationError) -> ProcessorEvent | PartialEvent:
    try:
        event = _SomeEvent.model_validate_json(body)
    except ValidationError as error:
        return _remains(body, wrong_fields(error))
    return _event(event, None, wrong_fields(why) if event.type.startswith(_SESSIONS) else ())


def _event(event: _SomeEvent, session: CheckoutSession | None, unread: tuple[str, ...] = ()) -> ProcessorEvent:
    created, about = from_unix(event.created), event.data.object.id
    return ProcessorEvent(event.id, event.type, created, event.livemode, event.api_version, session, about, unread)


def _remains(body: bytes, unread: tuple[str, ...]) -> PartialEvent:
    try:
        found = _Remains.model_validate_json(body)
    except ValidationError:
        return PartialEvent(None, None, None, unread)
    subject = found.data.object if found.data else None
    return PartialEvent(found.id, found.type, subject.id if subject else None, unread)


def id_of(reference: Reference | None) -> str | None:
    """Return the id that a reference names."""
    return reference.id if isinstance(reference, Identified) else reference


def from_unix(seconds: int) -> datetime:
    """Return the moment that a Unix time in seconds names."""
    return datetime.fromtimestamp(seconds, UTC)
