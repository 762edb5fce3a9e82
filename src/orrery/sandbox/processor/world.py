"""What every operation of the sandbox processor works on: the documents, the time, the events."""

import heapq
import secrets
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from orrery.ports.clock import Clock
from orrery.sandbox.faults import Faults
from orrery.sandbox.processor.errors import no_such
from orrery.sandbox.state import Document, State

API_VERSION = "2026-08-26.dahlia"
"""The version that the account is pinned to (decision 1)."""

_ALPHABET = string.ascii_letters + string.digits
_SUFFIX_LENGTH = 24


def new_id(prefix: str, length: int = _SUFFIX_LENGTH) -> str:
    """Return a new id that looks like the vendor's: `prefix`, then random letters and digits."""
    return prefix + "".join(secrets.choice(_ALPHABET) for _ in range(length))


@dataclass
class World:
    """The processor's world, in live mode when its key is a live one.

    `deliveries_of` makes the documents that follow an event to its webhook endpoints; `on_change` is called when
    there is something new to wait for.
    """

    state: State
    clock: Clock
    faults: Faults
    base_url: str
    livemode: bool = False
    deliveries_of: Callable[[Document], list[Document]] = lambda _: []
    on_change: Callable[[], None] = lambda: None
    _deadlines: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def __post_init__(self) -> None:
        for session in self.state.newest_first("checkout.session"):
            if session["status"] == "open":
                self.watch(session)

    def now(self) -> int:
        """Return the sandbox's time in whole Unix seconds."""
        return int(self.clock.now().timestamp())

    def find(self, kind: str, key: str, param: str, status: int = 404) -> Document:
        """Return a copy of a document, or raise the vendor's `resource_missing`."""
        document = self.state.get(kind, key)
        if document is None:
            raise no_such(kind, key, param, status)
        return document

    def record(self, changed: Sequence[Document], *events: tuple[str, Document]) -> None:
        """Store changed documents and their events (type, subject) in one go, then announce the events."""
        announced: list[Document] = []
        for one in changed:
            if "livemode" in one:
                one["livemode"] = self.livemode
        for kind, subject in events:
            event = _event(kind, subject, self.now()) | {"livemode": self.livemode}
            announced += [event, *self.deliveries_of(event)]
        self.state.save(*changed, *announced)
        self.on_change()

    def watch(self, session: Document) -> None:
        """Remember when an open session expires."""
        heapq.heappush(self._deadlines, (session["expires_at"], session["id"]))
        self.on_change()

    def next_deadline(self) -> int | None:
        """Return when the next session expires, in Unix seconds."""
        return self._deadlines[0][0] if self._deadlines else None

    def expire_due(self) -> None:
        """Expire every open session whose time has come."""
        now = self.now()
        while self._deadlines and self._deadlines[0][0] <= now:
            _, key = heapq.heappop(self._deadlines)
            session = self.state.get("checkout.session", key)
            if session is not None and session["status"] == "open":
                expire(self, session)


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
