"""What the account's owner sent, by any program: which messages it answers."""

import re
from collections.abc import Collection, Mapping
from datetime import date

from orrery.adapters.imap_mailbox.connection import ImapConnection
from orrery.adapters.imap_mailbox.folders import examine_encoded, fetch, folder_named, next_number, search
from orrery.adapters.imap_mailbox.headers import headers_of, message_ids, people_of
from orrery.adapters.imap_mailbox.responses import day_of
from orrery.ports.comms.messages import Person, in_short

MARK = b"\\sent"
"""The folder of sent mail, as the server marks it (RFC 6154)."""

_AT_ONCE = 500
_WHAT = "The folder of sent mail"
_ITEMS = (
    "BODY.PEEK[HEADER.FIELDS (IN-REPLY-TO REFERENCES)]<0.16384>",
    "BODY.PEEK[HEADER.FIELDS (TO CC)]<0.16384>",
)
_EMPTY_LINES = re.compile(rb"(?:\r?\n)+")


def named_in(headers: Mapping[str, str]) -> list[str]:
    """Return the ids of the messages before one in its thread, the first of the thread first (RFC 5322, 3.6.4)."""
    before = message_ids(headers.get("references", ""))
    return [*before, *(one for one in message_ids(headers.get("in-reply-to", "")) if one not in before)]


class SentMail:
    """The messages that are answered from this account: only what is new in the folder is read."""

    def __init__(self, named: str | None) -> None:
        """`named` is the folder of the settings, else it is the one that the server marks."""
        self._named = named
        self._folder: str | None = None
        self._seen = (0, 0)
        self._answered: set[str] = set()
        self._people: dict[str, Person] = {}

    @property
    def is_missing(self) -> bool:
        """Whether neither settings nor server name a folder: then only the flag shows what is answered."""
        return self._folder == ""

    @property
    def people(self) -> Collection[Person]:
        """To whom it went."""
        return self._people.values()

    def has_answered(self, message_id: str) -> bool:
        """Return whether a message that was sent names this one."""
        return message_id in self._answered

    def read(self, connection: ImapConnection, since: date) -> None:
        """Read what was sent since the last time: one command shows whether there is anything."""
        if self._folder is None:
            self._folder = folder_named(connection, self._named, MARK) or ""
        if not self._folder:
            return
        now = next_number(connection, self._folder, _WHAT)
        if now == self._seen:
            return
        validity, first = examine_encoded(connection, self._folder, _WHAT), 1
        if validity == self._seen[0]:
            first = self._seen[1]
        found = search(connection, "UID", f"{max(first, 1)}:*", "SINCE", day_of(since))
        self._take(connection, sorted(one for one in found if one >= first))
        self._seen = (validity, now[1])

    def _take(self, connection: ImapConnection, uids: list[int]) -> None:
        for start in range(0, len(uids), _AT_ONCE):
            for _, one in fetch(connection, uids[start : start + _AT_ONCE], _ITEMS):
                head = one.get(b"BODY[HEADER")
                if isinstance(head, bytes):
                    headers = headers_of(_EMPTY_LINES.sub(b"\r\n", head))  # it is of two parts
                    self._answered.update(map(in_short, named_in(headers)))
                    named = (*people_of(headers, "to"), *people_of(headers, "cc"))
                    self._people |= {one.address.casefold(): one for one in named}
