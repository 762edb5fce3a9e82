"""Ids of items, and texts that follow from what they are of."""

import base64
import hashlib
import re

_PREFIX = {True: "AAkALgAAAAAAHYQDEapm", False: "AAMkADNkYjVhNWYxLTQ1"}
_SHAPE = re.compile(r"[A-Za-z0-9_-]{18,}={0,2}")


def item_id(owner: str, number: int, turn: int, *, immutable: bool) -> str:
    """Return the id of an item: two neighbours differ in capitals only.

    `turn` is raised by what changes an id: any move, and for an immutable one only a mailbox that is moved.
    """
    known = hashlib.sha512(f"{owner} {turn} {immutable}".encode()).digest()[:39]
    shown = base64.urlsafe_b64encode(known + (number // 2).to_bytes(6, "big")).decode()
    return f"{_PREFIX[immutable]}{shown}{'Aa'[number % 2]}="


def number_of(text: str) -> int | None:
    """Return the number of the item that an id may belong to; None when it cannot be an id."""
    if not _SHAPE.fullmatch(text):
        return None
    end = text.rstrip("=")
    half = int.from_bytes(base64.urlsafe_b64decode(end[-9:-1]), "big")
    return half * 2 + (end[-1] == "a")


def digest(*parts: object) -> str:
    """Return a short text that follows from the parts, such as a change key."""
    return base64.b64encode(hashlib.sha256(repr(parts).encode()).digest()[:15]).decode()


def guid(*parts: object) -> str:
    """Return a GUID that follows from the parts."""
    text = hashlib.sha256(repr(parts).encode()).hexdigest()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:32]}"
