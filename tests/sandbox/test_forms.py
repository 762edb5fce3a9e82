"""Bracket notation, without a server: what is read, and that nothing but a refusal comes of bad input."""

from contextlib import suppress
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.sandbox.faults import Refusal
from orrery.sandbox.processor.parameters import Form, parse_form

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="[]"), min_size=1).filter(
    lambda name: not name.isdigit()
)
FORMS = st.dictionaries(
    NAMES,
    st.recursive(
        st.text(),
        lambda below: (
            st.lists(below, min_size=1, max_size=4) | st.dictionaries(NAMES, below, min_size=1, max_size=4)
        ),
        max_leaves=8,
    ),
    max_size=4,
)


def pairs(form: Form, name: str) -> list[tuple[str, str]]:
    """Return a nested parameter as the vendor's libraries send it."""
    if isinstance(form, str):
        return [(name, form)]
    below = enumerate(form) if isinstance(form, list) else form.items()
    return [pair for key, value in below for pair in pairs(value, f"{name}[{key}]")]


@given(FORMS)
def test_what_was_sent_is_read(form: dict[str, Form]) -> None:
    """Lists and maps of any depth come out as they went in."""
    sent = [pair for name, value in form.items() for pair in pairs(value, name)]
    assert parse_form(urlencode(sent).encode()) == form


@given(st.binary(max_size=200) | st.text("ab[]=&%+01", max_size=60).map(str.encode))
def test_any_bytes(body: bytes) -> None:
    """Whatever is sent is read or refused, and nothing else happens."""
    with suppress(Refusal):
        parse_form(body)


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (b"", {}),
        (b"a=1&b=", {"a": "1", "b": ""}),
        (b"a[]=x&a[]=y", {"a": ["x", "y"]}),
        (b"a[1]=y&a[0]=x", {"a": ["x", "y"]}),
        (b"a[0][b]=c&a[0][d]=e", {"a": [{"b": "c", "d": "e"}]}),
        (b"a=one+two%20three%2B", {"a": "one two three+"}),
        (b"a%5Bb%5D=c", {"a": {"b": "c"}}),
    ],
)
def test_examples(body: bytes, read: dict[str, Form]) -> None:
    """Each notation of the vendor is read."""
    assert parse_form(body) == read


@pytest.mark.parametrize(
    "body", [b"[a]=1", b"a[b=1", b"a]b[=1", b"a[b]c=1", b"=1", b"a=1&a=2", b"a[1]=x", b"a=%ff"]
)
def test_refused_examples(body: bytes) -> None:
    """Broken brackets, repeated names, gaps and bytes that are no text are refused."""
    with pytest.raises(Refusal):
        parse_form(body)
