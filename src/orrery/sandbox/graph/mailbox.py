"""The accounts' mailboxes: messages by number, in the order of their times, and the log of changes.

A message that a lever filled in follows from its number; only differences from that are stored.
"""

import secrets
from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orrery.sandbox.graph.call import item_id, number_of
from orrery.sandbox.graph.seed import filled, first_messages
from orrery.sandbox.ground import Document, SandboxGround

MESSAGES = "_graph_message"
MAILBOXES = "_graph_mailbox"
FOLDERS = ("inbox", "drafts", "sentitems", "archive", "deleteditems", "junkemail")
"""The folders by their well-known names."""

EVERYWHERE = ""
"""All folders."""


@dataclass(frozen=True, slots=True)
class Change:
    """That a message changed in a folder, or is no longer in it; `ids` are those of then, immutable last."""

    version: int
    number: int
    folder: str
    is_there: bool
    ids: tuple[str, str]


class Mailbox:
    """The messages of an account. One that changes gets a new version, and is in the log of changes."""

    def __init__(self, ground: SandboxGround, account: str) -> None:
        self._state = ground.state
        self._clock = ground.clock
        self.account = account
        self.run = secrets.token_hex(4)
        """Changes with each start of the sandbox: what came before is in no log of changes."""
        self._messages: dict[int, Document] = {}
        self._order: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self.log: list[Change] = []
        self.about: Document = self._state.get(MAILBOXES, account) or self._opened()
        self._load()

    def now(self) -> int:
        """Return the time in whole Unix seconds."""
        return int(self._clock.now().timestamp())

    def get(self, number: int) -> Document | None:
        return self._messages.get(number)

    def numbers(
        self, folder: str, *, since: int | None = None, until: int | None = None, newest_first: bool = True
    ) -> list[int]:
        """Return the messages of a folder by the time that they were received, between two times if given."""
        order = self._order[folder]
        low = 0 if since is None else bisect_left(order, (since, 0))
        high = len(order) if until is None else bisect_right(order, (until, 1 << 62))
        found = [number for _, number in order[low:high]]
        return found[::-1] if newest_first else found

    def id_of(self, message: Document, *, immutable: bool) -> str:
        return item_id(
            self.account, message["number"], self._turn(message, immutable=immutable), immutable=immutable
        )

    def found(self, text: str) -> Document | None:
        """Return the message that an id of either kind belongs to."""
        number = number_of(text)
        message = None if number is None else self._messages.get(number)
        if message is None or text not in {self.id_of(message, immutable=one) for one in (False, True)}:
            return None
        return message

    def folder_id(self, folder: str) -> str:
        return item_id(f"{self.account} folders", FOLDERS.index(folder), self.about["epoch"], immutable=False)

    def folder(self, text: str) -> str | None:
        """Return the folder that a well-known name or an id belongs to."""
        by_id = {self.folder_id(one): one for one in FOLDERS}
        return by_id.get(text, text.lower() if text.lower() in FOLDERS else None)

    def new(self, **values: Any) -> Document:  # noqa: ANN401  fields of a message
        """Store a new message, and return it."""
        number = self.about["next"]
        self._save_about(next=number + 1)
        message = {"number": number, "moves": 0, **values}
        self.store(message)
        return message

    def store(self, message: Document) -> None:
        """Write a message that is new or changed."""
        version, before = self._next_version(), self._messages.get(message["number"])
        if before is not None and before["folder"] != message["folder"]:
            self._note(before, is_there=False)
        changed = message | {
            "object": MESSAGES,
            "id": f"{self.account}/{message['number']}",
            "account": self.account,
            "version": version,
            "modified": self.now(),
        }
        self._state.save(changed)
        self._place(changed)
        self._note(changed, is_there=True)

    def move(self, message: Document, folder: str) -> None:
        """Put a message into another folder: its ordinary id changes."""
        self.store(message | {"folder": folder, "moves": message["moves"] + 1})

    def delete(self, message: Document) -> None:
        """Remove a message, which nothing brings back."""
        _ = self._next_version()
        self._note(message, is_there=False)
        self._displace(message["number"])
        stored = {"object": MESSAGES, "id": f"{self.account}/{message['number']}", "account": self.account}
        self._state.save(stored | {"number": message["number"], "gone": True})

    def renumber(self) -> None:
        """Change every id, as when a mailbox is moved to another place; change logs of before are of no use."""
        self._save_about(epoch=self.about["epoch"] + 1)
        self.forget_changes()

    def fill(self, count: int) -> None:
        """Add that many older messages to the inbox."""
        start = self.about["next"]
        self._save_about(next=start + count, filled=[*self.about["filled"], [start, count]])
        self._place_filled(start, count)
        self.forget_changes()

    def forget_changes(self) -> None:
        """Let every token of a delta query be too old."""
        self.run = secrets.token_hex(4)

    def changes_since(self, version: int, folder: str) -> Iterator[Change]:
        """Yield the last change of each message of a folder since a version, oldest first."""
        found: dict[int, Change] = {}
        for one in self.log[bisect_right(self.log, version, key=lambda change: change.version) :]:
            if one.folder == folder:
                _ = found.pop(one.number, None)
                found[one.number] = one
        yield from found.values()

    def _turn(self, message: Document, *, immutable: bool) -> int:
        return self.about["epoch"] << 20 | (0 if immutable else message["moves"])

    def _opened(self) -> Document:
        about: Document = {
            "object": MAILBOXES,
            "id": self.account,
            "opened": self.now(),
            "epoch": 0,
            "version": 0,
            "next": 1,
            "filled": [],
        }
        self._state.save(about)
        return about

    def _load(self) -> None:
        seeds = first_messages(self.account, self.about["opened"])
        for number, seed in enumerate(seeds, start=1):
            self._place(seed | {"number": number, "moves": 0, "version": 0, "modified": seed["received"]})
        if self.about["next"] == 1:
            self._save_about(next=len(seeds) + 1)
        for start, count in self.about["filled"]:
            self._place_filled(start, count)
        for one in reversed(list(self._state.newest_first(MESSAGES))):
            if one["account"] == self.account:
                if one.get("gone"):
                    self._displace(one["number"])
                else:
                    self._place(one)

    def _place_filled(self, start: int, count: int) -> None:
        for number in range(start, start + count):
            message = filled(self.account, self.about["opened"], number)
            self._messages[number] = message
            for folder in (message["folder"], EVERYWHERE):
                self._order[folder].append((message["received"], number))
        for order in self._order.values():
            order.sort()

    def _place(self, message: Document) -> None:
        self._displace(message["number"])
        self._messages[message["number"]] = message
        for folder in (message["folder"], EVERYWHERE):
            insort(self._order[folder], (message["received"], message["number"]))

    def _displace(self, number: int) -> None:
        message = self._messages.pop(number, None)
        if message is None:
            return
        for folder in (message["folder"], EVERYWHERE):
            order = self._order[folder]
            del order[bisect_left(order, (message["received"], number))]

    def _note(self, message: Document, *, is_there: bool) -> None:
        ids_then = (self.id_of(message, immutable=False), self.id_of(message, immutable=True))
        self.log.append(Change(self.about["version"], message["number"], message["folder"], is_there, ids_then))

    def _next_version(self) -> int:
        self._save_about(version=self.about["version"] + 1)
        return self.about["version"]

    def _save_about(self, **values: object) -> None:
        self.about = self.about | values
        self._state.save(self.about)


CHATS, EVENTS, TASKS = "_graph_chats", "_graph_calendar", "_graph_tasks"
"""The kinds of document in which an account's chats, events and tasks are kept, one of each."""

_SENDS = "_graph_send"
_SHOWN = ("account", "call", "at", "refused")


class Mailboxes:
    """The accounts' mailboxes, opened when they are first asked for; `requests` counts calls by account."""

    def __init__(self, ground: SandboxGround, url: str) -> None:
        self.ground = ground
        self.url = url
        self.requests: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._mailboxes: dict[str, Mailbox] = {}

    def mailbox(self, account: str) -> Mailbox:
        if account not in self._mailboxes:
            self._mailboxes[account] = Mailbox(self.ground, account)
        return self._mailboxes[account]

    def reset(self, account: str) -> None:
        """Let an account be as it was at first, and as if it had been opened now."""
        state = self.ground.state
        for kind in (MAILBOXES, CHATS, EVENTS, TASKS):
            state.remove(kind, account)
        for one in list(state.newest_first(MESSAGES)):
            if one["account"] == account:
                state.remove(MESSAGES, one["id"])
        _ = self._mailboxes.pop(account, None)

    def sends(self) -> list[Document]:
        """Return the calls that send, oldest first: who made each, which, when, and whether it was refused."""
        sends = reversed(list(self.ground.state.newest_first(_SENDS)))
        return [{name: one[name] for name in _SHOWN} for one in sends]

    def note_send(self, account: str, call: str, *, refused: bool) -> None:
        number = len(list(self.ground.state.newest_first(_SENDS))) + 1
        at = self.ground.clock.now().timestamp()
        self.ground.state.save(
            {"object": _SENDS, "id": str(number), "account": account, "call": call, "at": at, "refused": refused}
        )

    def forget_sends(self) -> None:
        for one in list(self.ground.state.newest_first(_SENDS)):
            self.ground.state.remove(_SENDS, one["id"])
