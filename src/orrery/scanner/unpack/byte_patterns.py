"""Patterns of bytes that are searched for in time linear to the text."""

from collections.abc import Callable, Iterator
from typing import Protocol, cast

import re2


class Found(Protocol):
    """A place in a text."""

    def span(self) -> tuple[int, int]:
        """Return its start and end."""
        ...


def finder(pattern: bytes) -> Callable[[bytes], Iterator[Found]]:
    """Return what finds every place where a pattern matches, one after another."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # pyright: ignore[reportUnknownMemberType]  the library has no types
    options.never_capture = True
    compiled = re2.compile(pattern, options)  # pyright: ignore[reportUnknownMemberType]  the same
    return cast("Callable[[bytes], Iterator[Found]]", compiled.finditer)  # pyright: ignore[reportUnknownMemberType]  the same
