"""PDF: read by another process, which can be ended whatever it does, and whose memory is bounded."""

import re
import subprocess
import sys
from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import BinaryIO, Final, cast

from orrery.ports.scanned import NotRead
from orrery.scanner.unpack.encodings import is_text
from orrery.scanner.unpack.limits import MB, UnpackLimits
from orrery.scanner.unpack.parts import UnpackedFile
from orrery.scanner.unpack.pdf_texts import DAMAGED, ENCRYPTED, END, FILE, HEADER, TEXT
from orrery.scanner.unpack.texts import texts
from orrery.scanner.unpack.view import Views

_WAITING: Final = 5
"""Times its processor time that it may take on a machine that has others to do."""

_OBJECT: Final = re.compile(rb"[0-9] obj\b")
_TOO_LARGE: Final = "A PDF of more than {} MB is not read: cut it in parts."
_ENCRYPTED: Final = "It is encrypted: save it without a password, leave it out, or check what is in it yourself."
_ENDED: Final = "Reading it took too much time or memory: print it to a new PDF, or leave it out."
_DAMAGED: Final = "Some of it could not be read: print it to a new PDF, or leave it out."
_NOT_STARTED: Final = "The process that reads PDF could not be started: see to memory and disk, and scan again."


def read(part: UnpackedFile, first: bytes) -> Views:
    """Yield the texts of a PDF: its bytes, its pages, all strings of its objects, and its attachments."""
    yield from texts(part, first)
    if is_text(first) and not _OBJECT.search(first):
        return
    limits = part.budget.limits
    if part.size > limits.pdf_bytes:
        yield NotRead(part.place, _TOO_LARGE.format(limits.pdf_bytes // MB))
        return
    with TemporaryFile() as source, TemporaryFile() as output:
        for piece in part.pieces():
            _ = source.write(piece)
        _ = source.seek(0)
        started = _run(cast("BinaryIO", source), cast("BinaryIO", output), limits)
        _ = output.seek(0)
        yield from _records(part, cast("BinaryIO", output)) if started else [NotRead(part.place, _NOT_STARTED)]


def read_later(part: UnpackedFile, first: bytes) -> Views:
    """Yield the same of a PDF that begins behind other bytes; a text with its mark in it is none."""
    yield from read(part, first)


def _run(source: BinaryIO, output: BinaryIO, limits: UnpackLimits) -> bool:
    """Let the other process read; it never has this folder, which may be anybody's, on its path (-P)."""
    # A hostile file may take that process over: the key of the watch-list is not passed on.
    command = ["env", "-u", "ORRERY_WATCH_LIST_KEY", sys.executable, "-P", "-m", "orrery.scanner.unpack.pdf_texts"]
    command += [str(limits.pdf_seconds), str(limits.pdf_memory)]
    try:
        _ = subprocess.run(  # noqa: S603  our own module, by a fixed command
            command,
            stdin=source,
            stdout=output,
            stderr=subprocess.DEVNULL,
            timeout=limits.pdf_seconds * _WAITING,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return True
    except OSError:
        return False
    return True


def _records(part: UnpackedFile, output: BinaryIO) -> Views:
    kinds: set[bytes] = set()
    for kind, label, data in _read(output):
        kinds.add(kind)
        if kind == TEXT:
            yield from part.text(label, data)
        elif kind == FILE:
            yield from part.known(label, "", data)
    for kind, why in ((ENCRYPTED, _ENCRYPTED), (DAMAGED, _DAMAGED)):
        if kind in kinds:
            yield NotRead(part.place, why)
    if END not in kinds:
        yield NotRead(part.place, _ENDED)


def _read(output: BinaryIO) -> Iterator[tuple[bytes, str, bytes]]:
    while len(header := output.read(HEADER.size)) == HEADER.size:
        kind, label, size = cast("tuple[bytes, int, int]", HEADER.unpack(header))
        name, data = output.read(label), output.read(size)
        if len(data) < size:
            return
        yield kind, name.decode(errors="replace"), data
