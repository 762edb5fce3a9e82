"""Terms of the watch-list: where they are found, and where a text only has something like them."""

from orrery.scanner.detectors.all import detectors
from orrery.scanner.detectors.spelling import why_unsearchable
from orrery.scanner.policy import Policy, Term
from tests.support.tables import each_case

TERMS = (
    Term("person", "Ann"),
    Term("person", "Ada"),
    Term("person", "Anna Kowalska"),
    Term("person", "Иван Петров"),
    Term("person", "Hope"),
    Term("person", "Seán O'Brien"),
    Term("customer", "Acme Corp"),
    Term("customer", "Müller"),
    Term("customer", "Łódź Works"),
    Term("customer", "日本電気"),
    Term("customer", "Procter & Gamble"),
    Term("customer", "AT&T"),
    Term("customer", "3M Works"),
    Term("customer", "Car Go"),
    Term("project", "Falcon"),
    Term("project", "BlueHeron"),
    Term("project", "Nana Nana"),
    Term("domain", "corp.example"),
    Term("domain", "bücher.example"),
    Term("address", "ann@corp.example"),
)
DETECTOR = detectors(Policy(terms=tuple(TERMS)))[0]

FOUND = [
    *(("anna kowalska", text) for text in ("Anna Kowalska", "ANNA_KOWALSKA", "annakowalska", "anna.kowalska")),
    *(("anna kowalska", text) for text in ("Anna%20Kowalska", "Anna&nbsp;Kowalska", "x = AnnaKowalskaReport")),
    *(("anna kowalska", text) for text in ("Anna\n  Kowalska", "Anna\r\n    # Kowalska", "Anna\n * Kowalska")),
    *(("anna kowalska", text) for text in ("Anna\\nKowalska", "An&shy;na Ko&#119;alska", "A%6ena+Kowalska")),
    *(("anna kowalska", text) for text in ("\\u0041nna Kowalska", "\\x41nna Kowalska", "A=6Ena Kowal=\nska")),
    *(("ann", text) for text in ("Ann", "Ann's", "ann2", "2ann", "getAnnInvoice", "HTTPAnn", "ANN_1", "'\\nann'")),
    *(("ann", text) for text in ("Ann—here", "“Ann”", "naïve Ann", "Аnn", "Αnn", "\u202eAnn", "ⒶⓃⓃ")),  # noqa: RUF001  look-alikes
    *(("ada", text) for text in ("Ada", "ada2024", "adaLovelace", "2024-01-02-ada")),
    *(
        ("acme corp", text)
        for text in ("AcmeCorpInvoice", "2024AcmeCorp2024", "ACMECORP", "HTTPAcmeCorp", "АСМЕ Corp")  # noqa: RUF001  look-alikes
    ),
    *(("acme corp", text) for text in ("hidden " + "".join(chr(0xE0000 + ord(c)) for c in "Acme Corp"),)),
    *(("acme corp", text) for text in ("A\0c\0m\0e\0 \0C\0o\0r\0p\0", "🅰🅲🅼🅴 corp", "𝔄𝔠𝔪𝔢 Corp", "ACME+CORP")),
    *(
        ("muller", text)
        for text in ("Müller", "Muller", "Mueller", "Mu\u0308ller", "MÜLLER", "Müllers", "Müller's")
    ),
    *(("muller", text) for text in ("M&uuml;ller", "M%C3%BCller", "M%FCller", "M\\u00fcller", "M\\303\\274ller")),
    *(("lodz works", text) for text in ("Łódź Works", "lodz-works", "ŁÓDŹ_WORKS")),
    *(
        ("иван петров", text)
        for text in ("Иван Петров", "ИВАН ПЕТРОВ", "Ивaн Пeтpов", "ИванПетров", "Иван\nПетров")  # noqa: RUF001  look-alikes
    ),
    *(("日本電気", text) for text in ("これは日本電気です", "日本\n電気", "日 本 電 気")),
    *(("procter & gamble", text) for text in ("Procter and Gamble", "procter-gamble", "Procter &amp; Gamble")),
    *(("at & t", text) for text in ("AT&T", "AT & T", "at&amp;t")),
    *(("sean o brien", text) for text in ("Sean O'Brien", "Seán O’Brien", "sean.obrien")),  # noqa: RUF001  a quote as people type it
    *(("falcon", text) for text in ("Falcon", "Falcons", "FALC0N", "fa1con", "falcon.md", "ProjectFalcon")),
    *(("nana nana", text) for text in ("Nana Nana", "xnana nana nana")),
    *(("blue heron", text) for text in ("BlueHeron", "blue heron", "BLUE-HERON", "blueheron")),
    *(("3m works", text) for text in ("3M Works", "x3MWorks")),
    *(("hope", text) for text in ("Ноpе", "Норе")),  # noqa: RUF001  look-alikes
    *(("corp.example", text) for text in ("corp.example", "CORP.EXAMPLE", "a.b.corp.example", "x@corp.example.")),
    *(
        ("corp.example", text)
        for text in ("corp[.]example", "corp(dot)example", "corp dot example", "corp\\.example")
    ),
    *(("corp.example", text) for text in ("hxxps[:]//corp{.}example/x", "DC=corp,DC=example", "corp%2Eexample")),
    *(
        ("corp.example", text)
        for text in (
            "corp.example.conf",
            "corp.example-2024.json",
            "corp。example",
            "corp.example-hosted",
            "*.corp.example",
        )
    ),
    *(("bucher.example", text) for text in ("bücher.example", "xn--bcher-kva.example", "bucher.example")),
    *(("ann@corp.example", text) for text in ("ann@corp.example", "ANN@Corp.Example", "ann+x@corp.example")),
    *(
        ("ann@corp.example", text)
        for text in ("ann(at)corp.example", "ann at corp dot example", "ann&#64;corp.example")
    ),
    *(
        ("ann@corp.example", text)
        for text in (
            "mailto:ann@corp.example",
            "ann_corp.example#EXT#",
            "%3Cann%40corp.example",
            "'\\nann@corp.example'",
        )
    ),
]
"""The value that is found, and the text."""

NOT_FOUND = [
    *(
        "annual",
        "Joanne",
        "JOANNE",
        "Joanns",
        "Hanna",
        "annex",
        "cannot",
        "jo&auml;nn",
        "J\u00f6ann",
        "ann\u00e9e",
    ),
    *("acmecorporation", "acme of corp", "acme " * 3, "car\u0433o", "cargo", "Car goes", "falconry", "Mullerian"),
    *("at t", "AT T", "att", "atandt", "13M Works", "3Ms workshop", "Procter Xgamble", "blue heronry"),
    *("notcorp.example", "not-corp.example", "corp.examples", "corp.example.org", "corp.example-shop.org"),
    *("1corp.example", "corpXexample", "corp example", "joann@corp.examples", "corp.example.co.uk"),
    *(
        "он сидит в норе целый день",
        "3ada5ea110bb",
        "sha256:9f1c3ada77e0",
        "0b4ada1-ada2",
        "日本",
        "電気",
        "Ивановка Петрович",
    ),
    *("Q2FtUz1ann8xYzRkNWU2ZjdBbTkK", "Anns", "C:\\nothing", "100%Acme", "=41cme"),
]
"""Texts without a term."""


@each_case(("value", "text"), FOUND)
def test_a_term_is_found(value: str, text: str) -> None:
    """On its line, with the value that all its spellings share."""
    octets = f"one\ntwo {text} \nthree\n".encode()
    found = [(one.value, octets[: one.start].count(b"\n")) for one in DETECTOR.matches(octets, "")]
    assert (value, 1) in found


@each_case("text", NOT_FOUND)
def test_what_is_like_a_term_is_not_found(text: str) -> None:
    """Such as a longer word that has it inside."""
    assert list(DETECTOR.matches(f"one\ntwo {text} \nthree\n".encode(), "")) == []


def test_an_unknown_encoding_is_read_as_latin_1() -> None:
    """As files of an older kind are."""
    assert [one.value for one in DETECTOR.matches("für Müller".encode("latin-1"), "")] == ["muller"]


def test_each_line_has_a_finding_of_its_own() -> None:
    """And a line one for each value, however often it is there."""
    text = b"Falcon falcon F&#65;LCON\n\nfalcon\nFalcon &amp; Acme Corp\n"
    found = [(one.value, text[: one.start].count(b"\n")) for one in DETECTOR.matches(text, "")]
    assert sorted(found) == [("acme corp", 3), ("falcon", 0), ("falcon", 2), ("falcon", 3)]


def test_a_place_points_to_the_term() -> None:
    """Where the text stands as it is, to each byte of it."""
    text = b"x\n" + b"y" * 40_000 + b" Acme Corp."
    assert [text[one.start : one.end] for one in DETECTOR.matches(text, "")] == [b"Acme Corp"]


@each_case("offset", [*range(14_330, 14_345), *range(16_300, 16_440, 7)])
def test_a_term_at_the_border_of_two_blocks_is_found_once(offset: int) -> None:
    """Plain, and in another way of writing; and half a word is none."""
    for term in (b"AcmeCorp", b"A&#99;me Corp"):
        text = b"." * offset + b" " + term + b" " + b"." * 20_000
        assert len(list(DETECTOR.matches(text, ""))) == 1
    for word in (b"JoAnnexing", b" joann "):
        assert list(DETECTOR.matches(b"." * (offset - 3) + word + b"." * 20_000, "")) == []


def test_an_address_hides_its_domain() -> None:
    """One place is one finding, however it is read; the name in it is a term of its own."""
    for text in (b"ann@corp.example", b"ann&#64;corp.example", b"ann (at) corp [dot] example"):
        assert sorted(one.kind for one in DETECTOR.matches(text, "")) == ["address", "person"]


@each_case(
    ("term", "said"),
    [
        (Term("person", "Al"), "at least 3"),
        (Term("person", "A\u200bl"), "at least 3"),
        (Term("customer", "P&G"), "at least 3"),
        (Term("project", "2024"), "number alone"),
        (Term("project", "Test"), "Nearly every"),
        (Term("customer", "..."), "at least 3"),
        (Term("customer", "x" * 201), "at most"),
        (Term("person", "李"), "at least 3"),
        (Term("domain", "example"), "two parts"),
        (Term("domain", "ann@corp.example"), "two parts"),
        (Term("domain", "gmail.com"), "everybody"),
        (Term("address", "corp.example"), "an @"),
        *(
            (term, "")
            for term in (*TERMS, Term("person", "李明"), Term("person", "Бо Ли"), Term("address", "x@gmail.com"))
        ),
    ],
)
def test_a_term_that_cannot_be_searched_is_refused(term: Term, said: str) -> None:
    """With a reason, which does not quote it; and the search leaves it out."""
    why = why_unsearchable(term.kind, term.text)
    assert said in why
    assert bool(why) == bool(said)
    assert term.text not in why
    if why:
        assert list(detectors(Policy(terms=(term,)))[0].matches(f"x {term.text} x 2024 P&G".encode(), "")) == []
