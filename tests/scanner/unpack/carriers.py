"""Files of every kind with one planted word."""

import base64
import bz2
import gzip
import io
import json
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping

WORD = "Quillfeather"
UMLAUT = "Köpenickmüller"
A, B = WORD[:5], WORD[5:]
Files = Mapping[str, bytes]


def zipped(files: Files, comment: bytes = b"") -> bytes:
    """Return a zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = comment
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def zipped_extra(extra: bytes, comment: bytes = b"") -> bytes:
    """Return a zip archive whose member has an extra field and a comment."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        member = zipfile.ZipInfo("a.txt")
        member.extra = struct.pack("<HH", 0x7075, len(extra)) + extra
        member.comment = comment
        archive.writestr(member, b"nothing")
    return out.getvalue()


def encrypted_zip() -> bytes:
    """Return a zip archive whose member says that it is encrypted."""
    archive = bytearray(zipped({"a.txt": b"here"}))
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        archive[archive.index(mark) + place] |= 1
    return bytes(archive)


def tarred(files: Files, *, compressed: str = "", **fields: object) -> bytes:
    """Return a tar archive; `fields` are those of every member."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            for field, value in fields.items():
                setattr(member, field, value)
            archive.addfile(member, io.BytesIO(content))
    packers: dict[str, Callable[[bytes], bytes]] = {
        "": bytes,
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "xz": lzma.compress,
    }
    return packers[compressed](out.getvalue())


def nested(content: bytes, depth: int) -> bytes:
    """Return a file within so many zip archives."""
    for _ in range(depth):
        content = zipped({"inner": content})
    return content


def gzipped(content: bytes, name: str) -> bytes:
    """Return a gzip file whose header names the file."""
    out = io.BytesIO()
    with gzip.GzipFile(name, "wb", fileobj=out, mtime=0) as file:
        file.write(content)
    return out.getvalue()


def chunk(kind: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG."""
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


def png(*chunks: bytes) -> bytes:
    """Return a PNG of one pixel with further chunks."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"\0\0"))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + pixels + chunk(b"IEND", b"")


def jpeg(*segments: tuple[int, bytes]) -> bytes:
    """Return a JPEG without a picture worth seeing, with further segments."""
    parts = b"".join(b"\xff" + bytes([kind]) + struct.pack(">H", len(text) + 2) + text for kind, text in segments)
    scan = b"\xff\xda" + struct.pack(">H", 8) + b"\1\1\0\0\x3f\0" + b"\x12\x34\xff\x00\x56"
    return b"\xff\xd8" + parts + scan + b"\xff\xd9"


def extended_xmp(*texts: bytes) -> list[tuple[int, bytes]]:
    """Return segments that hold one text of XMP in pieces, the last first."""
    size = sum(map(len, texts))
    places = [sum(map(len, texts[:number])) for number in range(len(texts))]
    head = b"http://ns.adobe.com/xmp/extension/\0" + b"0" * 32
    return [
        (0xE1, head + struct.pack(">II", size, place) + text)
        for place, text in reversed(list(zip(places, texts, strict=True)))
    ]


def gif(comment: bytes) -> bytes:
    """Return a GIF with a comment, which is stored in pieces of 255 bytes."""
    pieces = [comment[start : start + 255] for start in range(0, len(comment), 255)]
    blocks = b"".join(bytes([len(piece)]) + piece for piece in pieces)
    return b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0, 0, 0) + b"!\xfe" + blocks + b"\0;"


def _xml(text: str, spaces: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<x {spaces}>{text}</x>'.encode()


def word_xml(text: str) -> bytes:
    """Return a part of a word processor's document."""
    return _xml(text, 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"')


def sheet_xml(text: str) -> bytes:
    """Return a part of a spreadsheet."""
    return _xml(text, 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"')


def slide_xml(text: str) -> bytes:
    """Return a part of a presentation."""
    return _xml(
        text,
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
        'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"',
    )


def open_xml(text: str) -> bytes:
    """Return a part of an OpenDocument file."""
    return _xml(text, 'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"')


def run(*texts: str, tag: str = "w") -> str:
    """Return runs of a word processor or a presentation."""
    return "".join(
        f"<{tag}:r><{tag}:rPr><{tag}:b/></{tag}:rPr><{tag}:t>{text}</{tag}:t></{tag}:r>" for text in texts
    )


def docx(body: str = "", **parts: bytes) -> bytes:
    """Return a document; of each further part the name has `__` for a slash and `_` for the last dot."""
    named = {name.replace("__", "/").replace("_", "."): content for name, content in parts.items()}
    return zipped({"[Content_Types].xml": b"<Types/>", "word/document.xml": word_xml(body), **named})


def mail(body: bytes, headers: str = "", subject: str = "Hello") -> bytes:
    """Return a message."""
    head = (
        f"From: ann@example.com\r\nTo: bob@example.com\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\n{headers}\r\n"
    )
    return head.encode() + body


def multipart(*parts: bytes) -> bytes:
    """Return a message of parts, each with its headers."""
    body = b"".join(b"--=_x\r\n" + part + b"\r\n" for part in parts) + b"--=_x--\r\nafter\r\n"
    return mail(body, 'Content-Type: multipart/mixed;\r\n boundary="=_x"\r\n')


def attachment(content: bytes, name: str = "a.bin", kind: str = "application/octet-stream") -> bytes:
    """Return a part with an attachment."""
    head = f'Content-Type: {kind}; name="{name}"\r\nContent-Transfer-Encoding: base64\r\n\r\n'
    return head.encode() + base64.encodebytes(content)


def notebook(output: bytes) -> bytes:
    """Return a notebook with a picture as a result."""
    data = {"image/png": base64.encodebytes(output).decode()}
    return json.dumps({"cells": [{"cell_type": "code", "outputs": [{"data": data}]}]}).encode()


def wide(text: str, encoding: str) -> bytes:
    """Return a text in an encoding of 16 or 32 bits within a binary file."""
    return bytes(range(256)) + text.encode(encoding) + bytes(range(255, -1, -1))
