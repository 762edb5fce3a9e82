"""A term is found in each form, at each length, alignment, nesting and carrier; every threshold is crossed."""

import json
import sqlite3
import zlib
from binascii import a2b_qp
from collections.abc import Callable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from random import Random
from string import ascii_letters
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import orrery.scanner.unpack
from orrery.scanner.detectors import own_forms
from orrery.scanner.detectors.all import detectors
from orrery.scanner.findings import FingerprintKey, ScanFinding
from orrery.scanner.policy import Policy, Term
from orrery.scanner.scanning import Scan
from orrery.scanner.unpack.encodings import unquoted
from tests.scanner.corpus.measured import found_in
from tests.scanner.unpack.carriers import chunk, png, zipped
from tests.scanner.unpack.forms import FORMS, PACKED, WRAPPED, base64, raw_deflate, wrapped
from tests.support.soak import rounds
from tests.support.tables import each_case

LONG, SHORT, MARKED = "Quillfeather", "Zel", "Köpenøcğü"
TERMS = (LONG, SHORT, MARKED, "山田")
SCAN = Scan(
    [*detectors(Policy(terms=tuple(Term("customer", one) for one in TERMS)))],
    FingerprintKey(b"a key of the tests"),
)
BEFORE = (
    *(b"", b"\n", b"key: ", b'{"k": "', b"data:;base64,", b"https://host.example/a/b/", b"kind-1_"),
    *(b"x", b"ab", b"abc"),
)
"""What stands before a form; the last three hang together with it."""

FILLER = "The offer is ready; it waits, and so do we. "


def found(content: bytes, name: str = "a.txt") -> list[ScanFinding]:
    """Return what is found in a file."""
    return found_in(SCAN, name, content)


def text_of(term: str, length: int, where: int) -> bytes:
    """Return a text of about so many octets with a term in it."""
    around = (FILLER * (length // len(FILLER) + 1))[: max(0, length - len(term))]
    at = where % (len(around) + 1)
    return f"{around[:at]} {term} {around[at:]}".strip().encode()


def gap(form: str, packed: str, before: bytes) -> bytes:
    """Return what stands between a form and what is before it: a dump is in lines, and digits are no letters."""
    if form in {"xxd", "hexdump -C"}:
        return b"\n"
    return b" = " if before.isalpha() and (packed == "raw deflate" or "hex" in form) else b""


@settings(max_examples=rounds(60), deadline=None)
@given(
    form=st.sampled_from([*FORMS]),
    packed=st.sampled_from([*PACKED]),
    text=st.builds(text_of, st.sampled_from(TERMS), st.integers(0, 600), st.integers(0, 600)),
    before=st.sampled_from(BEFORE),
    wrap=st.tuples(
        st.sampled_from([0, 0, 20, 64, 76]),
        st.sampled_from([b"\n", b"\r\n", b"\n  ", rb"\n", b"\n# ", b'"\n  "']),
    ),
)
def test_a_term_is_found_in_every_form(
    form: str, packed: str, text: bytes, before: bytes, wrap: tuple[int, bytes]
) -> None:
    """Whatever stands before it; a raw stream begins where a word does, as nothing else tells that it is one."""
    before += gap(form, packed, before)
    content = PACKED[packed](text)
    made = wrapped(FORMS[form](content), wrap[0] if form in WRAPPED else 0, wrap[1])
    assert found(b"one\n" + before + made + b"\n"), (form, packed, before, made)


@settings(max_examples=rounds(20), deadline=None)
@given(
    forms=st.lists(
        st.sampled_from(["Base64", "Base64 in an address", "hex", "hex with colons"]), min_size=2, max_size=3
    ),
    packed=st.sampled_from([*PACKED]),
    before=st.sampled_from(BEFORE[:7]),
)
def test_a_term_is_found_in_forms_within_forms(forms: list[str], packed: str, before: bytes) -> None:
    """To the depth of `Limits`: below it, the file is not clean either."""
    content = text_of(LONG, 60, 7)
    for form in forms:
        content = before + FORMS[form](PACKED[packed](content)) + b"\n"
    assert found(content), (forms, packed, before)


def thresholds() -> Iterator[tuple[str, int]]:
    """Yield every number that a module of the decoders has by a name, by itself."""
    names = [one.name for one in iter_modules(orrery.scanner.unpack.__path__)]
    decoding = ("decoders", "base64_blocks", "hex_blocks", "escapes", "inflating", "view")
    for name in (one for one in names if one in decoding):
        for key, value in vars(import_module(f"orrery.scanner.unpack.{name}")).items():
            if isinstance(value, int) and key.lstrip("_").isupper():
                yield f"{name}.{key}", value
    yield from ((f"own_forms.{one}", getattr(own_forms, one)) for one in ("JUDGED", "LONGEST", "CLEAR", "NEAR"))


THRESHOLDS = dict(thresholds())


def test_every_threshold_is_known() -> None:
    """At least those of length, and the size of a window."""
    assert len(THRESHOLDS) >= 15
    assert {"decoders.JUDGED", "decoders.LOOKED_AT", "base64_blocks.SHORTEST", "view.WINDOW"} <= THRESHOLDS.keys()


@each_case("form", ["Base64", "hex", "hex with colons", "Base64 in an address"])
@each_case("name", THRESHOLDS)
def test_a_threshold_is_crossed(name: str, form: str) -> None:
    """In letters of the form and in octets of what it says: one less, as many, and one more."""
    most = THRESHOLDS[name]
    is_long = most > THRESHOLDS["decoders.LOOKED_AT"] * 10
    if is_long and form != "Base64":
        return  # what is longer than a window goes one way
    for length in {most * per // 4 + one for per in (2, 3, 4) for one in (-1, 0, 1)} if not is_long else {most}:
        for term in (LONG, SHORT) if not is_long else (LONG,):
            content = text_of(term, max(0, length), 0)
            if content:
                assert found(b"key: " + FORMS[form](content) + b"\n"), (name, form, length, term)


def random_octets(many: int) -> bytes:
    """Return octets that are no text."""
    return Random(1).randbytes(many)  # noqa: S311  the same ones each time


def database() -> bytes:
    """Return a database that is nearly empty, with a term in a file that it holds."""
    with sqlite3.connect(":memory:") as made:
        _ = made.execute("create table t (a blob)")
        _ = made.execute("insert into t values (?)", (zlib.compress(text_of(LONG, 300, 9)),))
    return made.serialize()


NOTE = f'<mxGraphModel><root><mxCell value="{LONG}"/></root></mxGraphModel>'.encode()
DIAGRAM = b'<mxfile><diagram id="a" name="Page-1">%b</diagram></mxfile>' % base64(
    raw_deflate(quote(NOTE).encode())
)
MAP = json.dumps(
    {"version": 3, "sources": ["a.ts"], "sourcesContent": [f"const a = '{LONG}'"], "mappings": "AAAA"}
)
SAML = quote(base64(raw_deflate(f"<samlp:AuthnRequest><saml:Issuer>{LONG}</saml:Issuer>".encode())), safe="")
CODED = [" ".join([*(f"{one * one * factor}" for one in range(40)), LONG]).encode() for factor in (7, 17)]
"""Texts that zlib packs in individual codes; in short lines nothing but its head shows them."""

ACROSS = zlib.compress(random_octets(850_000) + LONG.encode())
WORDS = random_octets(1_150_000).translate((4 * (ascii_letters.encode() + b".,;:!?()-'" + b" " * 12))[:256])
"""A text that is more than a window, also packed: it is searched faster than octets of chance."""

CARRIERS: dict[str, tuple[str, bytes]] = {
    **{
        f"individual codes {number}": ("a.txt", b"k: " + wrapped(base64(zlib.compress(text)), 40, b"\n") + b"\n")
        for number, text in enumerate(CODED)
    },
    "diagram": ("a.drawio", DIAGRAM),
    "diagram in a picture": ("a.drawio.png", png(chunk(b"tEXt", b"mxfile\0" + quote(DIAGRAM).encode()))),
    "diagram in a packed chunk": (
        "a.drawio.png",
        png(chunk(b"zTXt", b"mxfile\0\0" + zlib.compress(quote(DIAGRAM).encode()))),
    ),
    "diagram in a drawing": (
        "a.drawio.svg",
        b'<svg content="%b"><g/></svg>'
        % DIAGRAM.replace(b"<", b"&lt;").replace(b">", b"&gt;").replace(b'"', b"&quot;"),
    ),
    "sign-in request": ("a.har", f"GET https://idp.example/sso?SAMLRequest={SAML}&RelayState=x HTTP/1.1".encode()),
    **{
        f"secret of {term}": (
            "secret.yaml",
            b"apiVersion: v1\nkind: Secret\ndata:\n  user: %b\n  password: %b\n"
            % (base64(term.encode()), base64(random_octets(12))),
        )
        for term in TERMS
    },
    "source map": (
        "a.js",
        b"//# sourceMappingURL=data:application/json;charset=utf-8;base64," + base64(MAP.encode()),
    ),
    "UTF-7": ("a.txt", f"Ask {MARKED}, please.".encode("utf-7")),
    "UTF-7 throughout": ("a.txt", b"Ask +" + base64(LONG.encode("utf-16-be")).rstrip(b"=") + b"-, please."),
    "UTF-16 in Base64": ("a.ps1", b"powershell -e " + base64(f"echo {LONG}".encode("utf-16-le"))),
    "UTF-32 in hex": ("a.txt", f"echo {LONG}".encode("utf-32-le").hex().encode()),
    **{
        f"UTF-16 among octets, in {form}": (
            "a.txt",
            b"k: " + encode(random_octets(20) + LONG.encode("utf-16-le") + random_octets(20)) + b"\n",
        )
        for form, encode in FORMS.items()
        if form in {"Base64", "hex", "hex with colons"}
    },
    **{
        f"{packed} behind octets": ("a.txt", b"k: " + base64(b"\x01\x02\x03" + PACKED[packed](LONG.encode())))
        for packed in ("zlib", "gzip")
    },
    "octets before the text": ("a.txt", b"k: " + base64(random_octets(40) + LONG.encode() + random_octets(40))),
    "Cyrillic in UTF-16": ("a.txt", b"k: " + base64(f"Привет {LONG}".encode("utf-16-le"))),
    "database in Base64": ("a.txt", b"k: " + base64(database())),
    "archive with zeros": ("a.txt", b"k: " + base64(zipped({f"{LONG}.txt": b"", "b": bytes(9000)}))),
    "over windows, packed": (
        "a.json",
        b'{"k": "' + base64(zlib.compress(WORDS + LONG.encode())) + b'"}',
    ),
    "over windows, quoted": ("a.txt", wrapped(base64(ACROSS), 76, b"\n> ")),
    "over windows, in strings": ("a.c", b'x = "' + wrapped(base64(ACROSS), 76, b'"\n    "') + b'";\n'),
    "digits over windows": ("a.txt", (random_octets(540_000) + text_of(LONG, 30, 3)).hex().encode()),
}


@each_case("name", CARRIERS)
def test_a_real_file_is_seen_through(name: str) -> None:
    """As the programs write them."""
    assert {one.kind for one in found(CARRIERS[name][1], CARRIERS[name][0])} == {"customer"}


@each_case("others", [0, 600])
@each_case("term", ["Zel", "Zoé", "Éva", "山田", "𠮷田"])
def test_a_short_term_alone_is_found_in_its_own_forms(term: str, others: int) -> None:
    """Whether its list is short or so long that a small file is searched for some of its terms only."""
    terms = [Term("person", term), *(Term("customer", f"Fabrikam Number{one}") for one in range(others))]
    scan = Scan([*detectors(Policy(terms=tuple(terms)))], FingerprintKey(b"a key of the tests"))
    for form in ("Base64", "hex", "hex with colons", "hex of a program"):
        content = b"k: " + FORMS[form](term.encode()) + b"\n"
        assert {one.kind for one in found_in(scan, "a.txt", content)} == {"person"}, form


def test_no_code_of_quoted_printable_is_cut() -> None:
    """Wherever a piece ends, in lines and without them."""
    for text in (b"a=41b=C3=B6c=3D", b"a=41=\r\nb=C3=B6=\nc=3D\n"):
        cuts = [b"".join(unquoted([text[:at], text[at:]])) for at in range(len(text) + 1)]
        assert set(cuts) == {a2b_qp(text)}


@pytest.mark.parametrize("term", ["Noël", "Zoé", "山田", "𠮷田"])
def test_a_slash_of_json_is_one_letter(term: str) -> None:
    """Writers of JSON may put `\\/`, also in the form of a term that is searched by itself."""
    scan = Scan([*detectors(Policy(terms=(Term("person", term),)))], FingerprintKey(b"a key of the tests"))
    texts = (
        f"{before} {term} {behind}".encode() for before in ("a", "ab", "abc") for behind in ("", "?", "x?", "~o~")
    )
    slashed = [form for text in texts if b"/" in (form := base64(text))]
    for form in slashed:
        content = b'{"d": "' + form.replace(b"/", rb"\/") + b'"}'
        assert {one.kind for one in found_in(scan, "a.json", content)} == {"person"}, form
    assert slashed


ODD = bytes(one for one in range(256) if one < 0x20 or 0x80 <= one < 0xC0 or one >= 0xF8)
OPAQUE = {
    "7z": b"7z\xbc\xaf\x27\x1c\0\4" + random_octets(800).translate(None, bytes({*range(256)} - {*ODD})),
    "old Office": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(300) + random_octets(8) + bytes(300),
}


@each_case("wrap", [0, 64, 76])
@each_case("kind", OPAQUE)
def test_what_cannot_be_read_is_told_also_in_base64(kind: str, wrap: int) -> None:
    """A file of a kind that nothing reads, in which nothing is a text."""
    content = b"k: " + wrapped(base64(OPAQUE[kind]), wrap, b"\n") + b"\n"
    assert {one.kind for one in found(content)} == {"unreadable"}


PAGES = {
    "Dvořák": ("cp1250", "cp852", "iso8859-2"),
    "Łukaszewski": ("cp1250", "cp852", "iso8859-2", "mac_latin2"),
    "Köpenickmüller": ("cp1252", "cp437", "cp850", "mac_roman", "iso8859-15", "cp1250"),
}


@each_case(("name", "page"), [(name, page) for name, pages in PAGES.items() for page in pages])
@each_case("around", [b"Ask %b, please.\n", b"\0\1\2 %b \0\3"])
def test_a_name_is_found_in_every_code_page(name: str, page: str, around: bytes) -> None:
    """Of Western and Central Europe, in a text and in a binary file."""
    searching = Scan([*detectors(Policy(terms=(Term("person", name),)))], FingerprintKey(b"a key of the tests"))
    assert {one.kind for one in found_in(searching, "a.dat", around % name.encode(page))} == {"person"}


ORDINARY: dict[str, Callable[[], bytes]] = {
    "digests": lambda: b"".join(
        b"sha256:%b\n" % random_octets(32 + one)[one:].hex().encode() for one in range(2000)
    ),
    "Base64 of chance": lambda: base64(random_octets(60_000)),
    "words": lambda: b"\n".join(b"word%d/path_of-%d" % (one, one) for one in range(20_000)),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_chance_is_no_term(name: str) -> None:
    """Neither is a term of three letters found in octets of chance, nor are they called unreadable."""
    assert found(ORDINARY[name]()) == []
