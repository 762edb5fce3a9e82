"""Bodies made to exhaust a reader: what stands before the cut is shown, and the cut says so."""

from typing import Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from orrery.cockpit.plain_text import (
    EMPTY,
    MOST_CHARACTERS,
    MOST_SHOWN,
    NO_TEXT,
    TOO_LONG,
    TOO_MUCH,
    plain_text,
)
from orrery.cockpit.plain_text.bounds import DEEPEST, MOST_TAGS, TOO_DEEP, TOO_MANY, UNFINISHED, bounded
from orrery.cockpit.plain_text.layout import DEEPEST_PREFIX
from orrery.ports.comms.mailboxes import MessageBody
from tests.support.soak import SOAKING
from tests.support.tables import each_case

MediaType = Literal["text/plain", "text/html"]

MAIL = 5_000_000


def text_of(html: str) -> str:
    return plain_text(MessageBody("text/html", html))


def filled(piece: str) -> str:
    return (piece * (MAIL // len(piece) + 1))[:MAIL]


CUT = {
    "a mail of 5 MB": (lambda: filled(f"<p>a <b>paragraph</b> of {'an ordinary ' * 9} mail</p>\n"), TOO_LONG),
    "100,000 nested blocks": (lambda: "<div>" * 100_000, TOO_DEEP),
    "200,000 starts of a comment": (lambda: "<!--" * 200_000, UNFINISHED),
    "comments that end": (lambda: filled("<!-- a -->"), TOO_MANY),
    "a comment that does not end": (lambda: "<!-- a", UNFINISHED),
    "a tag that does not end": (lambda: "<p title='", UNFINISHED),
    "a style that does not end": (lambda: "<style>", UNFINISHED),
    "an instruction that does not end": (lambda: "<!doctype", UNFINISHED),
    "tables in tables": (lambda: "<table><tr><td>" * 50_000, TOO_DEEP),
    "quotes in quotes": (lambda: "<blockquote>" * 100_000, TOO_DEEP),
    "a million bold": (lambda: "<b>" * 1_000_000, TOO_MANY),
    "paragraphs without end": (lambda: "<p>" * 200_000, TOO_MANY),
    "an attribute of 5 MB": (lambda: f'<p title="{"a" * MAIL}">', TOO_LONG),
    "attributes": (lambda: f"<p {'a=1 ' * MAIL}>", TOO_LONG),
    "entities": (lambda: filled("&nbsp;&#x202e;"), TOO_LONG),
    "text without mark-up": (lambda: "<plaintext>" + filled("<b>"), TOO_LONG),
    "selects": (lambda: "<select>" * 100_000, TOO_MANY),
    "links": (lambda: "<a href=https://x.example>" * 100_000, TOO_LONG),
    "drawings": (lambda: "<svg><g>" * 100_000, TOO_MANY),
    "formulas": (lambda: "<math><mi>" * 100_000, TOO_MANY),
    "CDATA": (lambda: "<svg><![CDATA[<g>" * 100_000, TOO_MANY),
    "formatting across paragraphs": (lambda: filled("<b><p></b>"), TOO_MANY),
    "hidden": (lambda: "<span hidden>" * 150_000, TOO_MANY),
}


SOAKED = {
    *("paragraphs without end", "text without mark-up", "selects", "links", "formulas", "CDATA", "hidden"),
    "formatting across paragraphs",
}
"""What meets a limit in a way that another meets at less cost; `./run soak inputs` tries these, too."""


SOAKED_WHOLE = {"rows without end tags", "ends of what is not open", "shifted formatting"}
"""The same of what is read whole, as lists and options without end tags, and ends out of reach, are."""


@each_case("name", CUT if SOAKING else [name for name in CUT if name not in SOAKED])
def test_cut(name: str) -> None:
    """What stands before the cut is there, and the last line names the cut."""
    html, line = CUT[name]
    text = text_of(f"<p>Hello</p>{html()}")
    assert text.startswith("Hello\n")
    assert text.endswith(f"\n\n{line}")


NOT_CUT = {
    "formatting that does not end": lambda: "<b>" * (MOST_TAGS - 3),
    "formatting of many kinds": lambda: "".join(f"<b id={number}><p>" for number in range(5_000)),
    "attributes": lambda: f"<p {' '.join(f'a{number}=1' for number in range(100_000))}>",
    "lists without end tags": lambda: "<ul>" + "<li>a" * 50_000,
    "rows without end tags": lambda: "<table>" + "<tr><td>a" * 40_000 + "</table>",
    "options without end tags": lambda: "<select>" + "<option>a" * 50_000 + "</select>",
    "ends of what is not open": lambda: "</div></b></td></li>" * 20_000,
    "ends out of reach": lambda: "<div>" + "<ul>" * 200 + "</div>" * 90_000,
    "shifted formatting": lambda: "<b><i></b></i>" * 20_000,
}


@each_case("name", NOT_CUT if SOAKING else [name for name in NOT_CUT if name not in SOAKED_WHOLE])
def test_not_cut(name: str) -> None:
    """What costs a parser much and a reader little is read to its end."""
    assert text_of(f"<p>Hello</p>{NOT_CUT[name]()}<p>bye").endswith("bye")


@pytest.mark.parametrize("media_type", get_args(MediaType))
def test_most_characters(media_type: MediaType) -> None:
    """A body of the most characters is read whole, and one more is cut, in either kind of body."""
    whole = "a" + "\u200b" * (MOST_CHARACTERS - 1)
    assert plain_text(MessageBody(media_type, whole)) == "a"
    assert plain_text(MessageBody(media_type, f"{whole}b")) == f"a\n\n{TOO_LONG}"


@pytest.mark.parametrize("media_type", get_args(MediaType))
def test_most_shown(media_type: MediaType) -> None:
    """A text of the most characters is whole, and one more is cut, with another sentence."""
    whole = "a" * MOST_SHOWN
    assert plain_text(MessageBody(media_type, whole)) == whole
    assert plain_text(MessageBody(media_type, f"{whole}b")) == f"{whole}\n\n{TOO_MUCH}"


def test_deepest() -> None:
    """A document of the greatest depth is whole, and one deeper is cut."""
    assert text_of("<div>" * DEEPEST + "a") == "a"
    assert text_of("a" + "<div>" * (DEEPEST + 1) + "b") == f"a\n\n{TOO_DEEP}"


def test_most_tags() -> None:
    """A document of the most tags is whole, and what comes after one more is cut."""
    assert text_of("a<i>" * MOST_TAGS + "b") == "a" * MOST_TAGS + "b"
    assert text_of("a<i>" * (MOST_TAGS + 1)) == "a" * (MOST_TAGS + 1) + f"\n\n{TOO_MANY}"


def test_prefix_and_size() -> None:
    """Deep quotes do not make a long text of a short one: the marks and the text have an end."""
    assert text_of("<blockquote>" * 50 + "a") == "> " * DEEPEST_PREFIX + "a"
    text = text_of("<blockquote>" * 50 + "<pre>" + "a\n" * 500_000)
    assert text.endswith(TOO_LONG)
    assert len(text) < MOST_CHARACTERS + 100


@each_case("character", ["\0", "\u202e", "\u200b", " ", "\n"])
def test_unseen(character: str) -> None:
    """A large body of nothing to see says so."""
    assert plain_text(MessageBody("text/plain", character * MOST_CHARACTERS)) == EMPTY
    assert text_of(f"<b>{character * 1_000}") == NO_TEXT


def depth(root: LexborNode) -> int:
    """Return how deep a tree is."""
    deepest, here = 0, [(root, 1)]
    while here:
        node, level = here.pop()
        deepest = max(deepest, level)
        here += [(child, level + 1) for child in node.iter()]
    return deepest


NAMES = """
p div table tr td th ul ol li dl dd a span blockquote pre caption h1 form option select svg b
"""
TAG = st.builds("<{}{}>{}".format, st.sampled_from(["", "", "/"]), st.sampled_from(NAMES.split()), st.just("a"))


@given(st.lists(TAG, min_size=2, max_size=30), st.integers(1, 60))
def test_tree(tags: list[str], times: int) -> None:
    """Whatever is nested in whatever, the tree that is made is not much deeper than what was let through."""
    root = LexborHTMLParser(bounded("".join(tags) * times).html).root
    assert root is not None
    assert depth(root) <= 2 * DEEPEST + 3
