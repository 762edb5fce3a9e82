"""What to look at twice about who wrote, in words. Pure: it decides from what was read."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from orrery.cockpit.correspondents import Correspondents, organization
from orrery.ports.comms.messages import MailboxMessage
from orrery.syntax.character_folding import plain
from orrery.syntax.lines import one_line

WarningKind = Literal["name-is-address", "known-person", "look-alike", "reply-to", "first-contact"]

ENOUGH = 10
"""Messages that were read of the time before, so that an address that is not among them is new."""

_LONGEST = 120
"""Characters of a name or an address in a sentence."""

_AT = re.compile(r"\s*(?:@|\(at\)|\[at\])\s*", re.IGNORECASE)
_ADDRESS = re.compile(r"([^\s@<>\"'(),;:]{1,64})@([\w-]{1,63}(?:\s{0,3}\.\s{0,3}[\w-]{1,63}){1,10})")
_SPACES = re.compile(r"\s+")
_BY_A_SERVICE = re.compile(r"\bvia\b", re.IGNORECASE)
_MACHINE = re.compile(
    r"(?:^|[._+-])(?:no-?reply|do-?not-?reply|donotreply|notif(?:y|ications?)|mailer|bounces?|alerts?|updates?|"
    r"invit(?:e|ations?)|auto(?:mated|-confirm)?|calendar|comments?|shares?|messages?|mentions?)(?:$|[._+-])",
    re.IGNORECASE,
)
"""The part ahead of the `@` of an address from which a service writes in people's names."""


@dataclass(frozen=True, slots=True)
class SenderWarning:
    """One thing to look at, as a sentence. `is_alarm`: the list shows it, too."""

    kind: WarningKind
    words: str

    @property
    def is_alarm(self) -> bool:
        return self.kind in {"name-is-address", "known-person", "look-alike"}


def warnings_of(message: MailboxMessage, known: Correspondents) -> list[SenderWarning]:
    """Return what to look at about a message's sender, the most important first; most messages have nothing."""
    if not message.sender_address or message.standing.is_own or known.is_own(message.sender_address):
        return []
    return [*alarms_of(message, known), *_notes(message, known)]


def alarms_of(message: MailboxMessage, known: Correspondents) -> list[SenderWarning]:
    """Return the signs that the sender may pose as another. It is asked for each row of the list."""
    address = message.sender_address
    found = [*_alarms(message, address, known)] if address and not known.is_own(address) else []
    return [] if found and _is_relay(message) else found


def _alarms(message: MailboxMessage, address: str, known: Correspondents) -> Iterator[SenderWarning]:
    if written := _another_address(message.sender, address):
        words = f"The name reads {_shown(written)}, but the address is {_shown(address)}."
        yield SenderWarning("name-is-address", words)
    if other := known.known_as(message.sender, address, message.received_at):
        words = f"You know {_shown(message.sender)} as {_shown(other)}, but the address is {_shown(address)}."
        yield SenderWarning("known-person", words)
    if alike := known.likeness(address):
        words = f"The address is at {_in_ascii(address)}, which only looks like {_shown(alike)}."
        yield SenderWarning("look-alike", words)


def _notes(message: MailboxMessage, known: Correspondents) -> Iterator[SenderWarning]:
    address = message.sender_address
    if elsewhere := _reply_elsewhere(message, known):
        words = f"An answer would go to {', '.join(map(_shown, elsewhere))}, not to {_shown(address)}."
        yield SenderWarning("reply-to", words)
    if _is_first_contact(message, known) and known.since:
        yield SenderWarning("first-contact", f"No other mail from or to this address since {_day(known.since)}.")


def _is_first_contact(message: MailboxMessage, known: Correspondents) -> bool:
    address, at = message.sender_address, message.received_at
    if message.source != "mail" or message.standing.is_bulk or message.standing.lists or _is_relay(message):
        return False
    is_expected = known.is_colleague(address) or known.is_second_address(message.sender, address, at)
    return known.is_first(address, at) and not is_expected and known.read_before(at) >= ENOUGH


def _reply_elsewhere(message: MailboxMessage, known: Correspondents) -> list[str]:
    """Return where an answer would go that is of another organization than the sender, and not known either."""
    if _is_relay(message):
        return []
    here = organization(message.sender_address)
    others = [one.address for one in message.reply_to if one.address]
    return [
        one
        for one in others
        if organization(one) != here
        and one.casefold() not in message.standing.lists
        and not known.is_own(one)
        and not known.is_known(one, message.received_at)
    ][:3]


def _is_relay(message: MailboxMessage) -> bool:
    """Return whether a list or a service wrote in somebody's name, and shows that: its address is no deceit."""
    address, standing = message.sender_address.casefold(), message.standing
    if address in standing.lists:
        return True
    by_a_machine = bool(_MACHINE.search(address.rpartition("@")[0]))
    return by_a_machine and (standing.is_bulk or bool(_BY_A_SERVICE.search(message.sender)))


def _another_address(name: str, address: str) -> str:
    """Return the address that a name is written as, of another organization than the sender's, or nothing."""
    shown = plain(name[:300])
    found = _ADDRESS.search(_AT.sub("@", shown)) if "@" in shown or "at" in shown.casefold() else None
    if found is None:
        return ""
    local, domain = found[1], _SPACES.sub("", found[2]).strip(".-")
    if "." not in domain:
        return ""
    written = f"{local}@{domain}"
    return written if organization(written.casefold()) != organization(address.casefold()) else ""


def _in_ascii(address: str) -> str:
    domain = address.rpartition("@")[2]
    try:
        return _shown(domain if domain.isascii() else domain.encode("idna").decode())
    except UnicodeError:
        return _shown(domain)


def _shown(text: str) -> str:
    return one_line(text, _LONGEST)


def _day(moment: datetime) -> str:
    at = moment.astimezone()
    return f"{at.day} {at:%B %Y}"
