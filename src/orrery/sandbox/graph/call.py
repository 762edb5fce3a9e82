"""One request of a signed-in person: its scopes, its query, its refusals in the vendor's words."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import quote

from orrery.sandbox.faults import Refusal
from orrery.sandbox.ground import Document
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

    issued: Issued
    template: str
    ids: tuple[str, ...]
    query: Mapping[str, str]
    preferences: Mapping[str, str]
    if_match: str
    given: object

    @property
    def account(self) -> str:
        return self.issued.account.username

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
        text = self.query.get(name, "")
        if not text:
            return default
        if not text.isdecimal() or not low <= int(text) <= high:
            raise refusal("bad_query", f"The value '{text}' of {name} is not between {low} and {high}.")
        return int(text)

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of a list such as `$select`."""
        return tuple(one for part in self.query.get(name, "").split(",") if (one := part.strip()))


Handler = Callable[[GraphCall], Document | Created | None]
"""Answers a call: 200 with a document, 201, or 202 with nothing."""


def preferences_of(text: str) -> dict[str, str]:
    """Return the preferences of a header, by their names in lower case."""
    return {found[1].lower(): found[2] or found[3] or "" for found in _PREFERENCE.finditer(text) if found[1]}


_ALWAYS = frozenset({"id", "@odata.etag", "@odata.type"})


def selected(document: Document, names: Sequence[str]) -> Document:
    """Return the properties that are asked for, with those that always come; all when none are named."""
    if not names:
        return document
    return {name: value for name, value in document.items() if name in _ALWAYS or name in names}


def check_selected(names: Sequence[str], known: frozenset[str], kind: str) -> None:
    """Refuse a property that the kind does not have."""
    for name in names:
        if name not in known and name != "id":
            raise refusal("bad_query", f"Could not find a property named '{name}' on type '{kind}'.")


def link(address: str, query: Sequence[tuple[str, object]]) -> str:
    """Return an address with a query, written as the vendor writes it."""
    return f"{address}?{'&'.join(f'{quote(name)}={quote(str(value))}' for name, value in query)}"


def next_link(address: str, call: GraphCall, name: str, value: object) -> str:
    """Return the address of the next page: the same query with the place where it begins."""
    kept = [(one, text) for one, text in call.query.items() if one != name]
    return link(address, [*kept, (name, value)])


_READING_MAIL = ("Mail.Read", "Mail.ReadBasic", "Mail.ReadWrite")
_CHANGING_MAIL = ("Mail.ReadWrite",)
_SENDING_MAIL = ("Mail.Send",)
_READING_TASKS = ("Tasks.Read", "Tasks.ReadWrite")
_CHANGING_TASKS = ("Tasks.ReadWrite",)
_SENDING_CHAT = ("Chat.ReadWrite", "ChatMessage.Send", "Group.ReadWrite.All")
_SENDING_CHANNEL = ("ChannelMessage.Send", "Group.ReadWrite.All")

SCOPES: dict[str, tuple[str, ...]] = {
    "GET /me": (
        "AgentIdUser.ReadWrite.All",
        "AgentIdUser.ReadWrite.IdentityParentedBy",
        "Directory.Read.All",
        "Directory.ReadWrite.All",
        "User.Read",
        "User.Read.All",
        "User.ReadBasic.All",
        "User.ReadWrite",
        "User.ReadWrite.All",
    ),
    "GET /me/mailFolders/{id}/messages": _READING_MAIL,
    "GET /me/mailFolders/{id}/messages/delta": _READING_MAIL,
    "GET /me/messages/{id}": ("Mail.Read", "Mail.ReadBasic"),
    "POST /me/messages": _CHANGING_MAIL,
    "GET /me/messages/{id}/attachments": ("Mail.Read", "Mail.ReadWrite"),
    "POST /me/messages/{id}/createReply": _CHANGING_MAIL,
    "POST /me/messages/{id}/createReplyAll": _CHANGING_MAIL,
    "PATCH /me/messages/{id}": _CHANGING_MAIL,
    "POST /me/sendMail": _SENDING_MAIL,
    "POST /me/messages/{id}/send": _SENDING_MAIL,
    "POST /me/messages/{id}/reply": _SENDING_MAIL,
    "POST /me/messages/{id}/replyAll": _SENDING_MAIL,
    "POST /me/messages/{id}/forward": _SENDING_MAIL,
    "GET /me/chats": ("Chat.Read", "Chat.ReadBasic", "Chat.ReadWrite"),
    "GET /chats/{id}/messages/{id}": ("Chat.Read", "Chat.ReadWrite", "Group.Read.All", "Group.ReadWrite.All"),
    "POST /chats/{id}/messages": _SENDING_CHAT,
    "POST /teams/{id}/channels/{id}/messages": _SENDING_CHANNEL,
    "POST /teams/{id}/channels/{id}/messages/{id}/replies": _SENDING_CHANNEL,
    "GET /me/calendarView": ("Calendars.Read", "Calendars.ReadBasic", "Calendars.ReadWrite"),
    "GET /me/events/{id}": ("Calendars.Read", "Calendars.ReadBasic"),
    "GET /me/todo/lists": _READING_TASKS,
    "POST /me/todo/lists": _CHANGING_TASKS,
    "GET /me/todo/lists/{id}/tasks": _READING_TASKS,
    "POST /me/todo/lists/{id}/tasks": _CHANGING_TASKS,
    "PATCH /me/todo/lists/{id}/tasks/{id}": _CHANGING_TASKS,
    "POST /me/todo/lists/{id}/tasks/{id}/linkedResources": _CHANGING_TASKS,
}
"""Each call that there is, by its method and path template."""

SENDS = frozenset(
    {
        "POST /me/sendMail",
        "POST /me/messages/{id}/send",
        "POST /me/messages/{id}/reply",
        "POST /me/messages/{id}/replyAll",
        "POST /me/messages/{id}/forward",
        "POST /chats/{id}/messages",
        "POST /teams/{id}/channels/{id}/messages",
        "POST /teams/{id}/channels/{id}/messages/{id}/replies",
    }
)
"""Those that send something to somebody."""

_IN_WORDS = ("/chats", "/teams", "/me/chats", "/me/todo")
"""Paths whose refusal names the scopes."""


def check_scopes(template: str, granted: frozenset[str]) -> None:
    """Raise the vendor's refusal unless one of the scopes that the call takes was granted.

    A wider scope counts where the published table omits it: Mail.ReadWrite reads a message, too.
    """
    needed = SCOPES[template]
    wider = {scope.replace("ReadWrite", "Read") for scope in granted}
    if not (granted | wider) & set(needed):
        raise _refusal(template, needed, granted)


def _refusal(template: str, needed: tuple[str, ...], granted: frozenset[str]) -> Refusal:
    path = template.partition(" ")[2]
    if path == "/me":
        return refusal("no_privileges")
    if path.startswith(_IN_WORDS):
        text = (
            f"Missing scope permissions on the request. API requires one of '{', '.join(needed)}'. "
            f"Scopes on the request '{', '.join(sorted(granted))}'"
        )
        return refusal("missing_scope", text)
    return refusal("access_denied")


_PREFIX = {True: "AAkALgAAAAAAHYQDEapm", False: "AAMkADNkYjVhNWYxLTQ1"}
_SHAPE = re.compile(r"[A-Za-z0-9_-]+={0,2}")
_SHORTEST = 20


def item_id(owner: str, number: int, turn: int, *, immutable: bool) -> str:
    """Return the id of an item: two neighbours differ in capitals only.

    `turn` is raised by what changes an id: any move, and for an immutable one only a mailbox that is moved.
    """
    known = hashlib.sha512(f"{owner} {turn} {immutable}".encode()).digest()[:39]
    shown = base64.urlsafe_b64encode(known + (number // 2).to_bytes(6, "big")).decode()
    return f"{_PREFIX[immutable]}{shown}{'Aa'[number % 2]}="


def number_of(text: str) -> int | None:
    """Return the number of the item that an id may belong to; None when it cannot be an id."""
    if len(text) < _SHORTEST or not _SHAPE.fullmatch(text):
        return None
    end = text.rstrip("=")
    half = int.from_bytes(base64.urlsafe_b64decode(end[-9:-1]), "big")
    return half * 2 + (end[-1] == "a")


def digest(*parts: object) -> str:
    """Return a short text that follows from the parts, such as a change key."""
    return base64.b64encode(hashlib.sha256(repr(parts).encode()).digest()[:15]).decode()


def guid(*parts: object) -> str:
    """Return a GUID that follows from the parts."""
    text = hashlib.sha256(repr(parts).encode()).hexdigest()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:32]}"
