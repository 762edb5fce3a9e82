"""How a message was sent, by its headers: by a mailing list, to many, or by a machine."""

import re
from collections.abc import Mapping

HEADERS = ("list-id", "list-post", "list-unsubscribe", "precedence", "auto-submitted")
"""The headers that are looked at, by their names in lower case."""

LONGEST = 1000
"""Characters of a header that are looked at."""

_BULK = frozenset({"bulk", "list", "junk"})
_ID = re.compile(r"<([^<>\s]{1,255})>\s*\Z")
_POST = re.compile(r"<mailto:([^<>\s?]{1,255})", re.IGNORECASE)


def is_bulk(headers: Mapping[str, str]) -> bool:
    """Return whether headers, by their names in lower case, show that a message went to many or is a machine's.

    A list names itself (RFC 2919) or how to leave it (RFC 2369); `Precedence` is older than either. What was
    submitted automatically has no author (RFC 3834).
    """
    if headers.get("list-id") or headers.get("list-unsubscribe"):
        return True
    submitted = _first_word(headers.get("auto-submitted", ""))
    return _first_word(headers.get("precedence", "")) in _BULK or submitted not in {"", "no"}


def lists_of(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the mailing lists that a message came by, in lower case: an id, and the address of the list."""
    name, post = headers.get("list-id", "")[:LONGEST], headers.get("list-post", "")[:LONGEST]
    found = _ID.search(name.strip())
    own = found[1] if found else name.strip()
    written_to = _POST.search(post)
    return tuple(one.lower() for one in (own, written_to[1] if written_to else "") if one)


def _first_word(header: str) -> str:
    return header[:LONGEST].replace(";", " ").strip().lower().partition(" ")[0]
