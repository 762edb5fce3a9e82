"""The messages of the folders that are listed: what was fetched once is kept, and only what is new is fetched."""

import re
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import groupby

from orrery.adapters.imap_mailbox.connection import SECONDS, ImapConnection
from orrery.adapters.imap_mailbox.content import PREVIEW_BYTES, preview_of
from orrery.adapters.imap_mailbox.folders import examine, fetch, search, stay_in, there_since
from orrery.adapters.imap_mailbox.headers import (
    LONGEST_HEADERS,
    LONGEST_SUBJECT,
    headers_of,
    message_ids,
    message_of,
)
from orrery.adapters.imap_mailbox.responses import Item, moment_of
from orrery.adapters.imap_mailbox.sent import SentMail, named_in
from orrery.ports.comms.errors import MailboxUnreachable, RowGone
from orrery.ports.comms.mailboxes import MessageBatch
from orrery.ports.comms.messages import MailboxMessage, in_short, kept_once
from orrery.syntax.bulk_mail import HEADERS

FIRST_BATCH = 50
BATCH = 500
"""Messages that are fetched at once: few at first, so that a list is there soon."""

MANY = 2000
"""New messages of a folder from which on asking for all their times takes longer than a person waits."""

_OTHERS = (
    "FROM SENDER REPLY-TO IMPORTANCE X-PRIORITY PRIORITY CONTENT-TYPE CONTENT-TRANSFER-ENCODING "
    f"MESSAGE-ID IN-REPLY-TO {' '.join(HEADERS).upper()}"
)
_LONG = "TO CC REFERENCES"
_ITEMS = (
    f"BODY.PEEK[HEADER.FIELDS (SUBJECT)]<0.{LONGEST_SUBJECT}>",
    f"BODY.PEEK[HEADER.FIELDS ({_OTHERS})]<0.{LONGEST_HEADERS}>",
    f"BODY.PEEK[HEADER.FIELDS ({_LONG})]<0.{LONGEST_HEADERS}>",
    f"BODY.PEEK[TEXT]<0.{PREVIEW_BYTES}>",
)
_EMPTY_LINES = re.compile(rb"(?:\r?\n)+")
_EMAIL_ID = re.compile(r"[A-Za-z0-9_-]{1,255}")
_BY_EMAIL_ID = re.compile(rf"id\.(?P<id>{_EMAIL_ID.pattern})")
_BY_NUMBER = re.compile(r"(?P<validity>[1-9][0-9]{0,9})\.(?P<uid>[1-9][0-9]{0,9})\.(?P<folder>.+)", re.DOTALL)
GONE = "This message is no longer in the mailbox."


@dataclass(slots=True)
class FolderMessage:
    """A message by its number in a folder; it is without its `message` until that was fetched.

    `message_id` is the digest of what its sender calls it.
    """

    folder: str
    uid: int
    source_id: str
    received_at: datetime
    message: MailboxMessage | None = None
    message_id: str = ""


@dataclass(slots=True)
class _Folder:
    """What is known of a folder while its numbers mean the same.

    `answered` are the numbers that are marked so, `undated` those of messages without a time.
    """

    validity: int = 0
    entries: dict[int, FolderMessage] = field(default_factory=dict[int, FolderMessage])
    answered: set[int] = field(default_factory=set[int])
    undated: set[int] = field(default_factory=set[int])


class FolderListing:
    """The messages of one mailbox. `folders` are the names of those that are listed, `own` its addresses."""

    def __init__(
        self, folders: Sequence[str], sent: SentMail, own: frozenset[str], seconds: float = SECONDS
    ) -> None:
        self._folders = folders
        self._sent = sent
        self._own = own
        self._seconds = seconds
        self._known = {name: _Folder() for name in folders}

    def read(self, connection: ImapConnection, since: date) -> Generator[MessageBatch]:
        """Yield what is there, the newest first; each batch has the whole deadline of the connection.

        Of a folder with many new messages the last that arrived come before the times of all others are known.
        """
        self._sent.read(connection, since)
        connection.within(self._seconds)
        shown = set[str]()
        for name in self._folders:
            new = self._search(connection, name, since)
            if len(new) > MANY:
                self._date(connection, name, sorted(new)[-FIRST_BATCH:])
                newest = _in_order([self._known[name]])[:FIRST_BATCH]
                yield self._batch(connection, newest)
                connection.within(self._seconds)
                shown |= {one.source_id for one in newest}
            self._date(connection, name, new)
        entries = [one for one in _in_order(self._known.values()) if one.source_id not in shown]
        unreadable = sum(len(one.undated) for one in self._known.values())
        first, size = 0, FIRST_BATCH
        while first < len(entries) or unreadable:
            yield self._batch(connection, entries[first : first + size], unreadable)
            connection.within(self._seconds)
            first, size, unreadable = first + size, BATCH, 0
        if people := self._sent.people:
            yield MessageBatch((), written_to=[*people])

    def open(self, connection: ImapConnection, source_id: str) -> int:
        """Open the folder that a message is in, and return its number there; raise `RowGone`."""
        if found := _BY_EMAIL_ID.fullmatch(source_id):
            return self._open_by_email_id(connection, found["id"])
        found = _BY_NUMBER.fullmatch(source_id)
        if found is None or found["folder"] not in self._folders:
            raise RowGone(GONE)
        if examine(connection, found["folder"]) != int(found["validity"]):
            raise RowGone(GONE)
        return int(found["uid"])

    def _open_by_email_id(self, connection: ImapConnection, email_id: str) -> int:
        for name in self._folders if connection.offers("OBJECTID") else ():
            _ = examine(connection, name)
            if uids := search(connection, "EMAILID", email_id, "UNDELETED"):
                return min(uids)
        raise RowGone(GONE)

    def _search(self, connection: ImapConnection, name: str, since: date) -> set[int]:
        """Forget what left a folder; return the numbers of what came to it."""
        validity = examine(connection, name)
        known = self._known[name] if self._known[name].validity == validity else _Folder()
        found, answered = there_since(connection, since)
        entries = {uid: entry for uid, entry in known.entries.items() if uid in found}
        self._known[name] = _Folder(validity, entries, answered, known.undated & found)
        return found - entries.keys() - known.undated

    def _date(self, connection: ImapConnection, name: str, uids: Iterable[int]) -> None:
        """Add the messages of the open folder with their times, but for those that have one."""
        folder = self._known[name]
        items = ["INTERNALDATE", *(["EMAILID"] if connection.offers("OBJECTID") else [])]
        for uid, one in fetch(connection, {*uids} - folder.entries.keys(), items):
            if moment := moment_of(one.get(b"INTERNALDATE")):
                source_id = _email_id(one.get(b"EMAILID")) or f"{folder.validity}.{uid}.{name}"
                folder.entries[uid] = FolderMessage(name, uid, source_id, moment)
            else:
                folder.undated.add(uid)

    def _batch(
        self, connection: ImapConnection, entries: Sequence[FolderMessage], unreadable: int = 0
    ) -> MessageBatch:
        """Return messages, those that are missing fetched; one that left its folder meanwhile is left out."""
        missing = sorted((one for one in entries if one.message is None), key=lambda one: one.folder)
        for name, several in groupby(missing, key=lambda one: one.folder):
            by_uid = {one.uid: one for one in several}
            if stay_in(connection, name) != self._known[name].validity:
                raise MailboxUnreachable("A folder was renumbered while it was read: it is read again.")
            for uid, found in fetch(connection, by_uid, _ITEMS):
                entry = by_uid[uid]
                head = _EMPTY_LINES.sub(b"\r\n", _bytes(found.get(b"BODY[HEADER")))  # it is of two parts
                preview = preview_of(head, _bytes(found.get(b"BODY[TEXT")))
                headers = headers_of(head)
                known = message_of(entry.source_id, entry.received_at, headers, preview, self._own)
                thread = [*named_in(headers), *message_ids(headers.get("message-id", ""))[:1]]
                conversation = in_short(thread[0]) if thread else ""
                entry.message = replace(known, conversation=conversation)
                if thread and "message-id" in headers:  # of most it is the same text, and kept once
                    entry.message_id = conversation if len(thread) == 1 else in_short(thread[-1])
        return MessageBatch([*filter(None, map(self._answered, entries))], unreadable)

    def _answered(self, entry: FolderMessage) -> MailboxMessage | None:
        """Return a message with whether it was answered: so it is marked, or a message that was sent names it."""
        if (message := entry.message) is None:
            return None
        marked = entry.uid in self._known[entry.folder].answered or self._sent.has_answered(entry.message_id)
        if marked != message.standing.is_answered:
            message = replace(message, standing=kept_once(replace(message.standing, is_answered=marked)))
            entry.message = message
        return message


def _in_order(folders: Iterable[_Folder]) -> list[FolderMessage]:
    """Return the entries, the newest first; a copy in another folder has the same id, and is left out."""
    every = (entry for one in folders for entry in one.entries.values())
    found: dict[str, FolderMessage] = {}
    for one in sorted(every, key=lambda one: (one.received_at, one.uid), reverse=True):
        _ = found.setdefault(one.source_id, one)
    return [*found.values()]


def _email_id(item: Item | None) -> str:
    """Return the id that a message keeps when it is moved (RFC 8474), where the server has one."""
    match item:
        case [bytes(held)] if _EMAIL_ID.fullmatch(text := held.decode("ascii", "replace")):
            return f"id.{text}"
        case _:
            return ""


def _bytes(item: Item | None) -> bytes:
    return item if isinstance(item, bytes) else b""
