"""Stripe's objects about the account and its settings, with the fields that Orrery reads, and their conversion."""

from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter

from orrery.adapters.stripe.objects import Identified, Lenient, Reference, Seconds, from_unix, id_of
from orrery.ports.processor import (
    BRANDING,
    Configuration,
    EventSummary,
    ListEntry,
    ProcessorAccount,
    ValueList,
    WebhookEndpoint,
)


class Endpoint(Identified):
    """`webhook_endpoint`."""

    url: str
    api_version: str | None = None
    status: str
    enabled_events: list[str]

    def to_value(self) -> WebhookEndpoint:
        enabled = self.status == "enabled"
        return WebhookEndpoint(self.id, self.url, self.api_version, enabled, tuple(self.enabled_events))


class _Profile(Lenient):
    name: str | None = None
    support_email: str | None = None
    support_url: str | None = None
    url: str | None = None


class _Looks(Lenient):
    icon: Reference | None = None
    logo: Reference | None = None
    primary_color: str | None = None
    secondary_color: str | None = None


class _Payments(Lenient):
    statement_descriptor: str | None = None


class _Settings(Lenient):
    branding: _Looks | None = None
    payments: _Payments | None = None


class AccountObject(Identified):
    """`account`."""

    default_currency: str | None = None
    country: str | None = None
    business_profile: _Profile | None = None
    settings: _Settings | None = None

    def to_value(self) -> ProcessorAccount:
        found = {name: self._at(name) for name in BRANDING}
        branding: dict[str, str | None] = {name: value for name, value in found.items() if value is not None}
        return ProcessorAccount(self.id, self.default_currency, self.country, branding)

    def _at(self, name: str) -> str | None:
        value: object = self
        for part in name.split("."):
            value = getattr(value, part, None)
        return id_of(value) if isinstance(value, str | Identified) else None


class _Preference(Lenient):
    value: str | None = None


class _Switch(Lenient):
    display_preference: _Preference


_Field = Annotated[_Switch | JsonValue, Field(union_mode="left_to_right")]
_SWITCHES: TypeAdapter[dict[str, _Field]] = TypeAdapter(dict[str, _Field])


class ConfigurationObject(Identified):
    """`payment_method_configuration`: each method is a separate field."""

    model_config = ConfigDict(extra="allow")

    name: str
    is_default: bool
    active: bool
    parent: str | None = None

    def to_value(self) -> Configuration:
        rest = _SWITCHES.validate_python(self.model_extra)
        switches = {slug: one for slug, one in rest.items() if isinstance(one, _Switch)}
        return Configuration(
            id=self.id,
            name=self.name,
            is_default=self.is_default,
            active=self.active,
            parent=self.parent,
            methods={slug: one.display_preference.value == "on" for slug, one in switches.items()},
        )


class ValueListObject(Identified):
    """`radar.value_list`."""

    alias: str
    name: str
    item_type: str

    def to_value(self) -> ValueList:
        return ValueList(self.id, self.alias, self.name, self.item_type)


class ValueListItem(Identified):
    """`radar.value_list_item`."""

    value_list: str
    value: str
    created: Seconds
    created_by: str

    def to_value(self) -> ListEntry:
        return ListEntry(self.id, self.value_list, self.value, from_unix(self.created), self.created_by)


class RemovedObject(Identified):
    """The answer about a removed object."""


class _Subject(Lenient):
    id: str | None = None


class _Data(Lenient):
    object: _Subject


class EventObject(Identified):
    """`event`, as a list shows it."""

    type: str
    created: Seconds
    api_version: str | None = None
    pending_webhooks: int = 0
    data: _Data

    def to_value(self) -> EventSummary:
        return EventSummary(
            id=self.id,
            type=self.type,
            created=from_unix(self.created),
            api_version=self.api_version,
            pending=self.pending_webhooks,
            object_id=self.data.object.id,
        )
