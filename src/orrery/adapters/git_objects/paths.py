"""The path of each object, in few bytes: a million of them take about 40 MB, and the paths are on the disk."""

from __future__ import annotations

import os
from array import array
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY_DIGITS = 15
_SMALLEST = 1 << 10
_MOST = 1 << 31
"""Bytes of a listing whose paths are known: that of 20 million objects."""


class Numbers:
    """A number for each id of an object: a dictionary in 12 bytes an entry, and at most two thirds of it are used.

    It knows an id by its first 15 digits. Two that share them would share a number: one in a million repositories
    of a million objects has such a pair, and a report then names another file.
    """

    def __init__(self) -> None:
        self._count = 0
        self._keys = array("Q", bytes(8 * _SMALLEST))
        self._values = array("I", bytes(4 * _SMALLEST))

    def get(self, object_id: str | bytes) -> int | None:
        """Return the number of an object, or None."""
        keys, key = self._keys, int(object_id[:_KEY_DIGITS], 16) + 1
        mask = len(keys) - 1
        slot = key & mask
        while (there := keys[slot]) and there != key:
            slot = (slot + 1) & mask
        return self._values[slot] if there else None

    def add(self, object_id: str | bytes, number: int) -> None:
        """Keep the number of an object, unless it has one."""
        if 3 * self._count >= 2 * len(self._keys):
            self._grow()
        self._put(int(object_id[:_KEY_DIGITS], 16) + 1, number)

    def _put(self, key: int, number: int) -> None:
        keys = self._keys
        mask = len(keys) - 1
        slot = key & mask
        while there := keys[slot]:
            if there == key:
                return
            slot = (slot + 1) & mask
        keys[slot] = key
        self._values[slot] = number
        self._count += 1

    def _grow(self) -> None:
        before = zip(self._keys, self._values, strict=True)
        self._count = 0
        size = 2 * len(self._keys)
        self._keys = array("Q", bytes(8 * size))
        self._values = array("I", bytes(4 * size))
        for key, number in before:
            if key:
                self._put(key, number)


class Paths:
    """The paths in what `git rev-list --objects` printed to a file: for each object the first one that it has."""

    def __init__(self, listing: IO[bytes]) -> None:
        self._listing = listing
        self._starts = Numbers()
        at = 0
        _ = listing.seek(0)
        for line in listing:
            name, space, _ = line.partition(b" ")
            if space and at < _MOST:
                self._starts.add(name, at + len(name) + 1)
            at += len(line)

    def of(self, object_id: str) -> str | None:
        """Return the path of a blob or a tree: empty for the tree of a commit, None for what has none."""
        start = self._starts.get(object_id)
        if start is None:
            return None
        return os.fsdecode(b"".join(self._pieces(start)))

    def _pieces(self, start: int) -> Iterator[bytes]:
        while piece := os.pread(self._listing.fileno(), 256, start):
            line, end, _ = piece.partition(b"\n")
            yield line
            if end:
                return
            start += len(piece)
