"""Objects by their ids, from one process of git: it is started again behind one that is broken."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from io import BufferedReader, BytesIO
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, BinaryIO

from orrery.adapters.git_objects.program import PIPE, Git, GitFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO

IN_MEMORY = 64 << 20
"""Bytes of an object that is held in memory; a larger one is written to a temporary file."""

MOST_BROKEN = 100
"""Broken objects after which the rest is given up: each takes another process."""

BROKEN = "it is missing or broken; to see more, type: git fsck"
_GIVEN_UP = "it is broken, and nothing behind it was searched; to see more, type: git fsck"
_NO_ROOM = "it is large, and the disk has no room for a temporary copy"
_SHOWN = "--batch=%(objectname) %(objecttype) %(objectsize) %(rest)"
_KINDS = frozenset({b"blob", b"tree", b"commit", b"tag"})


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object; `path` is what followed its id, or nothing. `content` is closed when the next one is read."""

    id: str
    kind: str
    size: int
    path: str
    content: BinaryIO = field(repr=False)


@dataclass(frozen=True, slots=True)
class BrokenObject:
    """An object that cannot be read, and why."""

    id: str
    path: str
    why: str = BROKEN


class _Ended(Exception):
    """Git ended within an object."""


def objects(git: Git, wanted: IO[bytes], in_memory: int = IN_MEMORY) -> Iterator[StoredObject | BrokenObject]:
    """Yield the objects whose ids are the lines of a file, in its order: each, or what is wrong with it."""
    lines = _lines(wanted.fileno())
    line = next(lines, None)
    read = broken = 0
    while line is not None:
        _ = os.lseek(wanted.fileno(), read, os.SEEK_SET)
        with git.running("cat-file", _SHOWN, "--buffer", given=wanted) as running:
            ended = False
            while line is not None and not ended:
                try:
                    yield from _next(running.output, line, in_memory)
                except _Ended:
                    ended, broken = True, broken + 1
                    if broken == MOST_BROKEN:
                        yield BrokenObject(*_named(line), _GIVEN_UP)
                        return
                    yield BrokenObject(*_named(line))
                except GitFailed:
                    yield BrokenObject(*_named(line), _GIVEN_UP)
                    return
                read += len(line) + 1
                line = next(lines, None)


def _named(line: bytes) -> tuple[str, str]:
    name, _, path = line.partition(b" ")
    return name.decode(), os.fsdecode(path)


def _lines(descriptor: int) -> Iterator[bytes]:
    """Yield the lines of a file, without moving the place at which git reads it."""
    at, rest = 0, b""
    while piece := os.pread(descriptor, PIPE, at):
        at += len(piece)
        *whole, rest = (rest + piece).split(b"\n")
        yield from whole


def _next(output: BufferedReader, line: bytes, in_memory: int) -> Iterator[StoredObject | BrokenObject]:
    name, path = _named(line)
    header = output.readline().split(b" ", 3)
    if len(header) < 3 or header[0] != name.encode() or header[1] not in _KINDS:  # noqa: PLR2004  id, kind, size and the rest
        if header[-1] != b"missing\n":
            raise _Ended
        yield BrokenObject(name, path)
        return
    size = int(header[2])
    content = _spooled(output, size) if size > in_memory else _held(output, size)
    if output.read(1) != b"\n":  # it is not as long as git announced: where the next begins is unknown
        _ = content and content.close()
        raise _Ended
    if content is None:
        yield BrokenObject(name, path, _NO_ROOM)
    else:
        with content:
            yield StoredObject(name, header[1].decode(), size, path, content)


def _held(output: BufferedReader, size: int) -> BinaryIO:
    content = output.read(size)
    if len(content) < size:
        raise _Ended
    return BytesIO(content)


def _spooled(output: BufferedReader, size: int) -> BinaryIO | None:
    """Return what the next bytes are, in a file, or None when there is no room for it."""
    file = TemporaryFile(buffering=0)  # noqa: SIM115  who reads it closes it
    has_room = True
    try:
        for piece in _pieces(output, size):
            has_room = has_room and _is_written(file, piece)
    except BaseException:
        file.close()
        raise
    if not has_room:
        file.close()
        return None
    _ = file.seek(0)
    return BufferedReader(file)


def _is_written(file: FileIO, piece: bytes) -> bool:
    try:
        return file.write(piece) == len(piece)
    except OSError:
        return False


def _pieces(output: BufferedReader, size: int) -> Iterator[bytes]:
    while size:
        piece = output.read(min(size, PIPE))
        if not piece:
            raise _Ended
        size -= len(piece)
        yield piece
