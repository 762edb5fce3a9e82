"""What is in a PDF. It runs as a program: the PDF is its input, and its output are records."""

import re
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from pypdf import PdfReader
    from pypdf.generic import PdfObject

TEXT: Final = b"T"
FILE: Final = b"F"
DAMAGED: Final = b"D"
ENCRYPTED: Final = b"C"
END: Final = b"E"
HEADER: Final = struct.Struct(">cHI")
"""A record: its kind, the bytes of its label and of its content, which follow."""

_OUTPUT: Final = 512 * 1024 * 1024
_STREAM: Final = 64 * 1024 * 1024
_DEPTH: Final = 50
_SPACES: Final = re.compile("  +")
_TAIL: Final = 32
_REVISIONS: Final = 5
_END_OF_FILE: Final = re.compile(rb"startxref\s{1,9}([0-9]{1,12})\s{1,9}%%EOF")
_TABLE: Final = re.compile(rb"\s{0,4}(?:xref|[0-9]{1,9} [0-9]{1,5} obj)")
_NO_TEXT: Final = frozenset({"/Image", "/Type1C", "/CIDFontType0C", "/OpenType"})
_NO_TYPE: Final = frozenset({"/XRef", "/ObjStm", "/XObject"})

Record = tuple[bytes, str, bytes]


def records(content: BinaryIO) -> Iterator[Record]:
    """Yield what is in a PDF, and was in it before it was changed; `DAMAGED` for each part that cannot be read."""
    for record in _revision(content, ""):
        yield record
        if record[0] == ENCRYPTED:
            return
    _ = content.seek(0)
    data = content.read()
    older = list(_older(data))
    if len(older) > _REVISIONS:
        yield DAMAGED, "(older revisions)", b""
    for number, end in enumerate(older[-_REVISIONS:], 1):
        yield from _revision(BytesIO(data[:end]), f"(older revision {number})")


def _older(data: bytes) -> Iterator[int]:
    """Yield where the file ended before each change: one that is added at the end removes nothing."""
    for found in _END_OF_FILE.finditer(data, 0, max(0, len(data) - _TAIL)):
        if _TABLE.match(data, int(found[1])):  # else it is the end of an attachment, or only looks like one
            yield found.end()


def _revision(content: BinaryIO, label: str) -> Iterator[Record]:
    from pypdf import PdfReader, apply_configuration  # noqa: PLC0415  only what reads a PDF waits for it
    from pypdf.errors import FileNotDecryptedError  # noqa: PLC0415  the same

    with apply_configuration(
        zlib_maximum_output_length=_STREAM, array_based_stream_maximum_output_length=_STREAM, jbig2dec_binary=None
    ):
        try:
            reader = PdfReader(content)
            pages = len(reader.pages)
        except FileNotDecryptedError:
            yield ENCRYPTED, label, b""
        except Exception:  # noqa: BLE001  a damaged file makes the library raise errors of any kind
            yield DAMAGED, label, b""
        else:
            for number in range(pages):
                yield from _page(reader, number, label)
            yield from _objects(reader, label)


def _page(reader: "PdfReader", number: int, label: str) -> Iterator[Record]:
    """Yield the text of a page in the order in which it is drawn, and as it is placed on the page.

    The first is whole where a line is drawn word by word, the second where each letter is placed by itself.
    """
    label += f"(page {number + 1})"
    try:
        page = reader.pages[number]
        yield TEXT, label, page.extract_text().encode(errors="replace")
    except Exception:  # noqa: BLE001  the same
        yield DAMAGED, label, b""
        return
    with suppress(Exception):  # the library lays out fewer kinds of pages than it reads
        lines = page.extract_text(
            extraction_mode="layout", layout_mode_space_vertically=False, layout_mode_strip_rotated=False
        )
        yield TEXT, label, _SPACES.sub(" ", lines).encode(errors="replace")


def _objects(reader: "PdfReader", label: str) -> Iterator[Record]:
    """Yield every string of every object, reached from a page or not, and the streams that are texts or files."""
    found: list[bytes] = []
    for number in _numbers(reader):
        try:
            one = reader.get_object(number)
            if one is not None:
                found.extend(_strings(one, _DEPTH))
                yield from _stream(one, f"{label}(stream {number})")
        except Exception:  # noqa: BLE001  the same
            yield DAMAGED, f"{label}(object {number})", b""
    try:
        found.extend(_strings(reader.trailer, _DEPTH))
    except Exception:  # noqa: BLE001  the same
        yield DAMAGED, f"{label}(trailer)", b""
    yield TEXT, f"{label}(objects)", b"\n".join(found)


def _numbers(reader: "PdfReader") -> list[int]:
    return sorted({*reader.xref_objStm, *(number for numbers in reader.xref.values() for number in numbers)} - {0})


def _strings(one: "PdfObject | None", depth: int) -> Iterator[bytes]:
    from pypdf.generic import (  # noqa: PLC0415  the same
        ArrayObject,
        ByteStringObject,
        DictionaryObject,
        NameObject,
        TextStringObject,
    )

    if depth and isinstance(one, DictionaryObject):
        for key, value in one.items():
            yield from _strings(value, depth - 1)
            if key.startswith("/Custom"):
                yield key.encode(errors="replace")
    elif depth and isinstance(one, ArrayObject):
        for value in one:
            yield from _strings(value, depth - 1)
    elif isinstance(one, NameObject):
        yield from ()
    elif isinstance(one, TextStringObject):
        yield one.encode(errors="replace")
    elif isinstance(one, ByteStringObject):
        yield bytes(one)


def _stream(one: "PdfObject", label: str) -> Iterator[Record]:
    from pypdf.generic import StreamObject  # noqa: PLC0415  the same

    if not isinstance(one, StreamObject):
        return
    kind, subtype = str(one.get("/Type", "")), str(one.get("/Subtype", ""))
    if kind in _NO_TYPE or subtype in _NO_TEXT or "/Length1" in one or "/N" in one:
        return
    data = one.get_data()
    if kind == "/EmbeddedFile" or b"\0" not in data[:1024]:
        yield FILE, label, data


def main() -> None:
    """Write the records of the PDF that is the input; the arguments are the seconds and bytes that it may take."""
    import resource  # noqa: PLC0415  only this process bounds itself

    seconds, memory = map(int, sys.argv[1:])
    for what, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, _OUTPUT),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))
    for kind, label, data in chain(records(sys.stdin.buffer), [(END, "", b"")]):
        name = label.encode(errors="replace")
        _ = sys.stdout.buffer.write(HEADER.pack(kind, len(name), len(data)) + name + data)
        _ = sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
