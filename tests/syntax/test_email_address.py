"""The one rule of what is an e-mail address."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.syntax.email_address import is_email_address, normal_email, without_case
from tests.support.tables import each_case


@each_case(
    "address",
    [
        "ann@example.org",
        "Ann.O'Neil+shop@Mail.Example.ORG",
        "a..b.@example.org",
        "jürgen@exämple.org",
        "a@परीक्षा.example",
        "a@xn--exmple-cua.example",
        "a@7.example",
        f"{'a' * 65}@example.org",
        f"{'a' * 242}@example.org",
        f"a@{'e' * 63}.org",
    ],
)
def test_what_is_an_address(address: str) -> None:
    """What a buyer can type on a payment page is an address, also with two dots in a row, or in other letters."""
    assert is_email_address(address)


@each_case(
    "text",
    [
        "",
        "ann",
        "ann@",
        "@example.org",
        "ann@example",
        "ann@@example.org",
        "ann@bob@example.org",
        "a b@example.org",
        " ann@example.org",
        "ann@example.org.",
        "ann@b..org",
        "ann@-example.org",
        "ann@example-.org",
        "ann@exa_mple.org",
        "ann@192.0.2.7",
        "ann@[192.0.2.7]",
        '"ann"@example.org',
        "Ann <ann@example.org>",
        "ann@example.org, bob@example.org",
        "ann@example.org;bob@example.org",
        "ann,bob@example.org",
        "team:ann@example.org;",
        "=?utf-8?q?bob=40example.com=2C?=@example.org",
        "ann.=?utf-8?q?=0D=0ABcc?=@example.org",
        f"{'a' * 243}@example.org",
        f"{'ü' * 122}@example.org",
        f"a@{'e' * 64}.org",
    ],
)
def test_what_is_none(text: str) -> None:
    """Anything else is none: two addresses, a name before it, a domain that cannot be, more than 254 octets."""
    assert not is_email_address(text)


@each_case("character", ["\n", "\r", "\x00", "\t", "\u00a0", "\u200b", "\u2028", "\x7f", "\udc80"])
@each_case("place", ["{}ann@example.org", "a{}n@example.org", "ann@exa{}mple.org", "ann@example.org{}"])
def test_every_character_is_seen(place: str, character: str) -> None:
    """A line end, white space or what cannot be seen is nowhere in an address: it could forge a header."""
    assert not is_email_address(place.format(character))


@given(st.text(max_size=30), st.text(max_size=30))
def test_nothing_else_gets_in(before: str, after: str) -> None:
    """Whatever is put around an @, an address is printable, without white space, and has one @ of ASCII."""
    text = f"{before}@{after}"
    assert not is_email_address(text) or (text.isprintable() and text.count("@") == 1 and len(text.split()) == 1)


@pytest.mark.parametrize(
    ("typed", "normal"),
    [
        (" Ann.Lee+Tag@Example.ORG\n", "ann.lee+tag@example.org"),
        ("\N{KELVIN SIGN}ate@example.org", "\N{KELVIN SIGN}ate@example.org"),
        ("ÉVA@EXÄMPLE.org", "Éva@exÄmple.org"),
        ("", ""),
    ],
)
def test_only_ascii_letters_are_compared_without_case(typed: str, normal: str) -> None:
    """An address is trimmed and its ASCII letters are in lower case; no other letter becomes another one."""
    assert normal_email(typed) == normal


@given(st.text())
def test_no_other_letter_becomes_an_ascii_one(text: str) -> None:
    """Neither spelling turns a letter beyond ASCII into one of ASCII: nobody gets another's address that way."""
    beyond = sum(not one.isascii() for one in text)
    for spelled in (normal_email(text), without_case(text)):
        assert sum(not one.isascii() for one in spelled) >= beyond - sum(one.isspace() for one in text)
