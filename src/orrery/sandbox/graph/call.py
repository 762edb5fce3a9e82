"""One request of a signed-in person: its query, its scopes, its refusals in the vendor's words, its pages."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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


def check_scopes(path: str, needed: Sequence[str], granted: frozenset[str]) -> None:
    """Raise the vendor's refusal unless one of the scopes that the call takes was granted.

    A wider scope counts where the published table omits it: Mail.ReadWrite reads a message, too.
    """
    wider = {scope.replace("ReadWrite", "Read") for scope in granted}
    if (granted | wider) & set(needed):
        return
    if path.startswith(_IN_WORDS):
        text = (
            f"Missing scope permissions on the request. API requires one of '{', '.join(needed)}'. "
            f"Scopes on the request '{', '.join(sorted(granted))}'"
        )
        raise refusal("missing_scope", text)
    raise refusal("no_privileges" if path == "/me" else "access_denied")
