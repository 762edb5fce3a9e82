"""The processor in one mode: its documents, its time, its events, its refusals."""

import heapq
import secrets
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from orrery.ports.clock import Clock
from orrery.sandbox.faults import Faults, Refusal
from orrery.sandbox.ground import Document, DocumentStore

_DOCS = "https://docs.stripe.com/error-codes/"


def api_error(
    status: int,
    message: str,
    kind: str = "invalid_request_error",
    code: str | None = None,
    param: str | None = None,
) -> Refusal:
    """Return a refusal with the fields of the vendor's error object."""
    error: Document = {"message": message, "type": kind}
    if code:
        error |= {"code": code, "doc_url": _DOCS + code.replace("_", "-")}
    return Refusal(status, {"error": error | ({"param": param} if param else {})})


def invalid(message: str, param: str | None = None, code: str | None = None) -> Refusal:
    """Return a 400 that validation found before anything was carried out."""
    return api_error(400, message, code=code, param=param)


def unknown_parameter(param: str) -> Refusal:
    """Return the refusal of a parameter that the operation does not have."""
    return invalid(f"Received unknown parameter: {param}", param, "parameter_unknown")


def missing_parameter(param: str) -> Refusal:
    """Return the refusal of a request without a required parameter."""
    return invalid(f"Missing required param: {param}.", param, "parameter_missing")


def no_such(kind: str, key: str, param: str, status: int = 404, hint: str = "") -> Refusal:
    """Return the refusal of an id that names nothing; `hint` goes on with the sentence."""
    return api_error(status, f"No such {kind}: '{key}'{hint}", code="resource_missing", param=param)


def unrecognized_url(method: str, path: str, more: str = "") -> Refusal:
    """Return the answer to a route that does not exist."""
    return api_error(404, f"Unrecognized request URL ({method}: {path}).{more}")


_NAMED = (
    "2024-09-30.acacia 2024-10-28.acacia 2024-11-20.acacia 2024-12-18.acacia 2025-01-27.acacia 2025-02-24.acacia "
    "2025-03-01.dashboard 2025-03-31.basil 2025-04-30.basil 2025-05-28.basil 2025-06-30.basil 2025-07-30.basil "
    "2025-08-27.basil 2025-09-30.clover 2025-10-29.clover 2025-11-17.clover 2025-12-15.clover 2026-01-28.clover "
    "2026-02-25.clover 2026-03-25.dahlia 2026-04-22.dahlia 2026-05-27.dahlia 2026-06-24.dahlia 2026-07-29.dahlia "
    "2026-08-26.dahlia 2026-09-30.endive"
)
VERSIONS = frozenset(_NAMED.split())
"""Those with a name; the vendor takes older ones, too."""


def known_version(version: str, param: str | None = None) -> str:
    """Return the version, or raise the refusal of one that does not exist."""
    if version not in VERSIONS:
        raise invalid(f"Invalid Stripe API version: {version[:40]}", param)
    return version


API_VERSION = "2026-08-26.dahlia"
"""The version that the account is pinned to (decision 1)."""

Mode = Literal["test", "live"]
"""Which of an account's two worlds: nothing in one of them is seen from the other."""

_ALPHABET = string.ascii_letters + string.digits
_SUFFIX_LENGTH = 24


def new_id(prefix: str, length: int = _SUFFIX_LENGTH) -> str:
    """Return a new id that looks like the vendor's: `prefix`, then random letters and digits."""
    return prefix + "".join(secrets.choice(_ALPHABET) for _ in range(length))


def mode_of(api_key: str) -> Mode:
    return "live" if "_live_" in api_key else "test"


@dataclass
class World:
    """The processor's world in one mode.

    Hosted pages are below `pages_url`. `other` is the account's world in the other mode, if that is played, too.
    `deliveries_of` makes the documents that follow an event to its webhook endpoints; `on_change` is called when
    there is something new to wait for. `keys_in_use` are the idempotency keys of requests that are under way,
    `deadlines` when each open session expires (Unix time) and its id, the next one first.
    """

    state: DocumentStore
    clock: Clock
    faults: Faults
    base_url: str
    pages_url: str
    mode: Mode = "test"
    other: "World | None" = field(default=None, repr=False, compare=False)
    deliveries_of: Callable[[Document], list[Document]] = lambda _: []
    on_change: Callable[[], None] = lambda: None
    keys_in_use: set[str] = field(default_factory=set[str])
    deadlines: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def __post_init__(self) -> None:
        for session in self.state.newest_first("checkout.session"):
            if session["status"] == "open":
                self.watch(session)

    @property
    def livemode(self) -> bool:
        return self.mode == "live"

    def now(self) -> int:
        """Return the sandbox's time in whole Unix seconds."""
        return int(self.clock.now().timestamp())

    def find(self, kind: str, key: str, param: str, status: int = 404) -> Document:
        """Return a copy of a document, or raise the vendor's `resource_missing`."""
        document = self.state.get(kind, key)
        if document is None:
            raise no_such(kind, key, param, status, self._elsewhere(kind, key))
        return document

    def _elsewhere(self, kind: str, key: str) -> str:
        """Return the vendor's hint that the id is one of the other mode, or nothing."""
        other = self.other
        if other is None or other.state.get(kind, key) is None:
            return ""
        used = f"a {self.mode} mode key was used to make this request."
        return f"; a similar object exists in {other.mode} mode, but {used}"

    def save(self, *documents: Document) -> None:
        """Store documents, each marked with this world's mode."""
        self._mark(documents)
        self.state.save(*documents)

    def _mark(self, documents: Sequence[Document]) -> None:
        for one in documents:
            if "livemode" in one:
                one["livemode"] = self.livemode

    def record(self, changed: Sequence[Document], *events: tuple[str, Document]) -> None:
        """Store changed documents and their events (type, subject) in one go, then announce the events."""
        announced: list[Document] = []
        self._mark(changed)
        for kind, subject in events:
            event = _event(kind, subject, self.now()) | {"livemode": self.livemode}
            announced += [event, *self.deliveries_of(event)]
        self.state.save(*changed, *announced)
        self.on_change()

    def watch(self, session: Document) -> None:
        """Remember when an open session expires."""
        heapq.heappush(self.deadlines, (session["expires_at"], session["id"]))
        self.on_change()

    def expire_due(self) -> None:
        """Expire every open session whose time has come."""
        now = self.now()
        while self.deadlines and self.deadlines[0][0] <= now:
            _, key = heapq.heappop(self.deadlines)
            session = self.state.get("checkout.session", key)
            if session is not None and session["status"] == "open":
                _ = expire(self, session)


def holding(worlds: Sequence[World], kind: str, key: str) -> World:
    """Return the world that has this document, or the first one when none has it."""
    return next((world for world in worlds if world.state.get(kind, key) is not None), worlds[0])


def expire(world: World, session: Document) -> Document:
    """Close an open session without a payment and announce it."""
    session |= {"status": "expired", "url": None}
    world.record([session], ("checkout.session.expired", session))
    return session


def _event(kind: str, subject: Document, created: int) -> Document:
    return {
        "id": new_id("evt_"),
        "object": "event",
        "api_version": API_VERSION,
        "created": created,
        "data": {"object": subject},
        "livemode": False,
        "pending_webhooks": 0,
        "request": {"id": None, "idempotency_key": None},
        "type": kind,
    }
