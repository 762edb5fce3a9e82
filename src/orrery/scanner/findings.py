"""What a scan finds: its kind and its place, and never the text itself (decision 39)."""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, Protocol, get_args

WatchedKind = Literal["person", "customer", "project", "domain", "address"]
"""What a term of the watch-list is."""

BETWEEN = b"\n\0\n"
"""What separates texts that are searched together: nothing that is looked for goes over it."""

WATCHED: tuple[WatchedKind, ...] = get_args(WatchedKind)

FINGERPRINT_DIGITS = 12
"""Hexadecimal digits: enough to distinguish the findings of one owner."""

Kind = Literal[
    WatchedKind,
    "tenant-id",
    "label-site",
    "track-label",
    "corporate-address",
    "corporate-domain",
    "canary",
    "secret",
    "unreadable",
    "allowance",
]
"""The kind of a finding: `unreadable` could not be searched, an `allowance` does not count."""


@dataclass(frozen=True, slots=True)
class Match:
    """A place in one text: bytes `start` to `end`.

    `value` is what was found, in the form that all its spellings share; it is for the fingerprint alone. `rule` is
    the id of a secret's rule.
    """

    kind: Kind
    start: int
    end: int
    value: str = field(repr=False)
    rule: str = ""


@dataclass(frozen=True, slots=True)
class ScanFinding:
    """What must not be public.

    `line` is 0 where lines mean nothing. `fingerprint` is keyed, and empty without the key of the watch-list.
    `since` is the first commit that has it. `why` is the reason why something could not be searched.
    """

    kind: Kind
    place: str
    line: int = 0
    rule: str = ""
    fingerprint: str = ""
    since: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class FingerprintKey:
    """Makes fingerprints; without a key all are empty, because one without a key could be guessed."""

    key: bytes = field(default=b"", repr=False)

    def of(self, kind: str, value: str) -> str:
        """Return the fingerprint of a finding."""
        if not self.key:
            return ""
        return hmac.new(self.key, f"{kind}\0{value}".encode(), sha256).hexdigest()[:FINGERPRINT_DIGITS]


class Detector(Protocol):
    """Searches one text, UTF-8 or of an unknown encoding with 8 bits, of about a megabyte at most.

    Two threads may ask one detector at the same time.
    """

    def matches(self, text: bytes, place: str | None) -> Iterator[Match]:
        """Yield what must not be public.

        `place` is the path of the text's file, as `archive.zip!folder/file.txt`; the path is a text itself, too.
        It is None for several texts with `BETWEEN` them: then there is a match wherever one of them has one by
        itself, and perhaps further ones.
        """
        ...

    def is_for_path(self, path: str) -> bool:
        """Return whether a text with this path is searched by itself: its path decides what to look for."""
        ...
