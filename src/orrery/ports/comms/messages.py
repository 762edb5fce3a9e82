"""A message as the cockpit lists it, from any source."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Literal

Source = Literal["mail", "teams", "meeting", "action-hub"]
"""What a row came by (spec 3, Cockpit records); `action-hub` is the cockpit's own action ledger."""

Priority = Literal["high", "normal", "low"]

Addressed = Literal["to", "copy", "unnamed"]
"""How a message names the account: among those who are to act, as a copy only, or not at all (Bcc, a list)."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in a header; the name or the address may be empty."""

    name: str
    address: str


NO_PERSON = Person("", "")


@dataclass(frozen=True, slots=True)
class Standing:
    """What decides whether a message waits (decision 57), in the same words for every source.

    A fact that a source does not give has its default, with which the message waits: a missing fact hides nothing.
    `lists` are the mailing lists that it came by, each an id or an address in lower case. `is_bulk`: its headers
    show that it went to many, or that a machine wrote it. `is_answered`: the owner answered it, or wrote after it,
    by any client. `is_complete`: it is flagged so in its mailbox. `is_own`: the owner wrote it, or it is a time in
    the calendar without guests. `is_notice`: the last entry of a chat has no author: somebody joined.
    """

    addressed: Addressed = "to"
    lists: tuple[str, ...] = ()
    is_bulk: bool = False
    is_answered: bool = False
    is_complete: bool = False
    is_own: bool = False
    is_notice: bool = False
    is_cancelled: bool = False
    is_declined: bool = False


UNKNOWN = Standing()


@lru_cache(maxsize=4096)
def kept_once(standing: Standing) -> Standing:
    """Return the same object for the same standing: thousands of messages share a few."""
    return standing


@dataclass(frozen=True, slots=True)
class MailboxMessage:
    """One message, chat or meeting. Its texts are the vendor's, unaltered.

    `source_id` is the vendor's own, one that stays when the message is moved where the vendor has such an id.
    `sender` is a name or an address, `sender_address` where it came from, and `address` the mail address to reply
    to, which may differ; each may be empty. Those of a meeting are its organizer's. `to`, `cc` and `reply_to` are
    as the sender wrote them. `received_at` of a meeting is its beginning, `ends_at` its end; one of a whole day
    begins and ends at a midnight of this machine. `conversation` is the same for messages of one conversation in a
    mailbox, and empty where that is not known. `web_link` may be empty.
    """

    source: Source
    source_id: str
    sender: str
    address: str
    subject: str
    preview: str
    received_at: datetime
    priority: Priority = "normal"
    web_link: str = ""
    sender_address: str = ""
    to: tuple[Person, ...] = ()
    cc: tuple[Person, ...] = ()
    reply_to: tuple[Person, ...] = ()
    conversation: str = ""
    ends_at: datetime | None = None
    is_all_day: bool = False
    standing: Standing = UNKNOWN


@lru_cache(maxsize=4096)
def people(*named: tuple[str, str]) -> tuple[Person, ...]:
    """Return names with their addresses as people; those of many messages are the same, and kept once."""
    return tuple(Person(name, address) for name, address in named)


def in_short(name: str) -> str:
    """Return a short name of a message or a conversation: vendors' have 150 characters, and thousands are kept."""
    return blake2b(name.encode("utf-8", "replace"), digest_size=7).hexdigest()


def addressed(own: Collection[str], to: Iterable[Person], cc: Iterable[Person]) -> Addressed:
    """Return how a message names the account whose `own` addresses, in lower case, these are."""
    if any(one.address.casefold() in own for one in to):
        return "to"
    return "copy" if any(one.address.casefold() in own for one in cc) else "unnamed"
