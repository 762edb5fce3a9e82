"""PDF files with one planted word, written by hand and by the library."""

import io
import zlib

from pypdf import PdfReader, PdfWriter


def pdf(text: str = "Hello", *objects: bytes, info: str = "") -> bytes:
    """Return a PDF of one page; further objects are numbered from 6 on."""
    page = zlib.compress(f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode("latin-1"))
    bodies = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream" % (len(page), page),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        *objects,
    ]
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places: list[int] = []
    for number, body in enumerate(bodies, 1):
        places.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1))
    out.writelines(b"%010d 00000 n \n" % place for place in places)
    out.write(b"trailer<</Size %d/Root 1 0 R/Info<<%s>>>>\n" % (len(bodies) + 1, info.encode("latin-1")))
    out.write(b"startxref\n%d\n%%%%EOF\n" % start)
    return out.getvalue()


def compressed(text: bytes, fields: bytes = b"") -> bytes:
    """Return an object that is a compressed stream."""
    data = zlib.compress(text)
    return b"<<%s/Filter/FlateDecode/Length %d>>stream\n%s\nendstream" % (fields, len(data), data)


def stream(content: bytes, fields: bytes = b"") -> bytes:
    """Return an object that is a stream, not compressed."""
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (fields, len(content), content)


def hexadecimal(text: str) -> bytes:
    """Return a string of a PDF in UTF-16, as digits."""
    return b"<" + (b"\xfe\xff" + text.encode("utf-16-be")).hex().encode() + b">"


def written(
    text: str = "Hello", *, password: str | None = None, attached: tuple[str, bytes] | None = None, title: str = ""
) -> bytes:
    """Return a PDF that the library wrote, with objects in compressed streams."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(text))))
    if attached:
        writer.add_attachment(*attached)
    if title:
        _ = writer.add_outline_item(title=title, page_number=0)
    if password is not None:
        writer.encrypt(password, owner_password="owner", algorithm="AES-256")  # noqa: S106  a password of no account
    out = io.BytesIO()
    _ = writer.write(out)
    return out.getvalue()


def changed(before: str, after: str) -> bytes:
    """Return a PDF whose text was changed by an object at its end, as editors save it."""
    old = pdf(before)
    table = old.rindex(b"xref\n0")
    page = f"BT /F1 12 Tf 20 100 Td ({after}) Tj ET".encode()
    new = b"4 0 obj\n<</Length %d>>stream\n%s\nendstream\nendobj\n" % (len(page), page)
    trailer = b"trailer<</Size 6/Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n" % (table, len(old) + len(new))
    return old + new + b"xref\n4 1\n%010d 00000 n \n" % len(old) + trailer
