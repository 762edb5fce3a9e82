"""What is near a place of interest: the parts of a text that need a second look."""

from collections.abc import Iterator
from typing import Protocol, cast

import re2  # pyright: ignore[reportMissingTypeStubs]  google-re2 has none

MARGIN = 512
"""Bytes beside a place that are taken with it: more than a term has."""


class Found(Protocol):
    """A place that was found."""

    def start(self) -> int: ...
    def end(self) -> int: ...


class Fast(Protocol):
    """An expression of RE2, for octets."""

    def search(self, text: bytes, pos: int = 0) -> Found | None:
        """Return the first place from a position on."""
        ...


def compiled(expression: bytes) -> Fast:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return cast("Fast", re2.compile(expression, options))


def around(expression: Fast, text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that are near what an expression finds; those that meet are one."""
    found = expression.search(text)
    start = end = 0
    while found:
        first = max(0, found.start() - MARGIN)
        if end and first > end:
            yield start, end
            start = first
        elif not end:
            start = first
        end = min(len(text), found.end() + MARGIN)
        if end == len(text):
            break
        found = expression.search(text, end - MARGIN // 2)
    if end:
        yield start, end
