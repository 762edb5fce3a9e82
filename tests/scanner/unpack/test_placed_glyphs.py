"""The text of a page of a PDF is whole, whichever operators place and show its letters."""

import io
from itertools import pairwise

from orrery.scanner.detectors.all import detectors
from orrery.scanner.policy import Policy, Term
from orrery.scanner.unpack.pdf_texts import TEXT, records
from tests.scanner.unpack.pdfs import pdf
from tests.support.tables import each_case

NAME = "Northwind Traders"
_WIDTHS = {"N": 722, "o": 556, "r": 333, "t": 278, "h": 556, "w": 722, "i": 222, "n": 556, "d": 556, "T": 611}
_DETECTOR = detectors(Policy(terms=(Term("customer", NAME),)))[0]


def _placed() -> list[tuple[float, str]]:
    """Return each letter and where it begins in Helvetica of 12 points; a space is a gap."""
    at, placed = 20.0, list[tuple[float, str]]()
    for one in NAME:
        placed += [(at, one)] if one != " " else []
        at += {**_WIDTHS, "a": 556, "e": 556, "s": 500, " ": 278}[one] * 12 / 1000
    return placed


def _steps() -> str:
    places = [20.0, *(at for at, _ in _placed())]
    steps = [after - before for before, after in pairwise(places)]
    return " ".join(f"{step:.3f} 0 Td ({one}) Tj" for step, (_, one) in zip(steps, _placed(), strict=True))


_AT = "1 0 0 1 {0:.3f} 100 Tm ({1}) Tj"
_FIRST, _SECOND = NAME.split()
PAGES = {
    "Tj": f"20 100 Td ({NAME}) Tj",
    "TJ, a letter each": "20 100 Td [" + " ".join(f"({one})" for one in NAME) + "] TJ",
    "TJ, kerned": "20 100 Td [" + " -30 ".join(f"({one})" for one in NAME) + "] TJ",
    "TJ, a gap for the space": f"20 100 Td [({_FIRST}) -278 ({_SECOND})] TJ",
    "TJ, letters and a gap": "20 100 Td ["
    + " -288 ".join(" 10 ".join(f"({x})" for x in w) for w in NAME.split())
    + "] TJ",
    "Td, a letter each": "20 100 Td " + _steps(),
    "Tm, a letter each": " ".join(_AT.format(*one) for one in _placed()),
    "Tm, scaled": " ".join(f"/F1 1 Tf 12 0 0 12 {at:.3f} 100 Tm ({one}) Tj" for at, one in _placed()),
    "BT, a letter each": " ET BT ".join("/F1 12 Tf " + _AT.format(*one) for one in _placed()),
    "BT and T*, a letter each": " T* ET BT ".join("/F1 12 Tf 14 TL " + _AT.format(*one) for one in _placed()),
    "cm, a letter each": "ET "
    + " ".join(f"q 1 0 0 1 {at:.3f} 100 cm BT /F1 12 Tf ({one}) Tj ET Q" for at, one in _placed())
    + " BT",
    "turned": " ".join(f"0 1 -1 0 100 {at:.3f} Tm ({one}) Tj" for at, one in _placed()),
    "Tc": f"3 Tc 20 100 Td ({NAME}) Tj",
    "Tw": f"20 Tw 20 100 Td ({NAME}) Tj",
    "Tz": f"150 Tz 20 100 Td ({NAME}) Tj",
    "Ts": f"20 100 Td ({NAME[:5]}) Tj 3 Ts ({NAME[5:]}) Tj",
    "Tf": f"20 100 Td ({NAME[:5]}) Tj /F1 12 Tf ({NAME[5:]}) Tj",
    "'": f"14 TL 20 100 Td ({_FIRST}) ' ({_SECOND}) '",
    '"': f'14 TL 20 100 Td 0 0 ({_FIRST}) " 0 0 ({_SECOND}) "',
    "T*": f"14 TL 20 100 Td ({_FIRST}) Tj T* ({_SECOND}) Tj",
    "TD": f"20 100 TD ({_FIRST}) Tj 0 -14 TD ({_SECOND}) Tj",
    "a hyphen": f"20 100 Td ({NAME[:5]}-) Tj 0 -14 Td ({NAME[5:]}) Tj",
    "digits": f"20 100 Td <{NAME.encode().hex()}> Tj",
    "escapes": "20 100 Td (" + "".join(f"\\{ord(one):03o}" for one in NAME) + ") Tj",
    "marked": "20 100 Td " + " ".join(f"/Span BDC ({one}) Tj EMC" for one in NAME),
}


@each_case("page", PAGES)
def test_a_name_on_a_page_is_found(page: str) -> None:
    """Each operator of ISO 32000-1, 9.4, that places or shows a text."""
    content = pdf(f") Tj ET BT /F1 12 Tf {PAGES[page]} ET BT (")
    texts = [data for kind, _, data in records(io.BytesIO(content)) if kind == TEXT]
    assert any([*_DETECTOR.matches(text, None)] for text in texts), texts
