"""Short references to payment sessions: what leaves the house in place of a session's id (decision 46).

A session id is a ticket: it reads the state of a purchase and opens the practice site. A reference opens nothing;
the owner's commands take it.
"""

import hmac
import re
from base64 import b32encode, urlsafe_b64encode
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

from orrery.ports.notifier import Notifier, OutgoingMessage, Received
from orrery.syntax.session_id import SESSION_ID

PREFIX = "ref_"

DIGITS = 12
"""Letters and digits of a reference, 60 bits: of a million sessions two share one with a chance of 4 in 10^7."""

_ALPHABET = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789abcdefghjkmnpqrstvwxyz")
"""Base 32 without i, l, o and u, which look like others (Crockford's alphabet)."""

_REFERENCE = re.compile(rf"{PREFIX}[0-9a-z]{{{DIGITS}}}")

_NUMBER = re.compile(r"([0-9a-z]{4})-([0-9a-z]{4})-([0-9a-z]{4})")

_LINK = re.compile(rf"(?<=[?&]link=)([0-9a-z]{{{DIGITS}}})\.([0-9]+)(?![.\w])")


@dataclass(frozen=True, slots=True)
class References:
    """Makes the references of one store's sessions; beside another store's they mean nothing."""

    _key: bytes = field(repr=False)

    @classmethod
    def of_store(cls, store_key: bytes) -> "References":
        """Return those under a key derived from the store's own, which has other uses too."""
        return cls(hmac.digest(store_key, b"orrery references of sessions", "sha256"))

    def of(self, session_id: str) -> str:
        """Return the reference of one session, such as `ref_7k3m9xq2hd4v`."""
        return _reference(self._key, session_id)

    def sequence(self, text: str) -> str:
        """Return 32 hexadecimal digits for the sequence of a message.

        They take the store's key: no other program can publish future messages that would then count as delivered.
        """
        return hmac.digest(self._key, f"sequence {text}".encode(), "sha256").hex()[:32]

    def number_of(self, session_id: str, given: str | None = None) -> str:
        """Return the number of a sale outside a series, such as `7K3M-9XQ2-HD4V`: its reference, for buyers.

        `given` is the one of a series, if one numbers the sale.
        """
        if given is not None:
            return given
        digits = self.of(session_id).removeprefix(PREFIX).upper()
        return "-".join(digits[at : at + 4] for at in range(0, DIGITS, 4))

    def link_to(self, session_id: str, generation: int) -> str:
        """Return what a link that opens an access ends with; its key is added when the e-mail is sent."""
        return f"{self.of(session_id).removeprefix(PREFIX)}.{generation}"

    def key_of_link(self, digits: str, generation: int) -> str:
        """Return the key in a link that opens an access; a record's next generation ends the links before.

        `digits` are those of the session's reference. The key is computed where it is needed, and kept nowhere.
        """
        digest = hmac.digest(self._key, f"link {generation} {digits}".encode(), "sha256")
        return urlsafe_b64encode(digest[:16]).rstrip(b"=").decode("ascii")

    def with_keys(self, text: str) -> str:
        """Return `text` with the key in each link that opens an access."""
        return _LINK.sub(lambda found: f"{found[0]}.{self.key_of_link(found[1], int(found[2]))}", text)

    def within(self, text: str) -> str:
        """Return `text` with a reference in the place of each session id."""
        return SESSION_ID.sub(lambda found: self.of(found.group()), text)


class ReferringNotifier:
    """Sends messages without session ids; the links in a buyer's e-mail get their keys, which no stored one has.

    An e-mail that an earlier release stored keeps the session's id in its text.
    """

    def __init__(self, notifier: Notifier, references: References) -> None:
        self._notifier = notifier
        self._references = references

    async def send(self, message: OutgoingMessage) -> None:
        """Send the message with references in its id and title, and in its text unless it goes to a buyer."""
        await self._notifier.send(self._shown(message))

    async def received(self, since: datetime) -> Received:
        """Ask the receiver what it has got."""
        received = await self._notifier.received(since)
        return lambda message: received(self._shown(message))

    async def check(self) -> str:
        """Look whether the receiver can be reached."""
        return await self._notifier.check()

    def _shown(self, message: OutgoingMessage) -> OutgoingMessage:
        within = self._references.within
        with_keys = self._references.with_keys if message.to else within
        sequence = message.sequence and self._references.sequence(message.sequence)
        body, title = with_keys(message.body), within(message.title)
        return replace(message, id=within(message.id), title=title, body=body, sequence=sequence)


@lru_cache(maxsize=64)  # a sale's e-mail and log lines name the same session
def _reference(key: bytes, session_id: str) -> str:
    digest = hmac.digest(key, session_id.encode(), "sha256")
    return PREFIX + b32encode(digest[:10]).decode("ascii")[:DIGITS].translate(_ALPHABET)


def as_reference(text: str) -> str | None:
    """Return a typed reference, also in the form of a sale's number; None when the text is neither."""
    typed = text.strip().lower()
    if number := _NUMBER.fullmatch(typed):
        return PREFIX + "".join(number.groups())
    return typed if _REFERENCE.fullmatch(typed) else None
