"""The watch-list: terms that must not be public, in one encrypted file outside of every repository."""

import json
import secrets
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from orrery.errors import DependencyFailed, Invalid, NotConfigured
from orrery.scanner.detectors.spelling import address_of, value_of
from orrery.scanner.findings import WATCHED, FingerprintKey, WatchedKind
from orrery.scanner.policy import Term

MOST_TERMS = 100_000
LONGEST_NOTE = 200

SECRET = "watch_list_key"  # noqa: S105  its name

_KINDS: Mapping[str, WatchedKind] = {kind: kind for kind in WATCHED}

_MAGIC = b"orrery watch-list\n"
_VERSION = b"\x01"
_KEY_BYTES, _CHECK_BYTES, _SALT_BYTES, _NONCE_BYTES = 32, 8, 16, 12
_HEAD = len(_MAGIC) + len(_VERSION) + _CHECK_BYTES + _SALT_BYTES


@dataclass(frozen=True, slots=True)
class WatchListEntry:
    """One term with the day it was added, as in `2026-05-04`, and what its owner notes about it."""

    kind: WatchedKind
    text: str = field(repr=False)
    added: str
    note: str = field(default="", repr=False)


def new_key() -> str:
    """Return a new key as the text of a secret file."""
    return urlsafe_b64encode(secrets.token_bytes(_KEY_BYTES)).decode().rstrip("=")


def is_key(text: str) -> bool:
    """Return whether a text has the form of a key."""
    return len(_bytes_of(text)) == _KEY_BYTES


def _bytes_of(text: str) -> bytes:
    try:
        return b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return b""


@dataclass(frozen=True, slots=True)
class WatchListKeys:
    """The keys that are derived from the secret: one for each purpose, of which none reveals another."""

    secret: bytes = field(repr=False)

    @classmethod
    def of(cls, text: str) -> "WatchListKeys":
        return cls(_bytes_of(text))

    @property
    def fingerprints(self) -> FingerprintKey:
        return FingerprintKey(self._derived(b"fingerprints"))

    @property
    def check(self) -> bytes:
        """A mark in a list, which distinguishes a wrong key from an altered file."""
        return self._derived(b"check")[:_CHECK_BYTES]

    def cipher(self, salt: bytes) -> AESGCM:
        return AESGCM(self._derived(b"encryption", salt))

    def _derived(self, purpose: bytes, salt: bytes | None = None) -> bytes:
        info = b"orrery watch-list 1: " + purpose
        return HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=salt, info=info).derive(self.secret)


def folded(kind: WatchedKind, text: str) -> str:
    """Return the form that all spellings of a term share, as the search has it: one form is one term."""
    return address_of(text) if kind in ("domain", "address") else value_of(text)


@dataclass(frozen=True, slots=True)
class WatchList:
    """The entries, in the order in which they were added; each kind and folded text is there once."""

    entries: tuple[WatchListEntry, ...] = field(default=(), repr=False)

    @property
    def terms(self) -> tuple[Term, ...]:
        return tuple(Term(one.kind, one.text) for one in self.entries)

    def with_entries(self, further: Iterable[WatchListEntry]) -> "WatchList":
        """Return the list with further entries, of which those that it has already change nothing.

        Raises `Invalid` when there are too many.
        """
        found = {_identity(one): one for one in self.entries}
        for one in further:
            _ = found.setdefault(_identity(one), one)
        if len(found) > MOST_TERMS:
            raise Invalid(f"A watch-list has at most {MOST_TERMS:,} terms; nothing was added.")
        return WatchList(tuple(found.values()))

    def without(self, removed: Iterable[WatchListEntry]) -> "WatchList":
        gone = set(map(_identity, removed))
        return WatchList(tuple(one for one in self.entries if _identity(one) not in gone))

    def named(self, text: str) -> list[WatchListEntry]:
        """Return the entries of a term, which may have several kinds."""
        return [one for one in self.entries if folded(one.kind, one.text) == folded(one.kind, text)]

    def of_fingerprint(self, fingerprint: str, fingerprints: FingerprintKey) -> list[WatchListEntry]:
        """Return the entries with the fingerprint of a finding."""
        return [one for one in self.entries if fingerprint_of(one, fingerprints) == fingerprint]


def fingerprint_of(entry: WatchListEntry, fingerprints: FingerprintKey) -> str:
    """Return the fingerprint that a finding of an entry has."""
    return fingerprints.of(*_identity(entry))


def _identity(entry: WatchListEntry) -> tuple[str, str]:
    return entry.kind, folded(entry.kind, entry.text)


def sealed(found: WatchList, keys: WatchListKeys) -> bytes:
    """Return the file of a list: encrypted, and authenticated by the key."""
    rows = [{"kind": one.kind, "text": one.text, "added": one.added, "note": one.note} for one in found.entries]
    text = json.dumps({"entries": rows}, ensure_ascii=False, separators=(",", ":"))
    salt, nonce = secrets.token_bytes(_SALT_BYTES), secrets.token_bytes(_NONCE_BYTES)
    head = _MAGIC + _VERSION + keys.check + salt
    return head + nonce + keys.cipher(salt).encrypt(nonce, text.encode(), head)


def opened(content: bytes, keys: WatchListKeys) -> WatchList:
    """Return the list in a file; raise `NotConfigured` with a clause about the file that quotes nothing of it."""
    if not content.startswith(_MAGIC):
        raise DependencyFailed("is no watch-list, or was cut")
    if content[len(_MAGIC) : len(_MAGIC) + 1] != _VERSION:
        raise DependencyFailed("was written by a newer version: use that one")
    head, rest = content[:_HEAD], content[_HEAD:]
    check = head[len(_MAGIC) + 1 :][:_CHECK_BYTES]
    if check != keys.check and len(head) == _HEAD:
        raise NotConfigured(f"has another key than the secret {SECRET}: put the right one there")
    try:
        cipher = keys.cipher(head[-_SALT_BYTES:])
        text = cipher.decrypt(rest[:_NONCE_BYTES], rest[_NONCE_BYTES:], head)
    except (InvalidTag, ValueError):
        raise DependencyFailed("was altered or cut: put a copy in its place that you kept") from None
    return WatchList(_entries(text))


def _entries(text: bytes) -> tuple[WatchListEntry, ...]:
    try:
        rows = cast("list[Mapping[str, str]]", json.loads(text)["entries"])
        return tuple(WatchListEntry(kind_of(one["kind"]), one["text"], one["added"], one["note"]) for one in rows)
    except (ValueError, KeyError, TypeError, Invalid):
        raise DependencyFailed("holds what this version does not know: use the version that wrote it") from None


def kind_of(text: str) -> WatchedKind:
    """Return the kind that a text names; raise `Invalid`, which does not repeat it."""
    if found := _KINDS.get(text):
        return found
    raise Invalid(f"The kind of a term is one of {', '.join(WATCHED)}.")
