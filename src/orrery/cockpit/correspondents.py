"""With whom mail was exchanged, as the messages that were read show. Pure; nothing of it is stored."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable
from datetime import datetime
from functools import lru_cache

from orrery.ports.comms.messages import MailboxMessage, Person
from orrery.syntax.character_folding import LOOKS, UNSPACED, plain
from orrery.syntax.web_address import organization_of

REGULAR = 3
"""Messages from an address that make it known without an answer to it: one message of a stranger does not."""

_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]|\s(?:via|\||[-\u2013\u2014/])\s.*|['\".]")
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_TITLE_WORDS = "dr prof mr mrs ms herr frau phd msc mba dipl ing jr sr ii iii"
_ROLE_WORDS = """
account accounts admin alert alerts bank billing bot center centre customer customers department desk digest events
feedback finance group help hr info invoice invoices jobs list mail mailer marketing membership news newsletter
notification notifications office online orders payments press registration sales security service services shop
status store support system team training update updates webmaster
"""
_TITLES, _ROLES = frozenset(_TITLE_WORDS.split()), frozenset(_ROLE_WORDS.split())
"""Of a name: what is none of the person's own, and words of a desk or a service, of whose name there are many."""

_LIKE_A_LETTER = str.maketrans({"0": "o", "1": "l", "|": "l", "i": "l"})

_PROVIDERS = """
gmail.com googlemail.com outlook.com hotmail.com live.com yahoo.com icloud.com me.com aol.com gmx.de gmx.net web.de
proton.me protonmail.com mail.com yandex.com qq.com 163.com
"""
_MAIL_PROVIDERS = frozenset(_PROVIDERS.split())
"""Where anybody gets an address: two there have nothing in common."""


def person_key(name: str) -> str:
    """Return what all spellings of a person's name have in common, or nothing for what names no person.

    Case, accents, the order of the words, titles, middle initials, notes in brackets and letters that look alike
    make no difference.
    """
    return _person_key(name[:200])


@lru_cache(maxsize=2000)
def _person_key(name: str) -> str:
    words = [one.casefold() for one in _WORD.findall(looks(_ASIDE.sub(" ", plain(name))))]
    words = [one for one in words if len(one) > 1 and one not in _TITLES]
    if not words or _ROLES & {*words} or (len(words) == 1 and not UNSPACED.search(words[0])):
        return ""
    return " ".join(sorted(one.translate(_LIKE_A_LETTER) for one in words))


def looks(text: str) -> str:
    """Return a text with Latin letters in the place of those that look like one."""
    return text if text.isascii() else text.translate(LOOKS)


_organization_of = lru_cache(maxsize=2000)(organization_of)


@lru_cache(maxsize=2000)
def domain_look(domain: str) -> str:
    """Return what domains have in common that a reader takes for one another."""
    letters = looks(plain(readable(domain))).casefold().translate(_LIKE_A_LETTER)
    return letters.replace("rn", "m").replace("vv", "w")


def readable(domain: str) -> str:
    """Return a domain in the letters that a mail program shows (RFC 5891)."""
    try:
        return domain.encode("ascii").decode("idna") if "xn--" in domain.lower() else domain
    except UnicodeError:
        return domain


def organization(address: str) -> str:
    """Return the registered domain of an address, or the address itself where it is at a mail provider's."""
    found = _organization_of(address.rpartition("@")[2])
    return address.casefold() if found in _MAIL_PROVIDERS else found


class Correspondents:
    """People by their addresses and names, in one track.

    `here` are the owner's addresses in it, `elsewhere` those of the other one, which no sentence names;
    `written_to` are people to whom the owner wrote.
    """

    def __init__(
        self,
        messages: Iterable[MailboxMessage],
        here: Iterable[str],
        elsewhere: Iterable[str] = (),
        written_to: Collection[Person] = (),
    ) -> None:
        self._here = frozenset(one.casefold() for one in here)
        self.own = self._here.union(one.casefold() for one in elsewhere)
        self._came: dict[str, tuple[datetime, ...]] = {}
        self._answered = {one.address.casefold() for one in written_to}
        received = [one for one in messages if _is_received(one)]
        for one in received:
            self._add(one)
        self._times = sorted(one.received_at for one in received)
        self._names: dict[str, set[str]] = {}
        for one in received:
            self._name(one.sender, one.sender_address)
        for one in written_to:
            self._name(one.name, one.address)
        self._domains: dict[str, set[str]] = {}
        for address in (*self._came, *self._answered, *self._here):
            if address in self._here or self.is_known(address):
                domain = address.rpartition("@")[2]
                self._domains.setdefault(domain_look(domain), set()).add(domain)

    def is_own(self, address: str) -> bool:
        return address.casefold() in self.own

    def is_colleague(self, address: str) -> bool:
        """Return whether an address is at an organization of the owner's."""
        return organization(address) in {organization(one) for one in self.own}

    def is_known(self, address: str, before: datetime | None = None) -> bool:
        """Return whether the owner wrote to this address, or it wrote regularly before a moment."""
        folded = address.casefold()
        came = self._came.get(folded, ())
        return folded in self._answered or (len(came) if before is None else bisect_left(came, before)) >= REGULAR

    def is_first(self, address: str, at: datetime) -> bool:
        """Return whether a message that came then is the first one from this address, and none went to it."""
        folded = address.casefold()
        return folded not in self._answered and not bisect_left(self._came.get(folded, ()), at)

    def known_as(self, name: str, address: str, before: datetime) -> str:
        """Return the address by which a person of this name is known elsewhere, or nothing."""
        if self.is_known(address, before):
            return ""
        named = self._of_name(name, before)
        return next((one for one in named if organization(one) != organization(address)), "")

    def is_second_address(self, name: str, address: str, before: datetime) -> bool:
        """Return whether a person of this name is known at the same organization."""
        return organization(address) in {organization(one) for one in self._of_name(name, before)}

    def _of_name(self, name: str, before: datetime) -> list[str]:
        return sorted(one for one in self._names.get(person_key(name), ()) if self.is_known(one, before))

    def likeness(self, address: str) -> str:
        """Return the known domain that the one of this address looks like and is not, or nothing."""
        domain = address.rpartition("@")[2].casefold()
        alike = self._domains.get(domain_look(domain))
        return "" if not alike or domain in alike else min(alike)

    def read_before(self, moment: datetime) -> int:
        """Return how many messages were read that came before."""
        return bisect_left(self._times, moment)

    @property
    def since(self) -> datetime | None:
        """When the oldest message came."""
        return self._times[0] if self._times else None

    def _add(self, message: MailboxMessage) -> None:
        folded, at = _folded(message.sender_address), message.received_at
        # More than these decide nothing, and thousands of people are kept.
        self._came[folded] = tuple(sorted((*self._came.get(folded, ()), at))[:REGULAR])
        if message.standing.is_answered:
            self._answered.add(folded)

    def _name(self, name: str, address: str) -> None:
        """Note the name of an address, if that is known: of a stranger's name nothing follows."""
        folded = address.casefold()
        if folded not in self.own and self.is_known(folded) and (key := person_key(name)):
            self._names.setdefault(key, set()).add(folded)


def _is_received(message: MailboxMessage) -> bool:
    return message.source == "mail" and bool(message.sender_address) and not message.standing.is_own


def _folded(address: str) -> str:
    """Return an address in lower case: most are so already, and are kept once."""
    folded = address.casefold()
    return address if address == folded else folded
