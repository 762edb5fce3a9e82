"""Four letters of a term, and all that a text has: a term without its four letters is not in the text."""

import re

_QUAD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][a-z]{3}")
"""At the beginning of a word, where camel case begins no other one."""

_ALIKE = bytes.maketrans(b"01i", b"oll")
"""Digits may stand for letters."""


def quad_of(form: str) -> bytes:
    """Return four letters that stand side by side in every spelling of a term, or nothing where there are none."""
    found = _QUAD.search(form) if form.isascii() else None
    return found[0].lower().encode().translate(_ALIKE) if found else b""


def quads(octets: bytes) -> set[bytes]:
    """Return each four octets that stand side by side."""
    low = octets.lower().translate(_ALIKE)
    return {low[at : at + 4] for at in range(len(low) - 3)}
