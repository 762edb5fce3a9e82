"""The headers of a message as anybody may have written them: broken, hostile, in any encoding. Pure."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from email.errors import HeaderParseError
from email.header import decode_header
from email.utils import getaddresses, parseaddr
from itertools import islice

from orrery.ports.comms.messages import (
    NO_PERSON,
    UNKNOWN,
    MailboxMessage,
    Person,
    Priority,
    Standing,
    addressed,
    kept_once,
    people,
)
from orrery.syntax.bulk_mail import is_bulk, lists_of
from orrery.syntax.email_address import is_email_address

LONGEST_SUBJECT = 8 * 1024
LONGEST_HEADERS = 16 * 1024
"""Bytes that are fetched of a message's subject, and of the other headers that the list needs."""

_LONGEST_ADDRESS = 1000
"""Characters of a header with addresses that are looked at: the first one is within them."""

_LONGEST_RECIPIENTS = 16 * 1024
_MOST_RECIPIENTS = 200
"""Characters of a header with recipients, and people in it, that are looked at."""

_FIELD = re.compile(rb"^([!-9;-~]+)[ \t]*:((?:[^\r\n]|\r?\n[ \t])*)", re.MULTILINE)
_FOLD = re.compile(r"\r?\n(?=[ \t])")
_MESSAGE_ID = re.compile(r"<[!-;=?-~]{1,250}>")

_PRIORITIES: Mapping[str, Mapping[str, Priority]] = {
    "importance": {"high": "high", "low": "low"},
    "x-priority": {"1": "high", "2": "high", "4": "low", "5": "low"},
    "priority": {"urgent": "high", "non-urgent": "low"},
}
"""RFC 2156 for the first and the last; what mail programs write for the second."""


def headers_of(head: bytes) -> dict[str, str]:
    """Return the headers by their names in lower case, the first of each; encoded words are not yet decoded."""
    found: dict[str, str] = {}
    for name, value in _FIELD.findall(head):
        _ = found.setdefault(name.decode().lower(), _FOLD.sub("", text_of(value)).strip())
    return found


def text_of(raw: bytes, charset: str = "utf-8") -> str:
    """Return bytes as text, whatever character set is named: each byte becomes something."""
    for name in (charset, "utf-8", "cp1252"):
        try:
            return raw.decode(name)
        except (LookupError, ValueError):
            continue
    return raw.decode("latin-1")


def is_charset(name: str, raw: bytes) -> bool:
    """Return whether bytes are text in a character set of this name."""
    try:
        _ = raw.decode(name)
    except (LookupError, ValueError):
        return False
    return True


def words_of(header: str) -> str:
    """Return a header with its encoded words decoded (RFC 2047), cut to what is looked at."""
    try:
        parts = decode_header(header[:LONGEST_SUBJECT])
    except (HeaderParseError, ValueError):
        return header
    return "".join(part if isinstance(part, str) else _part(part, charset) for part, charset in parts)


def _part(part: bytes, charset: str | None) -> str:
    # The library returns text between encoded words as bytes, in which a letter beyond Latin-1 is escaped.
    return text_of(part, charset) if charset else part.decode("raw-unicode-escape", "replace")


def address_of(headers: Mapping[str, str], *names: str) -> Person:
    """Return whom the first of these headers names that has an address, or `NO_PERSON`.

    A name that is missing is the address.
    """
    for name in names:
        try:
            shown, address = parseaddr(headers.get(name, "")[:_LONGEST_ADDRESS])
        except (ValueError, IndexError, RecursionError):  # it follows comments inside of comments
            continue
        if is_email_address(address):
            return people((words_of(shown) or address, address))[0]
    return NO_PERSON


def people_of(headers: Mapping[str, str], name: str) -> tuple[Person, ...]:
    """Return who a header names, in its order; no person for one that cannot be read."""
    try:
        found = getaddresses([headers.get(name, "")[:_LONGEST_RECIPIENTS]])
    except (ValueError, IndexError, RecursionError):
        return ()
    known = ((shown, address) for shown, address in found if is_email_address(address))
    return people(*((words_of(shown), address) for shown, address in islice(known, _MOST_RECIPIENTS)))


def priority_of(headers: Mapping[str, str]) -> Priority:
    for name, meanings in _PRIORITIES.items():
        first = headers.get(name, "").casefold().split(maxsplit=1)[:1]
        if first and first[0] in meanings:
            return meanings[first[0]]
    return "normal"


def message_ids(header: str) -> list[str]:
    """Return the ids of messages in a header."""
    return _MESSAGE_ID.findall(header)


def message_of(
    source_id: str, received_at: datetime, headers: Mapping[str, str], preview: str, own: Iterable[str] = ()
) -> MailboxMessage:
    """Return a message as it is listed; `own` are the account's addresses, in lower case."""
    sender = address_of(headers, "from", "sender")
    to, cc, known = people_of(headers, "to"), people_of(headers, "cc"), frozenset(own)
    return MailboxMessage(
        source="mail",
        source_id=source_id,
        sender=sender.name or words_of(headers.get("from", "")[:_LONGEST_ADDRESS]),
        sender_address=sender.address,
        address=address_of(headers, "reply-to", "from", "sender").address,
        to=to,
        cc=cc,
        reply_to=people_of(headers, "reply-to"),
        subject=words_of(headers.get("subject", "")),
        preview=preview,
        received_at=received_at,
        priority=priority_of(headers),
        standing=kept_once(
            Standing(
                addressed=addressed(known, to, cc) if headers.keys() & {"to", "cc"} else UNKNOWN.addressed,
                lists=lists_of(headers),
                is_bulk=is_bulk(headers),
                is_own=sender.address.casefold() in known,
            )
        ),
    )
