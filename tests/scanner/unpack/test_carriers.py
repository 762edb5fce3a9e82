"""A word is in a view of every file that holds it, whatever carries it."""

from itertools import product

import pytest

from orrery.scanner.unpack.view import OVERLAP, WINDOW
from tests.scanner.unpack.carriers import (
    UMLAUT,
    WORD,
    docx,
    mail,
    open_xml,
    run,
    sheet_xml,
    slide_xml,
    word_xml,
    zipped,
)
from tests.scanner.unpack.reading import read
from tests.scanner.unpack.table import CARRIERS, UMLAUTS
from tests.support.soak import SOAKING
from tests.support.tables import each_case


@each_case("carrier", CARRIERS)
def test_a_word_is_found_in_every_carrier(carrier: str) -> None:
    """The planted word stands whole in some view, nothing is left unread, and no view is too large."""
    name, content = CARRIERS[carrier]
    found, not_read = read(name, content)
    assert any(WORD.encode() in view.text for view in found)
    assert not_read == []
    assert max(len(view.text) for view in found) <= WINDOW + OVERLAP


@each_case("carrier", UMLAUTS)
def test_a_name_with_umlauts_becomes_utf_8(carrier: str) -> None:
    """A name that is not English stands in some view as UTF-8."""
    name, content = UMLAUTS[carrier]
    found, not_read = read(name, content)
    assert any(UMLAUT.encode() in view.text for view in found)
    assert not_read == []


APART = {
    "docx-paragraphs": docx(f"<w:p>{run(WORD)}</w:p><w:p>{run('x')}</w:p>"),
    "docx-with-another-prefix": docx(f"<x:p>{run(WORD)}</x:p><x:p>{run('x')}</x:p>"),
    "docx-cells": docx(f"<w:tc>{run(WORD)}</w:tc><w:tc>{run('x')}</w:tc>"),
    "docx-break": docx(f"<w:p>{run(WORD)}<w:br/>{run('x')}</w:p>"),
    "docx-field": docx(f"<w:p>{run(WORD)}<w:fldChar/>{run('x')}</w:p>"),
    "docx-comments": docx(word__comments_xml=word_xml(f"<w:comment>{run(WORD)}</w:comment><w:comment>{run('x')}")),
    "xlsx-strings": zipped({"a.xml": sheet_xml(f"<si><t>{WORD}</t></si><si><t>x</t></si>")}),
    "xlsx-cells": zipped({"a.xml": sheet_xml(f"<c><is><t>{WORD}</t></is></c><c><v>x</v></c>")}),
    "pptx-paragraphs": zipped({"a.xml": slide_xml(f"<a:p>{WORD}</a:p><a:p>x</a:p>")}),
    "odt-paragraphs": zipped({"a.xml": open_xml(f"<text:p>{WORD}</text:p><text:p>x</text:p>")}),
    "odt-tab": zipped({"a.xml": open_xml(f"<text:p>{WORD}<text:tab/>x</text:p>")}),
    "page-items": f"<html><ul><li>{WORD}</li><li>x</li>".encode(),
    "page-in-upper-case": f"<HTML><TR><TD>{WORD}</TD><TD>x</TD>".encode(),
    "xml-elements": f"<a><name>{WORD}</name><city>x</city></a>".encode(),
}


@each_case("carrier", APART)
def test_words_of_two_paragraphs_stay_two(carrier: str) -> None:
    """What ends a paragraph, a cell or an element ends a word, so that what follows does not hide it."""
    found, _ = read("a", APART[carrier])
    assert any(WORD in view.text.decode().splitlines() for view in found)


GUID = "72f988bf-0000-4000-8000-2d7cd011db47"
LABELS = {
    "properties": docx(
        docProps__custom_xml=f'<property name="MSIP_Label_x_SiteId"><vt:lpwstr>{GUID}</vt:lpwstr>'.encode()
    ),
    "label information": docx(docMetadata__LabelInfo_xml=f'<clbl:label siteId="{GUID}" method="x"/>'.encode()),
}


@pytest.mark.parametrize("carrier", LABELS)
def test_the_name_of_a_property_stays_beside_its_value(carrier: str) -> None:
    """The site id of a sensitivity label is known by its name."""
    found, _ = read("a.docx", LABELS[carrier])
    near = [view.text.lower().partition(b"siteid")[2][:100] for view in found]
    assert any(GUID.encode() in text for text in near)


def test_a_line_is_counted_from_the_beginning_of_the_file() -> None:
    """Also in the second window of a text, and for a block of Base64."""
    text = b"a line of a text\n" * 100_000 + WORD.encode() + b"\n\nUXVpbGxmZWF0aGVyIGlzIGhlcmUu\n"
    found, _ = read("a.txt", text)
    windows = [view for view in found if not view.part]
    assert len(windows) > 1
    last = windows[-1]
    assert last.line + last.text.count(b"\n", 0, last.text.index(WORD.encode())) == 100_001
    assert any(view.part == "(Base64 in line 100003)" for view in found)


def test_a_folded_header_is_one_line() -> None:
    """A name of two words is found although a header breaks between them."""
    found, _ = read("a.eml", mail(b"x", subject="Quill\r\n\tFeather"))
    assert any(b"Quill Feather" in view.text for view in found)


AT_SEAMS = [
    *product(
        [WINDOW - 4000, WINDOW - 28, WINDOW - 20, WINDOW - OVERLAP, WINDOW - OVERLAP - 8],
        [b" " * 9000, b" x" * 4500, b" " * 3972 + b"x" * 6000],
    )
]
TELLING = (0, 4, 5, 8, 9, 10, 14)
"""Each place with one of these behind it, or two; `./run soak inputs` tries all."""


@each_case(("place", "after"), AT_SEAMS if SOAKING else [AT_SEAMS[number] for number in TELLING])
def test_a_block_at_a_seam_of_windows_is_looked_at_once(place: int, after: bytes) -> None:
    """It stands whole in two windows, or is cut by one, and is a file in one."""
    found, _ = read("a.txt", b" " * place + b"UXVpbGxmZWF0aGVyIGlzIGhlcmUu" + after)
    assert [view.text for view in found if view.part] == [b"Quillfeather is here."]


def test_a_member_is_named_by_its_way() -> None:
    """The part of a view has the names of archives and members, with `!` between them."""
    found, _ = read("a.zip", zipped({"b.zip": zipped({"c/d.txt": b"here"})}))
    assert [view.part for view in found if view.text == b"here"] == ["b.zip!c/d.txt"]


FALSE = {
    "zip": b"PK is no archive",
    "bzip2": b"BZh91AY&SY is how bzip2 begins",
    "pdf": b"%PDF-1.4 is how a PDF begins",
    "source with a pdf": b'x = b"%PDF-1.4\\n1 0 obj"\n',
    "gif": b"GIF89a is how a picture begins",
    "rich text": b"{\\rtf is how rich text begins",
    "tar": b" " * 257 + b"ustar is the mark of a tar",
    "mail": b"From: here to there\nSubject: none\n",
    "rar": b"Rar! is how it begins",
    "openssl": b"Salted__caramel",
    "book": b"AT&TFORM",
    "pointer named docx": b"version 1 of a pointer to a large file\n",
}


@each_case("name", FALSE)
def test_a_text_that_begins_like_another_kind_is_a_text(name: str) -> None:
    """It is searched, and not called damaged."""
    found, not_read = read("a.docx" if "docx" in name else "a.txt", FALSE[name])
    assert found[0].text == FALSE[name]
    assert not_read == []
