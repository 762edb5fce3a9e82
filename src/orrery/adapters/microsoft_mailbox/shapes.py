"""The vendor's messages, chats and meetings, as far as the list needs them; one that differs is left out alone."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic.alias_generators import to_camel

from orrery.ports.comms.errors import MailboxUnreachable
from orrery.ports.comms.messages import Person, Priority, in_short, people

S = TypeVar("S", bound="GraphShape")
T = TypeVar("T")

_ODD = "The mailbox's answer is not as documented."

_PRIORITIES: dict[str, Priority] = {"high": "high", "low": "low"}


def _or_nothing(value: object, read: ValidatorFunctionWrapHandler) -> object:
    try:
        return read(value)
    except ValidationError:
        return None


Lenient = Annotated[T | None, WrapValidator(_or_nothing)]
"""A field without which a message can be listed: what is not as documented counts as missing."""


class GraphShape(BaseModel):
    """What is read of an answer; names are the vendor's."""

    # An error of it may end in a log, which holds no text of others.
    model_config = ConfigDict(frozen=True, alias_generator=to_camel, hide_input_in_errors=True)


class Address(GraphShape):
    """A name with its address."""

    name: str | None = None
    address: str | None = None


class Recipient(GraphShape):
    """Who sent or organized something."""

    email_address: Address | None = None


class Body(GraphShape):
    """A text, with its kind."""

    content_type: str | None = None
    content: str | None = None


class Header(GraphShape):
    """A header of a message, as it was received."""

    name: str
    value: str


class FollowUp(GraphShape):
    """What the account has flagged a message as."""

    flag_status: str | None = None


class Property(GraphShape):
    """A property that the vendor's own programs keep with a message."""

    id: str
    value: str


class GraphMail(GraphShape):
    """A message of a folder, or what has changed of it: what is not among its `model_fields_set` is as before."""

    id: str = Field(min_length=1)
    subject: str | None = None
    sender: Recipient | None = Field(None, alias="from")
    received_date_time: datetime | None = None
    importance: str | None = None
    body_preview: str | None = None
    web_link: str | None = None
    is_draft: Lenient[bool] = None
    to_recipients: Lenient[tuple[Recipient, ...]] = None
    cc_recipients: Lenient[tuple[Recipient, ...]] = None
    reply_to: Lenient[tuple[Recipient, ...]] = None
    conversation_id: Lenient[str] = None
    flag: Lenient[FollowUp] = None
    internet_message_headers: Lenient[tuple[Header, ...]] = None
    single_value_extended_properties: Lenient[tuple[Property, ...]] = None

    @property
    def conversation(self) -> str:
        """The conversation by a short name, or nothing."""
        return in_short(self.conversation_id) if self.conversation_id else ""


class User(GraphShape):
    """A person or an app in a chat."""

    id: str | None = None
    display_name: str | None = None


class Identities(GraphShape):
    """Who wrote in a chat."""

    user: User | None = None
    application: User | None = None


class ChatMessage(GraphShape):
    """The last message of a chat."""

    id: str = Field(min_length=1)
    created_date_time: datetime
    is_deleted: bool | None = None
    message_type: str | None = None
    sender: Identities | None = Field(None, alias="from")
    body: Body | None = None


class Member(GraphShape):
    """One member of a chat."""

    user_id: str | None = None
    display_name: str | None = None
    email: str | None = None


class Chat(GraphShape):
    """A chat with its last message and its members."""

    id: str = Field(min_length=1)
    topic: str | None = None
    web_url: str | None = None
    last_message_preview: ChatMessage | None = None
    members: Lenient[tuple[Member, ...]] = None


class GraphDateTime(GraphShape):
    """A moment of a calendar: `date_time` is without a zone, which is UTC, as asked for."""

    date_time: datetime
    time_zone: Literal["UTC"]


class Response(GraphShape):
    """What somebody has answered to an invitation."""

    response: str | None = None


class Attendee(GraphShape):
    """Somebody, or a room, that a meeting is with."""

    type: Lenient[str] = None
    email_address: Lenient[Address] = None
    status: Lenient[Response] = None


class MeetingLocation(GraphShape):
    """Where a meeting is."""

    display_name: str | None = None


class Meeting(GraphShape):
    """One occurrence in the calendar."""

    id: str = Field(min_length=1)
    subject: str | None = None
    start: GraphDateTime
    end: Lenient[GraphDateTime] = None
    is_all_day: Lenient[bool] = None
    is_cancelled: Lenient[bool] = None
    is_organizer: Lenient[bool] = None
    organizer: Recipient | None = None
    attendees: Lenient[tuple[Attendee, ...]] = None
    response_status: Lenient[Response] = None
    importance: str | None = None
    location: MeetingLocation | None = None
    web_link: str | None = None


class EventMessage(GraphShape):
    """What an invitation, or an answer to one, has beside a message."""

    meeting_message_type: Lenient[str] = None
    subject: Lenient[str] = None
    sender: Lenient[Recipient] = Field(None, alias="from")
    start_date_time: Lenient[GraphDateTime] = None
    end_date_time: Lenient[GraphDateTime] = None
    is_all_day: Lenient[bool] = None
    location: Lenient[MeetingLocation] = None


class AttachedFile(GraphShape):
    """What is attached to a message, without its content; `kind` is its type if it is no file."""

    kind: Lenient[str] = Field(None, alias="@odata.type")
    name: Lenient[str] = None
    content_type: Lenient[str] = None
    size: Lenient[int] = None
    is_inline: Lenient[bool] = None


def read_all(kind: type[S], items: Iterable[object]) -> tuple[list[S], int]:
    """Return the items that are as documented, and how many are not."""
    found, unreadable = list[S](), 0
    for item in items:
        try:
            found.append(kind.model_validate(item))
        except ValidationError:
            unreadable += 1
    return found, unreadable


def items_of(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the items of a page; one that is no object becomes an empty one, to be counted.

    Raises `MailboxUnreachable` for what is no page: that is no empty one, which would take away every row.
    """
    value = answer.get("value")
    if not isinstance(value, list):
        raise MailboxUnreachable(_ODD)
    found = cast("list[object]", value)
    return [cast("dict[str, Any]", one) if isinstance(one, dict) else {} for one in found]


def next_of(answer: Mapping[str, Any]) -> str:
    """Return the address of the next page, or nothing at the last one; raise `MailboxUnreachable`."""
    return _link(answer, "@odata.nextLink")


def changes_of(answer: Mapping[str, Any]) -> str:
    """Return the address of what will have changed since this page, the last one; raise `MailboxUnreachable`."""
    if found := _link(answer, "@odata.deltaLink"):
        return found
    raise MailboxUnreachable(_ODD)


def _link(answer: Mapping[str, Any], name: str) -> str:
    found = answer.get(name)
    if found is None or isinstance(found, str):
        return found or ""
    raise MailboxUnreachable(_ODD)


def priority_of(importance: str | None) -> Priority:
    """Return the priority of what the vendor calls importance; an unknown one is normal."""
    return _PRIORITIES.get((importance or "").lower(), "normal")


def in_utc(moment: datetime) -> datetime:
    """Return a moment with its zone: what has none is in UTC. Of UTC itself there is one object for all."""
    return moment if moment.utcoffset() else moment.replace(tzinfo=UTC)


def named(recipients: Iterable[Recipient | Attendee] | None) -> tuple[Person, ...]:
    """Return recipients as people, without those that have neither a name nor an address."""
    found = (one.email_address for one in recipients or () if one.email_address)
    several = (((one.name or "").strip(), (one.address or "").strip()) for one in found)
    return people(*(one for one in several if any(one)))


def person_of(recipient: Recipient | None) -> Person:
    """Return who it is: without a name by the address, and `NO_PERSON` where the vendor names neither."""
    found = recipient.email_address if recipient else None
    name, address = ((found.name or "").strip(), (found.address or "").strip()) if found else ("", "")
    return people((name or address, address))[0]
