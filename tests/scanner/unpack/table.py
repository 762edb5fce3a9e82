"""Which carriers there are: each has the planted word where a text search of the file would not see it whole."""

import base64
import bz2
import gzip
import lzma
import zlib
from urllib.parse import quote

from tests.scanner.unpack.carriers import (
    UMLAUT,
    WORD,
    A,
    B,
    attachment,
    chunk,
    docx,
    extended_xmp,
    gif,
    gzipped,
    jpeg,
    mail,
    multipart,
    nested,
    notebook,
    open_xml,
    png,
    run,
    sheet_xml,
    slide_xml,
    tarred,
    wide,
    word_xml,
    zipped,
    zipped_extra,
)
from tests.scanner.unpack.pdfs import changed, compressed, hexadecimal, pdf, stream, written

Carrier = tuple[str, bytes]
_WORD = WORD.encode()
_LINE = b"a line with %s in it\n" % _WORD
_LONG = b"x" * 300


def _base64(text: bytes = _LINE) -> bytes:
    return base64.b64encode(text)


def _deflated(text: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(text) + packer.flush()


def _para(*texts: str) -> str:
    return f"<w:p>{run(*texts)}</w:p>"


TEXTS: dict[str, Carrier] = {
    "plain": ("a.txt", _LINE),
    "no-name": ("", _LINE),
    "at-a-seam-of-windows": ("a.txt", b"y" * (1024 * 1024 - 20) + b" " + _LINE),
    "utf-16-with-mark": ("a.txt", ("\ufeff" + WORD).encode("utf-16-le")),
    "utf-16-be-with-mark": ("a.txt", ("\ufeff" + WORD).encode("utf-16-be")),
    "utf-16-without-mark": ("a.txt", f"one {WORD} two".encode("utf-16-le")),
    "utf-16-be-without-mark": ("a.txt", f"one {WORD} two".encode("utf-16-be")),
    "utf-32-with-mark": ("a.txt", ("\ufeff" + WORD).encode("utf-32-le")),
    "utf-32-without-mark": ("a.txt", f"one {WORD} two".encode("utf-32-be")),
    "bytes-that-begin-like-utf-16": ("a.bin", b"\xff\xfe\0\0\1\2" + _WORD),
    "android-manifest": ("AndroidManifest.xml", b"\3\0\x08\0\xff\xff" + wide(WORD, "utf-16-le")),
    "utf-16-in-a-binary": ("a.bin", wide(WORD, "utf-16-le")),
    "utf-16-be-in-a-binary": ("a.bin", wide(WORD, "utf-16-be")),
    "utf-32-in-a-binary": ("a.bin", wide(WORD, "utf-32-le")),
    "base64": ("a.txt", b"key: " + _base64() + b"\n"),
    "base64-of-the-shortest": ("a.txt", b"key: " + _base64(b"see " + _WORD + b"!!")),
    "base64-for-addresses-without-end": ("a.txt", base64.urlsafe_b64encode(_LINE + b"??>>~").rstrip(b"=")),
    "base64-behind-a-path": ("a.txt", b"https://example.com/abc/" + base64.urlsafe_b64encode(_LINE).rstrip(b"=")),
    "base64-behind-a-kind": ("a.txt", b"key: Kind-1-" + _base64()),
    "base64-wrapped": (
        "a.pem",
        b"-----BEGIN X-----\n" + base64.encodebytes(_LONG + _LINE) + b"-----END X-----",
    ),
    "base64-with-breaks-of-json": (
        "a.json",
        b'{"k": "' + base64.encodebytes(b"y" * 50 + _LINE).replace(b"\n", b"\\n") + b'"}',
    ),
    "base64-a-line-each": ("a.txt", b"YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnc\n" + _base64()),
    "base64-over-windows": ("a.json", b'{"k": "' + _base64(b"z" * 3_000_000 + _LINE) + b'"}'),
    "base64-of-utf-16": ("a.ps1", b"powershell -e " + _base64(f"echo {WORD} now".encode("utf-16-le"))),
    "base64-of-deflate": (
        "a.drawio",
        b"<mxfile><diagram>" + _base64(_deflated(quote(f'<mxCell value="{WORD}"/>' * 3).encode())),
    ),
    "base64-in-utf-16": ("a.txt", ("\ufeffkey: " + _base64().decode()).encode("utf-16-le")),
    "base64-with-a-string": ("a.txt", b"k " + _base64(b"\1\2\3\0" + _WORD + b"\0\1\2\3\x88")),
    "data-address": (
        "a.html",
        (
            b'<img src="data:image/png;base64,'
            + _base64(png(chunk(b"zTXt", b"k\0\0" + zlib.compress(_LINE))))
            + b'">'
        ),
    ),
    "notebook": ("a.ipynb", notebook(png(chunk(b"zTXt", b"k\0\0" + zlib.compress(_LINE))))),
    "page": ("a.html", f"<p>{A}<b>{B}</b></p>".encode()),
    "page-without-name": ("", f"<!doctype html><p>{A}<my-mark>{B}</my-mark></p>".encode()),
    "page-with-a-comment": ("a.html", f"<p>{A}<!-- > -->{B}".encode()),
    "page-in-utf-16": ("a.html", f"\ufeff<p>{A}<b>{B}</b></p>".encode("utf-16-le")),
    "markdown": ("a.md", f"# x\n\n{A}<my-mark>{B}</my-mark>\n".encode()),
    "drawing": ("a.svg", f"<svg><text><tspan>{A}</tspan><tspan>{B}</tspan></text></svg>".encode()),
    "calendar": ("a.ics", f"BEGIN:VCALENDAR\r\nSUMMARY:{A}\r\n {B}\r\n".encode()),
    **{
        f"calendar-folded-at-a-seam-{cut}": (
            "a.ics",
            b"BEGIN:VCALENDAR\r\n".ljust(1024 * 1024 - len(A) - cut, b"x") + f"{A}\r\n {B}\r\n".encode(),
        )
        for cut in range(4)
    },
    "card": ("", f"BEGIN:VCARD\nFN:{A}\n {B}\n".encode()),
    "card-quoted": ("a.vcf", f"BEGIN:VCARD\nN;ENCODING=QUOTED-PRINTABLE:={ord(A[0]):02X}{A[1:]}=\n{B}\n".encode()),
    "page-with-a-control": ("a.html", f"<p>\1{A}<b>{B}</b></p>".encode()),
    "rich-text": ("a.rtf", rb"{\rtf1\ansi Hello {\b " + f"{A}}}{{\\i {B}}}\\par}}".encode()),
}
_MEMBER = {"folder/a.txt": _LINE}
ARCHIVES: dict[str, Carrier] = {
    "zip": ("a.zip", zipped(_MEMBER)),
    "zip-as-text": ("a.txt", zipped(_MEMBER)),
    "zip-without-name": ("", zipped(_MEMBER)),
    "zip-name": ("a.zip", zipped({f"{WORD}.txt": b""})),
    "zip-name-outside": ("a.zip", zipped({f"../../{WORD}.txt": b""})),
    "zip-comment": ("a.zip", zipped({}, _WORD)),
    "zip-comment-of-a-member": ("a.zip", zipped_extra(b"", _WORD)),
    "zip-extra-field": ("a.zip", zipped_extra(b"\1\0\0\0\0" + _WORD)),
    "zip-after-a-program": ("a.exe", b"MZ\0\0" * 100 + _LINE + zipped({"b": b""})),
    "zip-after-any-file": ("a.bin", b"\0\1\2\3" * 100 + zipped(_MEMBER)),
    "zip-after-a-png": ("a.png", png() + zipped(_MEMBER)),
    "zip-after-a-jpeg": ("a.jpg", jpeg() + zipped(_MEMBER)),
    "zip-after-a-gif": ("a.gif", gif(b"x") + zipped(_MEMBER)),
    "gzip-after-a-png": ("a.png", png() + gzip.compress(_LINE)),
    "gzip-after-a-jpeg": ("a.jpg", jpeg() + gzip.compress(_LINE)),
    "gzip-after-a-gif": ("a.gif", gif(b"x") + gzip.compress(_LINE)),
    "zip-in-zip-deep": ("a.zip", nested(_LINE, 6)),
    "wheel": ("a.whl", zipped({"a.dist-info/METADATA": _LINE})),
    "book": ("a.epub", zipped({"a.xhtml": f"<html><p>{A}<i>{B}</i></p></html>".encode()})),
    "tar": ("a.tar", tarred(_MEMBER)),
    "tar-gz": ("a.tgz", tarred(_MEMBER, compressed="gz")),
    "tar-bz2": ("a.tar.bz2", tarred(_MEMBER, compressed="bz2")),
    "tar-xz": ("a.tar.xz", tarred(_MEMBER, compressed="xz")),
    "tar-name": ("a.tgz", tarred({"d/" * 150 + f"{WORD}.txt": b""}, compressed="gz")),
    "tar-owner": ("a.tgz", tarred({"a": b""}, compressed="gz", uname=WORD)),
    "tar-link": ("a.tgz", tarred({"a": b""}, compressed="gz", type=b"2", linkname=WORD)),
    "tar-pax-header": ("a.tgz", tarred({"a": b""}, compressed="gz", pax_headers={"comment": WORD})),
    "tar-with-a-zip": ("a.tar", tarred({"b.zip": zipped(_MEMBER)})),
    "two-tars": ("a.tar", tarred({"a": b""}) + tarred({"b.gz": gzip.compress(_LINE)})),
    "gzip": ("a.txt.gz", gzip.compress(_LINE)),
    "gzip-name": ("a.gz", gzipped(b"", f"{WORD}.txt")),
    "gzip-twice-over": ("a.gz", gzip.compress(b"one") + gzip.compress(_LINE)),
    "gzip-ten-times-over": ("a.gz", gzip.compress(b"x") * 10 + gzip.compress(_LINE)),
    "gzip-and-more": ("a.gz", gzip.compress(b"one") + b"and " + _LINE),
    "bzip2": ("a.bz2", bz2.compress(_LINE)),
    "xz": ("a.xz", lzma.compress(_LINE)),
    "lzma": ("a.lzma", lzma.compress(_LINE, lzma.FORMAT_ALONE)),
    "zlib": ("a", zlib.compress(_LINE)),
}
OFFICE: dict[str, Carrier] = {
    "docx-runs": ("a.docx", docx(_para(A, B))),
    "docx-named-txt": ("a.txt", docx(_para(A, B))),
    "docx-cell": (
        "a.docx",
        docx(f"<w:tbl><w:tr><w:tc>{_para('x')}</w:tc><w:tc>{_para(A, B)}</w:tc></w:tr></w:tbl>"),
    ),
    "docx-entities": ("a.docx", docx(_para(A, f"&#{ord(B[0])};{B[1:]}"))),
    "docx-deleted": (
        "a.docx",
        docx(f"<w:p>{run(A)}<w:del><w:r><w:delText>{B}</w:delText></w:r></w:del><w:ins>{run('x')}</w:ins></w:p>"),
    ),
    "docx-inserted": (
        "a.docx",
        docx(f'<w:p>{run(A)}<w:del w:id="1"><w:r><w:delText>x</w:delText></w:r></w:del>{run(B)}</w:p>'),
    ),
    "docx-overwritten": ("a.docx", docx(f'<w:p>{run(A)}<w:ins w:id="1">{run("x")}</w:ins>{run(B)}</w:p>')),
    "docx-comment": ("a.docx", docx(word__comments_xml=word_xml(f"<w:comment>{_para(A, B)}</w:comment>"))),
    "docx-footnote": ("a.docx", docx(word__footnotes_xml=word_xml(_para(A, B)))),
    "docx-header": ("a.docx", docx(word__header1_xml=word_xml(_para(A, B)))),
    "docx-link": (
        "a.docx",
        docx(word__rels__document_rels=f'<Relationship Target="https://{WORD}/"/>'.encode()),
    ),
    "docx-alt-text": ("a.docx", docx(f'<wp:docPr descr="{WORD}"/>')),
    "docx-properties": (
        "a.docx",
        docx(docProps__core_xml=f"<cp><dc:creator>{WORD}</dc:creator></cp>".encode()),
    ),
    "docx-custom-xml": ("a.docx", docx(customXml__item1_xml=f"<a><b>x</b><b>{WORD}</b></a>".encode())),
    "docx-in-docx": ("a.docx", docx(word__embeddings__a_docx=docx(_para(A, B)))),
    "docx-picture": (
        "a.docx",
        docx(word__media__a_png=png(chunk(b"zTXt", b"k\0\0" + zlib.compress(_LINE)))),
    ),
    "xlsx-shared-string": (
        "a.xlsx",
        zipped({"xl/sharedStrings.xml": sheet_xml(f"<si><r><t>{A}</t></r><r><rPr><b/></rPr><t>{B}</t></r></si>")}),
    ),
    "xlsx-inline-string": (
        "a.xlsx",
        zipped(
            {
                "xl/worksheets/s.xml": sheet_xml(
                    f"<c><is><r><t>{A}</t></r><r><t>{B}</t></r></is></c><c><v>1</v></c>"
                )
            }
        ),
    ),
    "xlsx-hidden-sheet": (
        "a.xlsx",
        zipped({"xl/workbook.xml": sheet_xml(f'<sheet name="{WORD}" state="veryHidden"/>')}),
    ),
    "xlsx-defined-name": (
        "a.xlsx",
        zipped({"xl/workbook.xml": sheet_xml(f'<definedName name="x">{WORD}</definedName>')}),
    ),
    "xlsx-comment": (
        "a.xlsx",
        zipped(
            {"xl/comments1.xml": sheet_xml(f"<comment><text><r><t>{A}</t></r><r><t>{B}</t></r></text></comment>")}
        ),
    ),
    "xlsx-thread": (
        "a.xlsx",
        zipped({"xl/threadedComments/t.xml": f"<T><threadedComment>{WORD}</threadedComment></T>".encode()}),
    ),
    "pptx-runs": ("a.pptx", zipped({"ppt/slides/s.xml": slide_xml(f"<a:p>{run(A, B, tag='a')}</a:p>")})),
    "pptx-notes": (
        "a.pptx",
        zipped({"ppt/notesSlides/n.xml": slide_xml(f"<a:p>{run(A, B, tag='a')}</a:p>")}),
    ),
    "odt": ("a.odt", zipped({"content.xml": open_xml(f"<text:p>{A}<text:span>{B}</text:span></text:p>")})),
    "ods": (
        "a.ods",
        zipped(
            {
                "content.xml": open_xml(
                    f"<table:table-cell>{WORD}</table:table-cell><table:table-cell>x</table:table-cell>"
                )
            }
        ),
    ),
}
_XMP = f"<x:xmpmeta>{WORD}</x:xmpmeta>".encode()
PICTURES: dict[str, Carrier] = {
    "png-text": ("a.png", png(chunk(b"tEXt", b"Author\0" + _WORD))),
    "png-compressed-text": ("a.png", png(chunk(b"zTXt", b"Author\0\0" + zlib.compress(_LINE)))),
    "png-compressed-international": (
        "a.png",
        png(chunk(b"iTXt", b"k\0\1\0de\0k\0" + zlib.compress(_LINE))),
    ),
    "png-international": ("a.png", png(chunk(b"iTXt", b"k\0\0\0de\0k\0" + _LINE))),
    "png-exif": ("a.png", png(chunk(b"eXIf", b"II*\0" + WORD.encode("utf-16-le")))),
    "png-profile": (
        "a.png",
        png(chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(b"\nexif\n  9\n" + _LINE.hex().encode()))),
    ),
    "png-colours": ("a.png", png(chunk(b"iCCP", b"p\0\0" + zlib.compress(_LINE)))),
    "jpeg-comment": ("a.jpg", jpeg((0xFE, _WORD))),
    "jpeg-exif": ("a.jpg", jpeg((0xE1, b"Exif\0\0II*\0" + WORD.encode("utf-16-le")))),
    "jpeg-xmp": ("a.jpg", jpeg((0xE1, b"http://ns.adobe.com/xap/1.0/\0" + _XMP))),
    "jpeg-extended-xmp": ("a.jpg", jpeg(*extended_xmp(_XMP[:15], _XMP[15:]))),
    "jpeg-iptc": ("a.jpg", jpeg((0xED, b"Photoshop 3.0\x008BIM\x04\x04\0\0\0\x20\x1c\x02\x50" + _WORD))),
    "jpeg-named-png": ("a.png", jpeg((0xFE, _WORD))),
    "gif-comment": ("a.gif", gif(b"c" * 250 + _WORD)),
    "webp": ("a.webp", b"RIFF\0\1\0\0WEBPXMP \0\1\0\0" + _XMP),
    "tiff": ("a.tif", b"II*\0\x08\0\0\0\1\0\x9d\x9c" + WORD.encode("utf-16-le") + b"\0\0"),
}
_ENCODED_WORDS = f"=?utf-8?b?{_base64(A.encode()).decode()}?=\r\n =?utf-8?q?{B}?="
_HTML = f"<p>{A}<b>{B}</b></p>".encode()
MAIL: dict[str, Carrier] = {
    "mail-subject": ("a.eml", mail(b"x", subject=_ENCODED_WORDS)),
    "mail-without-name": ("", mail(b"x", subject=_ENCODED_WORDS)),
    "mail-folded-header": ("a.eml", mail(b"x", f"X-A: =?utf-8?q?{A}?= =?utf-8?q?{B}?=\r\n")),
    "mail-base64": ("a.eml", mail(base64.encodebytes(_LINE), "Content-Transfer-Encoding: base64\r\n")),
    "mail-short-base64": ("a.eml", mail(_base64(_WORD), "Content-Transfer-Encoding: base64\r\n")),
    "mail-quoted-printable": (
        "a.eml",
        mail(f"see {A}=\r\n{B}\r\n".encode(), "Content-Transfer-Encoding: quoted-printable\r\n"),
    ),
    "mail-part": (
        "a.eml",
        multipart(b"\r\nx", b"Content-Transfer-Encoding: quoted-printable\r\n\r\n" + f"{A}=\r\n{B}".encode()),
    ),
    "mail-html": ("a.eml", multipart(b"Content-Type: text/html\r\n\r\n" + _HTML)),
    "mail-html-base64": ("a.eml", multipart(attachment(_HTML, kind="text/html"))),
    "mail-attachment": ("a.eml", multipart(b"\r\nx", attachment(zipped(_MEMBER)))),
    "mail-attachment-named": ("a.eml", multipart(attachment(f"{A}<my-mark>{B}</my-mark>".encode(), "a.md"))),
    "mail-attachment-over-windows": ("a.eml", multipart(attachment(b"z" * 3_000_001 + _LINE))),
    "mail-attachment-name": (
        "a.eml",
        multipart(f"Content-Type: a/b;\r\n name*0*=utf-8''{A};\r\n name*1*={B}\r\n\r\nx".encode()),
    ),
    "mail-in-mail": (
        "a.eml",
        multipart(b"Content-Type: message/rfc822\r\n\r\n" + mail(b"x", subject=_ENCODED_WORDS)),
    ),
    "mail-in-mail-base64": ("a.eml", multipart(attachment(mail(b"x", subject=_ENCODED_WORDS), "a.eml"))),
    "mailbox": (
        "a.mbox",
        (
            b"From a@b Mon Jan  1 00:00:00 2024\n"
            + mail(b"x\r\n\r\n")
            + b"From a@b Mon Jan  1 00:00:00 2024\n"
            + mail(b"x", subject=_ENCODED_WORDS)
        ),
    ),
    "saved-page": (
        "a.mhtml",
        mail(
            f"<p>{A}=\r\n{B}".encode(),
            "Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n",
        ),
    ),
}
PDFS: dict[str, Carrier] = {
    "pdf-page": ("a.pdf", pdf(WORD)),
    "pdf-named-txt": ("a.txt", pdf(WORD)),
    "pdf-after-other-bytes": ("a.pdf", b"\0\0\0\0" + pdf(WORD)),
    "pdf-information": ("a.pdf", pdf(info=f"/Author {hexadecimal(WORD).decode()}")),
    "pdf-annotation": ("a.pdf", pdf("x", b"<</Type/Annot/Contents%s>>" % hexadecimal(WORD))),
    "pdf-field": ("a.pdf", pdf("x", b"<</FT/Tx/V%s>>" % hexadecimal(WORD))),
    "pdf-link": ("a.pdf", pdf("x", b"<</A<</S/URI/URI%s>>>>" % _WORD.hex().join("<>").encode())),
    "pdf-metadata": ("a.pdf", pdf("x", compressed(_XMP, b"/Type/Metadata/Subtype/XML"))),
    "pdf-attachment": ("a.pdf", written(attached=("b.zip", zipped(_MEMBER)))),
    "pdf-outline": ("a.pdf", written(title=WORD)),
    "pdf-and-a-zip": ("a.pdf", pdf("x") + zipped(_MEMBER)),
    "pdf-in-pdf": ("a.pdf", pdf("x", stream(pdf(WORD), b"/Type/EmbeddedFile"))),
    "pdf-before-a-change": ("a.pdf", changed(WORD, "Hello")),
    "pdf-after-a-change": ("a.pdf", changed("Hello", WORD)),
    "pdf-with-an-empty-password": ("a.pdf", written(WORD, password="")),
}
_CUT = "".join(f"={byte:02X}" for byte in UMLAUT.encode("gb18030"))
UMLAUTS: dict[str, Carrier] = {
    "utf-8": ("a.txt", UMLAUT.encode()),
    "cp1252": ("a.txt", f"see {UMLAUT}\n".encode("cp1252")),
    "cp1252-in-a-binary": ("a.bin", b"\0\0\1" + UMLAUT.encode("cp1252") + b"\0\xff\xfe\0"),
    "declared-encoding": ("a.html", b'<meta charset="cp850"><p>' + UMLAUT.encode("cp850")),
    "utf-16-in-a-binary": ("a.bin", wide(UMLAUT, "utf-16-le")),
    "zip-name": ("a.zip", zipped({UMLAUT: b""})),
    "zip-name-of-windows": (
        "a.zip",
        zipped({"w" * 14: b""}).replace(b"w" * 14, UMLAUT.encode("cp1252")),
    ),
    "mail-subject-cut": ("a.eml", mail(b"x", subject=f"=?gb18030?q?{_CUT[:9]}?= =?GB18030?q?{_CUT[9:]}?=")),
    "jpeg-iptc": ("a.jpg", jpeg((0xED, b"\x1c\x02\x50\0" + UMLAUT.encode("latin-1")))),
    "rich-text": (
        "a.rtf",
        (rb"{\rtf1\ansi\ansicpg1252 " + UMLAUT.replace("ö", r"\'f6").replace("ü", r"\u252?").encode() + b"}"),
    ),
    "mail-subject": (
        "a.eml",
        mail(b"x", subject="=?iso-8859-1?q?" + quote(UMLAUT, encoding="latin-1").replace("%", "=") + "?="),
    ),
    "mail-charset": (
        "a.eml",
        mail(
            base64.encodebytes(UMLAUT.encode("cp850")),
            "Content-Type: text/plain; charset=cp850\r\nContent-Transfer-Encoding: base64\r\n",
        ),
    ),
    "pdf-information": ("a.pdf", pdf(info=f"/Title {hexadecimal(UMLAUT).decode()}")),
}
CARRIERS = {**TEXTS, **ARCHIVES, **OFFICE, **PICTURES, **MAIL, **PDFS}
