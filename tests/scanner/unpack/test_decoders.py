"""A term is found in each form, at each length, alignment, nesting and carrier; every threshold is crossed."""

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orrery.scanner.detectors.all import detectors
from orrery.scanner.findings import Finding
from orrery.scanner.fingerprints import Fingerprints
from orrery.scanner.policy import Policy, Term
from orrery.scanner.scanning import Scan
from tests.scanner.corpus.measured import found_in
from tests.scanner.unpack.forms import FORMS, PACKED, WRAPPED, wrapped
from tests.support.soak import rounds

LONG, SHORT, MARKED = "Quillfeather", "Zel", "Köpenøcğü"
SCAN = Scan([*detectors(Policy(terms=tuple(Term("customer", one) for one in (LONG, SHORT, MARKED, "山田"))))], Fingerprints(b"k"))
BEFORE = (b"", b"\n", b"key: ", b'{"k": "', b"data:;base64,", b"https://host.example/a/b/", b"kind-1_", b"x", b"ab", b"abc")
FILLER = "The offer is ready; it waits, and so do we. "


def found(content: bytes, name: str = "a.txt") -> list[Finding]:
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


@settings(max_examples=rounds(150), deadline=None)
@given(
    form=st.sampled_from([*FORMS]),
    packed=st.sampled_from([*PACKED]),
    term=st.sampled_from([LONG, SHORT, MARKED, "山田"]),
    length=st.integers(0, 600),
    where=st.integers(0, 600),
    before=st.sampled_from(BEFORE),
    width=st.sampled_from([0, 0, 20, 64, 76]),
    end=st.sampled_from([b"\n", b"\r\n", b"\n  ", rb"\n", b"\n# ", b'"\n  "']),
)
def test_a_term_is_found_in_every_form(
    form: str, packed: str, term: str, length: int, where: int, before: bytes, width: int, end: bytes
) -> None:
    """Whatever stands before it; a raw stream begins where a word does, as nothing else tells that it is one."""
    before += gap(form, packed, before)
    content = PACKED[packed](text_of(term, length, where))
    made = wrapped(FORMS[form](content), width if form in WRAPPED else 0, end)
    assert found(b"one\n" + before + made + b"\n"), (form, packed, term, before, made)
