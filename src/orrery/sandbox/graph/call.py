"""One request of a signed-in person: its query, its scopes, its refusals in the vendor's words, its pages.

Of filters and expansions there are those that we send.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar, cast
from urllib.parse import quote

from orrery.sandbox.faults import Refusal
from orrery.sandbox.graph.mailbox import Mailbox, Mailboxes
from orrery.sandbox.ground import Document
from orrery.sandbox.identity.directory import GRAPH
from orrery.sandbox.identity.tokens import Issued


@dataclass(frozen=True, slots=True)
class Created:
    """An answer whose status is 201."""

    body: Document = field(default_factory=dict[str, object])


_REFUSALS = {
    "unauthenticated": (401, "InvalidAuthenticationToken", ""),
    "access_denied": (403, "ErrorAccessDenied", "Access is denied. Check credentials and try again."),
    "missing_scope": (403, "Forbidden", ""),
    "no_privileges": (
        403,
        "Authorization_RequestDenied",
        "Insufficient privileges to complete the operation.",
    ),
    "no_mailbox": (
        404,
        "MailboxNotEnabledForRESTAPI",
        "The mailbox is either inactive, soft-deleted, or is hosted on-premise.",
    ),
    "item_not_found": (404, "ErrorItemNotFound", "The specified object was not found in the store."),
    "not_found": (404, "NotFound", ""),
    "malformed_id": (400, "ErrorInvalidIdMalformed", "Id is malformed."),
    "bad_request": (400, "BadRequest", ""),
    "bad_query": (400, "RequestBroker--ParseUri", ""),
    "bad_argument": (400, "ErrorInvalidArgument", ""),
    "inefficient": (
        400,
        "InefficientFilter",
        "The restriction or sort order is too complex for this operation.",
    ),
    "changed_meanwhile": (
        412,
        "ErrorIrresolvableConflict",
        (
            "The send or update operation could not be performed because the change key passed in the request "
            "does not match the current change key for the item., Cannot save changes made to an item to store."
        ),
    ),
    "resync": (
        410,
        "syncStateNotFound",
        "The sync state generation is not found; the client must synchronize from the beginning.",
    ),
    "throttled": (429, "ApplicationThrottled", "Application is over its MailboxConcurrency limit."),
    "unavailable": (
        503,
        "ServiceUnavailable",
        "The service is temporarily unavailable. Please try again later.",
    ),
}
"""Each refusal: the HTTP status, the vendor's code, its sentence where that is always the same."""


def refusal(name: str, message: str = "", **headers: str) -> Refusal:
    """Return the refusal of that name; `_` in the name of a header is a hyphen."""
    status, code, text = _REFUSALS[name]
    named = {header.replace("_", "-"): value for header, value in headers.items()}
    return Refusal(status, {"error": {"code": code, "message": message or text}}, named)


_PREFERENCE = re.compile(r'\s*([\w.-]+)\s*(?:=\s*(?:"([^"]*)"|([^,;]*)))?\s*(?:[,;]|$)')


@dataclass(frozen=True, slots=True)
class GraphCall:
    """`ids` are those in the path, `query` has its names with their `$`, `preferences` are lower-case names."""

    world: Mailboxes
    issued: Issued
    path: str
    ids: tuple[str, ...]
    query: Mapping[str, str]
    preferences: Mapping[str, str]
    if_match: str
    given: object

    @property
    def account(self) -> str:
        return self.issued.account.username

    @property
    def is_guests(self) -> bool:
        """Whether the caller is a guest, whose things are in another tenant."""
        return self.issued.account.is_guest(self.issued.tenant)

    @property
    def mailbox(self) -> Mailbox:
        """The mailbox of who asks; a guest has none in the tenant that it is a guest of."""
        if self.is_guests:
            raise refusal("no_mailbox")
        return self.world.mailbox(self.account)

    @property
    def immutable(self) -> bool:
        """Whether the answer has ids that stay when an item is moved."""
        return self.preferences.get("idtype", "").lower() == "immutableid"

    @property
    def body(self) -> Document:
        """Return the JSON object that came."""
        if not isinstance(self.given, dict):
            raise refusal("bad_request", "Empty Payload. JSON content expected.")
        return cast("Document", self.given)

    def number(self, name: str, default: int, low: int, high: int) -> int:
        """Return a whole number of the query within bounds."""
        text = self.query.get(name) or str(default)
        if not text.isdecimal() or not low <= int(text) <= high:
            raise refusal("bad_query", f"The value '{text}' of {name} is not between {low} and {high}.")
        return int(text)

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of a list such as `$select`."""
        return tuple(one for part in self.query.get(name, "").split(",") if (one := part.strip()))

    def may(self, *scopes: str) -> bool:
        """Return whether one of these scopes was granted."""
        return not self.issued.scopes.isdisjoint(scopes)


Handler = Callable[[GraphCall], Document | Created | None]
"""Answers a call: 200 with a document, 201, or 202 with nothing."""

Listed = TypeVar("Listed")


def page(
    call: GraphCall, context: str, items: Sequence[Listed], show: Callable[[Listed], Document], most: int = 1000
) -> Document:
    """Return a page of a list, with a link to the next one if there is one."""
    top, skip = call.number("$top", 10, 1, most), call.number("$skip", 0, 0, 1 << 31)
    shown: Document = {
        "@odata.context": f"{GRAPH}/v1.0/$metadata#{context}",
        "value": [show(one) for one in items[skip : skip + top]],
    }
    if skip + top < len(items):
        shown["@odata.nextLink"] = link(
            f"{call.world.url}/v1.0{call.path}", {**call.query, "$skip": str(skip + top)}
        )
    return shown


def link(address: str, query: Mapping[str, str]) -> str:
    """Return an address with a query, written as the vendor writes it."""
    return f"{address}?{'&'.join(f'{quote(name)}={quote(value)}' for name, value in query.items())}"


def preferences_of(text: str) -> dict[str, str]:
    """Return the preferences of a header, by their names in lower case."""
    return {found[1].lower(): found[2] or found[3] or "" for found in _PREFERENCE.finditer(text) if found[1]}


_ALWAYS = frozenset({"id", "@odata.etag", "@odata.type"})


def selected(document: Document, names: Sequence[str]) -> Document:
    """Return the properties that are asked for, with those that always come; all when none are named."""
    if not names:
        return document
    return {name: value for name, value in document.items() if name in _ALWAYS or name in names}


_IN_WORDS = ("/chats", "/teams", "/me/chats", "/me/todo")
"""Paths whose refusal names the scopes."""


def refused_scopes(path: str, needed: Sequence[str], granted: frozenset[str]) -> Refusal | None:
    """Return the vendor's refusal unless one of the scopes that the call takes was granted.

    A wider scope counts where the published table omits it: Mail.ReadWrite reads a message, too.
    """
    wider = {scope.replace("ReadWrite", "Read") for scope in granted}
    if (granted | wider) & set(needed):
        return None
    if path.startswith(_IN_WORDS):
        text = (
            f"Missing scope permissions on the request. API requires one of '{', '.join(needed)}'. "
            f"Scopes on the request '{', '.join(sorted(granted))}'"
        )
        return refusal("missing_scope", text)
    return refusal("no_privileges" if path == "/me" else "access_denied")


EXTENDED = "singleValueExtendedProperties"
RECEIVED = "receivedDateTime"
_GUID = r"\{[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\}"
_TEXT = r"'((?:[^']|'')*)'"
_PERIOD = re.compile(rf"{RECEIVED} ge ([^ ]+)(?: and {RECEIVED} le ([^ ]+))?")
_CONVERSATION = re.compile(rf"conversationId eq {_TEXT}")
_PROPERTY = re.compile(rf"{EXTENDED}/Any\(ep: ep/id eq {_TEXT} and ep/value eq {_TEXT}\)")
_EXPANSION = re.compile(rf"{EXTENDED}\(\$filter=id eq {_TEXT}(?: or id eq {_TEXT})?\)")


@dataclass(frozen=True, slots=True)
class Filter:
    """What a query asks of messages: times of receipt (Unix), a conversation's id, or an extended property."""

    since: int | None = None
    until: int | None = None
    conversation: str = ""
    mark: tuple[str, str] | None = None


def filter_of(call: GraphCall) -> Filter:
    """Return the filter of a query, which must begin with the property that it is sorted by, if it is."""
    text, order = call.query.get("$filter", ""), call.query.get("$orderby", "")
    if order not in {"", f"{RECEIVED} desc"}:
        raise refusal("bad_query", f"The sandbox does not sort by '{order}'.")
    if order and text and not text.startswith(RECEIVED):
        raise refusal("inefficient")
    return _parsed(text) if text else Filter()


def _parsed(text: str) -> Filter:
    if found := _PERIOD.fullmatch(text):
        since, until = (_seconds(one) if one else None for one in found.groups())
        return Filter(since, until)
    if found := _CONVERSATION.fullmatch(text):
        return Filter(conversation=_unquoted(found[1]))
    if found := _PROPERTY.fullmatch(text):
        return Filter(mark=(_property(_unquoted(found[1])), _unquoted(found[2])))
    raise refusal("bad_query", f"The sandbox does not read the filter '{text}'.")


def given_properties(body: Document) -> dict[str, str]:
    """Return the properties that a body sets, by their ids; the GUID in an id is kept in lower case."""
    given = cast("list[Document]", body.get(EXTENDED) or [])
    return {_property(str(one.get("id", ""))): str(one.get("value", "")) for one in given}


def expanded_properties(text: str, properties: Mapping[str, str]) -> Document:
    """Return what `$expand` adds to a message: nothing where it has none of the properties."""
    if not text:
        return {}
    asked = _EXPANSION.fullmatch(text)
    if asked is None:
        raise refusal("bad_query", f"$expand takes {EXTENDED}($filter=id eq '...') here, not '{text}'.")
    names = {_property(one) for one in asked.groups("")}
    found = [{"id": name, "value": value} for name, value in properties.items() if name in names]
    return {EXTENDED: found} if found else {}


def _property(name: str) -> str:
    return re.sub(_GUID, lambda guid: guid[0].lower(), name)


def _unquoted(text: str) -> str:
    return text.replace("''", "'")


def _seconds(time: str) -> int:
    return int(datetime.fromisoformat(time).timestamp())
