"""Patterns of bytes that are searched for in time linear to the text."""

from collections.abc import Callable, Iterator
from typing import Protocol, cast

import re2

WRAP = rb"(?:[ \t]*\r?\n[ \t]*(?:[>|*#;%] ?)?|(?:\\r)?\\n|[\"'][ \t]*[+.,\\]?[ \t]*\r?\n[ \t]*[\"'])"
"""Where a form is wrapped: at the end of a line, quoted, commented or not, and between strings of a program."""


class Found(Protocol):
    """A place in a text."""

    def span(self) -> tuple[int, int]:
        """Return its start and end."""
        ...


Finder = Callable[[bytes], Iterator[Found]]
"""What finds every place where a pattern matches, one after another."""


def finder(pattern: bytes) -> "Finder":
    """Return what finds every place where a pattern matches, one after another."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # pyright: ignore[reportUnknownMemberType]  the library has no types
    options.never_capture = True
    compiled = re2.compile(pattern, options)  # pyright: ignore[reportUnknownMemberType]  the same
    return cast("Finder", compiled.finditer)  # pyright: ignore[reportUnknownMemberType]  the same


def spans(text: bytes, *finders: Finder, is_led: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the places that several patterns find, without those that are within another one.

    What `is_led` begins with the one character that tells where a word begins: it is left out.
    """
    places = (found.span() for one in finders for found in one(text))
    if is_led:
        places = ((start + (not text[start : start + 1].isalnum()), end) for start, end in places)
    last = 0
    for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
        if end > last:
            last = end
            yield start, end
