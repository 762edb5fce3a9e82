"""Leaks and near misses in files of every kind, each made here."""

import base64
import bz2
import gzip
import lzma
import struct
import zlib
from collections.abc import Mapping
from email.message import EmailMessage

from tests.scanner.corpus.words import FOREIGN, LABEL, PUBLIC
from tests.scanner.unpack import carriers
from tests.scanner.unpack.pdfs import hexadecimal, pdf, written

NAME = "Zeltha"
HARMLESS = "Zelthamine"

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
P = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def zipped(files: Mapping[str, bytes | str], comment: str = "") -> bytes:
    """Return a zip."""
    contents = {
        name: content if isinstance(content, bytes) else content.encode() for name, content in files.items()
    }
    return carriers.zipped(contents, comment.encode())


def docx(**parts: str) -> bytes:
    """Return a document; a part is named with `_` for the folder, as `word_document`."""
    given = {"word_document": f"<w:document {W}><w:body/></w:document>"} | parts
    files = {"[Content_Types].xml": "<Types/>"}
    files |= {f"{name.replace('_', '/')}.xml": text for name, text in given.items()}
    return zipped(files)


def paragraph(*runs: str) -> str:
    """Return a document whose text is split over runs."""
    inside = "".join(f'<w:r w:rsidR="00AB"><w:rPr><w:b/></w:rPr><w:t>{run}</w:t></w:r>' for run in runs)
    return f"<w:document {W}><w:body><w:p>{inside}</w:p></w:body></w:document>"


def properties(site: str) -> str:
    """Return custom properties with a sensitivity label."""
    return (
        f'<Properties><property fmtid="{{0}}" pid="2" name="MSIP_Label_{LABEL}_SiteId">'
        f"<vt:lpwstr>{site}</vt:lpwstr></property></Properties>"
    )


def xlsx(**parts: str) -> bytes:
    """Return a workbook with a very hidden sheet."""
    book = f'<workbook {S}><sheets><sheet name="Data" sheetId="1" state="veryHidden"/></sheets></workbook>'
    return docx(word_document="<a/>", xl_workbook=parts.pop("xl_workbook", book), **parts)


def png(kind: bytes, data: bytes) -> bytes:
    """Return a picture of one pixel with another chunk."""
    return carriers.png(carriers.chunk(kind, data))


def exif(tag: int, value: bytes) -> bytes:
    """Return an EXIF segment with one tag of bytes."""
    entry = struct.pack("<HHII", tag, 1, len(value), 26)
    return carriers.jpeg(
        (0xE1, b"Exif\0\0II*\0" + struct.pack("<IH", 8, 1) + entry + struct.pack("<I", 0) + value)
    )


def mail(subject: str = "Hello", body: str = "Hello", attached: tuple[str, bytes] | None = None) -> bytes:
    """Return a message, whose parts are encoded."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "a@host.example", "b@host.example", subject
    message.set_content(body, cte="base64")
    if attached:
        message.add_attachment(attached[1], maintype="application", subtype="zip", filename=attached[0])
    return message.as_bytes()


def bomb() -> bytes:
    """Return an archive that unpacks to a thousand times its size, three times the size from which that counts."""
    return zipped({"zeros.bin": bytes(30_000_000)})


NOTE = f"<p:notes {P}><a:p><a:r><a:t>Zel</a:t></a:r><a:r><a:t>tha</a:t></a:r></a:p></p:notes>"
TEXT = f"The offer for {NAME}."
LONG = " ".join(f"Paragraph {number} of the offer." for number in range(20))

TGZ = gzip.compress(carriers.tarred({"b.txt": TEXT.encode()}))

LEAKS: dict[str, tuple[bytes, set[str]]] = {
    f"carried/{NAME}-offer.md": (b"The offer.", {"customer"}),
    "carried/a.zip": (zipped({"deep/b.txt": TEXT}), {"customer"}),
    "carried/name.zip": (zipped({f"{NAME}.txt": "The offer."}), {"customer"}),
    "carried/comment.zip": (zipped({"a.txt": "Hello"}, TEXT), {"customer"}),
    "carried/nested.zip": (
        zipped({"b.zip": zipped({"c.tgz": TGZ})}),
        {"customer"},
    ),
    "carried/a.tar": (carriers.tarred({"b.txt": TEXT.encode()}), {"customer"}),
    "carried/a.tar.gz": (TGZ, {"customer"}),
    "carried/a.tar.xz": (lzma.compress(carriers.tarred({"b.txt": TEXT.encode()})), {"customer"}),
    "carried/a.txt.gz": (gzip.compress(TEXT.encode()), {"customer"}),
    "carried/a.txt.bz2": (bz2.compress(TEXT.encode()), {"customer"}),
    "carried/a.txt.xz": (lzma.compress(TEXT.encode()), {"customer"}),
    "carried/renamed.txt": (zipped({"b.txt": TEXT}), {"customer"}),
    "carried/utf16.txt": (TEXT.encode("utf-16"), {"customer"}),
    "carried/utf16-bare.bin": (b"\x01\x02" + TEXT.encode("utf-16-le"), {"customer"}),
    "carried/utf32.txt": (TEXT.encode("utf-32"), {"customer"}),
    "carried/latin1.txt": ("Müller & Söhne rufen an.".encode("cp1252"), {"customer"}),
    "carried/data.html": (
        b'<a href="data:application/zip;base64,'
        + base64.b64encode(zipped({"a.txt": TEXT, "b.txt": LONG}))
        + b'">a</a>',
        {"customer"},
    ),
    "carried/base64.txt": (base64.encodebytes((TEXT + " It is ready, and waits.").encode()), {"customer"}),
    "carried/split.html": (b"<p>Zel<b>tha</b> is here.</p>", {"customer"}),
    "carried/runs.docx": (docx(word_document=paragraph("The offer for Zel", "tha", ".")), {"customer"}),
    "carried/comment.docx": (docx(word_comments=paragraph("Zel", "tha")), {"customer"}),
    "carried/header.docx": (docx(word_header1=paragraph(NAME)), {"customer"}),
    "carried/author.docx": (docx(docProps_core=f"<a><dc:creator>{NAME}</dc:creator></a>"), {"customer"}),
    "carried/link.docx": (
        zipped(
            {
                "word/document.xml": "<a/>",
                "word/_rels/document.xml.rels": '<r Target="https://quasarnet.example/"/>',
            }
        ),
        {"domain"},
    ),
    "carried/label.docx": (docx(docProps_custom=properties(FOREIGN)), {"label-site"}),
    "carried/labelinfo.docx": (
        docx(docMetadata_LabelInfo=f'<clbl:label id="{{{LABEL}}}" siteId="{{{FOREIGN}}}" method="Standard"/>'),
        {"label-site"},
    ),
    "carried/hidden.xlsx": (
        xlsx(xl_sharedStrings=f"<sst {S}><si><r><t>Zel</t></r><r><t>tha</t></r></si></sst>"),
        {"customer"},
    ),
    "carried/sheet.xlsx": (
        xlsx(xl_workbook=f'<workbook {S}><sheets><sheet name="{NAME}" state="hidden"/></sheets></workbook>'),
        {"customer"},
    ),
    "carried/comment.xlsx": (xlsx(xl_comments1=f"<comments {S}><t>{NAME}</t></comments>"), {"customer"}),
    "carried/notes.pptx": (docx(ppt_notesSlides_notesSlide1=NOTE), {"customer"}),
    "carried/a.odt": (zipped({"content.xml": "<text:p>Zel<text:span>tha</text:span></text:p>"}), {"customer"}),
    "carried/page.pdf": (pdf(TEXT), {"customer"}),
    "carried/title.pdf": (pdf(info=f"/Title {hexadecimal('Offer für Zeltha').decode()}"), {"customer"}),
    "carried/note.pdf": (
        pdf("x", b"<</Type/Annot/Subtype/FreeText/Contents%s>>" % hexadecimal(TEXT)),
        {"customer"},
    ),
    "carried/attached.pdf": (written(attached=("notes.txt", TEXT.encode())), {"customer"}),
    "carried/text.png": (png(b"tEXt", b"Author\0" + NAME.encode()), {"customer"}),
    "carried/compressed.png": (png(b"zTXt", b"Author\0\0" + zlib.compress(TEXT.encode())), {"customer"}),
    "carried/international.png": (
        png(b"iTXt", b"Author\0\x01\0\0\0" + zlib.compress("Müller & Söhne".encode())),
        {"customer"},
    ),
    "carried/comment.jpg": (carriers.jpeg((0xFE, TEXT.encode())), {"customer"}),
    "carried/artist.jpg": (exif(0x013B, NAME.encode() + b"\0"), {"customer"}),
    "carried/xpauthor.jpg": (exif(0x9C9D, NAME.encode("utf-16-le") + b"\0\0"), {"customer"}),
    "carried/xmp.jpg": (
        carriers.jpeg((0xE1, f"http://ns.adobe.com/xap/1.0/\0<rdf:li>{NAME}</rdf:li>".encode())),
        {"customer"},
    ),
    "carried/subject.eml": (mail(subject=f"Grüße an {NAME} und alle"), {"customer"}),
    "carried/body.eml": (mail(body=TEXT), {"customer"}),
    "carried/attached.eml": (mail(attached=("a.zip", zipped({"b.txt": TEXT}))), {"customer"}),
    "carried/encrypted.zip": (carriers.encrypted_zip(), {"unreadable"}),
    "carried/broken.zip": (zipped({"a.txt": "Hello" * 1000})[:-30], {"unreadable"}),
    "carried/encrypted.pdf": (written(password="a password"), {"unreadable"}),  # noqa: S106  of no account
    "carried/old.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000), {"unreadable"}),
    "carried/a.7z": (b"7z\xbc\xaf\x27\x1c" + bytes(200), {"unreadable"}),
    "carried/bomb.zip": (bomb(), {"unreadable"}),
}
"""What must be found, by the name of its file: the content, and its kinds."""

NEAR_MISSES: dict[str, bytes] = {
    "near/a.zip": zipped({"deep/b.txt": f"The offer for {HARMLESS}."}, "A comment."),
    "near/a.tar.gz": gzip.compress(carriers.tarred({"b.txt": f"The offer for {HARMLESS}.".encode()})),
    "near/runs.docx": docx(word_document=paragraph("The offer for Zel", "thamine", ".")),
    "near/cells.xlsx": xlsx(xl_sharedStrings=f"<sst {S}><si><t>Zel</t></si><si><t>tha</t></si></sst>"),
    "near/label.docx": docx(docProps_custom=properties(PUBLIC)),
    "near/notes.pptx": docx(ppt_notesSlides_notesSlide1=NOTE.replace("tha</a:t>", "thamine</a:t>")),
    "near/page.pdf": written(f"The offer for {HARMLESS}.", title="An offer", attached=("notes.txt", b"Hello")),
    "near/pixel.png": carriers.png(),
    "near/text.png": png(b"tEXt", b"Author\0" + HARMLESS.encode()),
    "near/artist.jpg": exif(0x013B, HARMLESS.encode() + b"\0"),
    "near/mail.eml": mail(subject="Grüße an alle", body=f"The offer for {HARMLESS}."),
    "near/utf16.txt": f"The offer for {HARMLESS}.".encode("utf-16"),
    "near/zeros.bin": bytes(100_000),
    "near/random.bin": bytes((number * 7919 + number // 251) % 256 for number in range(60_000)),
    "near/empty.txt": b"",
    "near/pk.txt": b"PK is the beginning of a zip, and PK\x03\x04 its whole.",
}
"""In what nothing must be found."""
