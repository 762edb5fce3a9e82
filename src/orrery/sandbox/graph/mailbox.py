"""The accounts' mailboxes: messages by number, in the order of their times, and the log of changes."""

import secrets
from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from orrery.ports.clock import Clock
from orrery.sandbox.graph.ids import item_id, number_of
from orrery.sandbox.graph.seed import filled, first_messages
from orrery.sandbox.ground import Document, SandboxGround

FOLDERS = ("inbox", "drafts", "sentitems", "archive", "deleteditems", "junkemail")
"""The folders by their well-known names."""


@dataclass(frozen=True, slots=True)
class Change:
    """That a message changed in its folder, or is no longer in it, as it was then."""

    version: int
    message: Document
    is_there: bool


class Mailbox:
    """The messages of an account. One that changes gets a new version, and is in the log of changes."""

    def __init__(self, clock: Clock, account: str) -> None:
        self._clock = clock
        self.account = account
        self.run = secrets.token_hex(4)
        """Changes with each start of the sandbox: what came before is in no log of changes."""
        self.version = self._epoch = 0
        self.opened = self.now()
        self._messages: dict[int, Document] = {}
        self._order: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self.log: list[Change] = []
        self.next = 1
        for seed in first_messages(account, self.opened):
            _ = self.new(**seed)

    def now(self) -> int:
        """Return the time in whole Unix seconds."""
        return int(self._clock.now().timestamp())

    def get(self, number: int) -> Document | None:
        return self._messages.get(number)

    def messages(self, folder: str, *, since: int | None = None, until: int | None = None) -> list[Document]:
        """Return the messages of a folder, the last one received first, between two times if given."""
        order = self._order[folder]
        low = 0 if since is None else bisect_left(order, (since, 0))
        high = len(order) if until is None else bisect_right(order, (until, 1 << 62))
        return [self._messages[number] for _, number in reversed(order[low:high])]

    def id_of(self, message: Document, *, immutable: bool) -> str:
        turn = self._epoch << 20 | (0 if immutable else message["moves"])
        return item_id(self.account, message["number"], turn, immutable=immutable)

    def found(self, text: str) -> Document | None:
        """Return the message that an id of either kind belongs to."""
        number = number_of(text)
        message = None if number is None else self._messages.get(number)
        if message is None or text not in {self.id_of(message, immutable=one) for one in (False, True)}:
            return None
        return message

    def folder_id(self, folder: str) -> str:
        return item_id(f"{self.account} folders", FOLDERS.index(folder), self._epoch, immutable=False)

    def folder(self, text: str) -> str | None:
        """Return the folder that a well-known name or an id belongs to."""
        by_id = {self.folder_id(one): one for one in FOLDERS}
        return by_id.get(text, text.lower() if text.lower() in FOLDERS else None)

    def new(self, **values: Any) -> Document:  # noqa: ANN401  fields of a message
        """Store a new message, and return it."""
        self.next += 1
        return self.store({"number": self.next - 1, "moves": 0, **values})

    def store(self, message: Document) -> Document:
        """Keep a message that is new or changed, and return it as it is now."""
        before = self._messages.get(message["number"])
        if before is not None and before["folder"] != message["folder"]:
            self.delete(before)
        self._displace(message["number"])
        self.version += 1
        changed = message | {"version": self.version, "modified": self.now()}
        self._messages[message["number"]] = changed
        insort(self._order[message["folder"]], (message["received"], message["number"]))
        self.log.append(Change(self.version, changed, is_there=True))
        return changed

    def delete(self, message: Document) -> None:
        """Remove a message from its folder."""
        self.version += 1
        self.log.append(Change(self.version, message, is_there=False))
        self._displace(message["number"])

    def renumber(self) -> None:
        """Change every id, as when a mailbox is moved to another place; change logs of before are of no use."""
        self._epoch += 1
        self.forget_changes()

    def fill(self, count: int) -> None:
        """Add that many older messages to the inbox."""
        made = [filled(self.account, self.opened, number) for number in range(self.next, self.next + count)]
        self._messages |= {one["number"]: one for one in made}
        self._order["inbox"] += [(one["received"], one["number"]) for one in made]
        self._order["inbox"].sort()
        self.next += count
        self.forget_changes()

    def forget_changes(self) -> None:
        """Let every token of a delta query be too old."""
        self.run = secrets.token_hex(4)

    def changes_since(self, version: int, folder: str) -> Iterator[Change]:
        """Yield the last change of each message of a folder since a version, oldest first."""
        found: dict[int, Change] = {}
        for one in self.log[bisect_right(self.log, version, key=lambda change: change.version) :]:
            if one.message["folder"] == folder:
                _ = found.pop(one.message["number"], None)
                found[one.message["number"]] = one
        yield from found.values()

    def _displace(self, number: int) -> None:
        if (message := self._messages.pop(number, None)) is not None:
            order = self._order[message["folder"]]
            del order[bisect_left(order, (message["received"], number))]


class Mailboxes:
    """What the accounts have, each mailbox opened when it is first asked for; it ends with the process.

    `requests` counts calls by account. `sends` are the calls that send, oldest first: who made each, which, when,
    and whether it was refused.
    """

    def __init__(self, ground: SandboxGround, url: str) -> None:
        self.ground = ground
        self.url = url
        self.requests: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.sends: list[Document] = []
        self._mailboxes: dict[str, Mailbox] = {}
        self._kept: defaultdict[str, dict[str, list[Document]]] = defaultdict(dict)

    def mailbox(self, account: str) -> Mailbox:
        if account not in self._mailboxes:
            self._mailboxes[account] = Mailbox(self.ground.clock, account)
        return self._mailboxes[account]

    def kept(self, kind: str, account: str, first: Callable[[], list[Document]]) -> list[Document]:
        """Return what an account has of a kind (chats, events, task lists), to be changed; at first, `first`."""
        kept = self._kept[account]
        if kind not in kept:
            kept[kind] = first()
        return kept[kind]

    def reset(self, account: str) -> None:
        """Let an account be as it was at first, and as if it had been opened now."""
        _ = self._kept.pop(account, None)
        _ = self._mailboxes.pop(account, None)

    def note_send(self, account: str, call: str, *, refused: bool) -> None:
        at = self.ground.clock.now().timestamp()
        self.sends.append({"account": account, "call": call, "at": at, "refused": refused})
