"""A message's mark-up as text: one rule of the conversion in each test."""

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.cockpit.plain_text import EMPTY, NO_TEXT, plain_text
from orrery.cockpit.plain_text.named import MOST_NAMED, PGP_ENCRYPTED, PGP_SIGNED, SMIME_ENCRYPTED, SMIME_SIGNED
from orrery.ports.comms.mailboxes import Attachment, Invitation, MessageBody
from orrery.ports.comms.messages import Person
from tests.support.tables import each_case


def text_of(html: str) -> str:
    return plain_text(MessageBody("text/html", html))


def plain(content: str) -> str:
    return plain_text(MessageBody("text/plain", content))


N1 = "\n\n[Not shown: 1 character that the sender's style hides.]"
N3 = "\n\n[Not shown: 3 characters that the sender's style hides.]"

RULES = {
    "white space collapses": ("<p>one\n  two\t three&nbsp; four</p>", "one two three four"),
    "paragraphs stand apart": ("<p>one</p><p>two</p>", "one\n\ntwo"),
    "paragraphs need no end tag": ("<p>one<p>two", "one\n\ntwo"),
    "blocks are lines": ("<div>one</div><div>two</div>three", "one\ntwo\nthree"),
    "a heading stands apart": ("one<h2>two</h2>three", "one\n\ntwo\n\nthree"),
    "formatting leaves no trace": ("<b>o</b>n<i>e</i>", "one"),
    "a break is a line": ("one<br>two<br/>three", "one\ntwo\nthree"),
    "at most one blank line": ("one<br><br><br><br>two", "one\n\ntwo"),
    "a rule is a line": ("one<hr>two", "one\n--------------------\ntwo"),
    "entities are decoded": ("&lt;b&gt; &amp;amp; &#8364; &eacute;", "<b> &amp; € é"),
    "a lone angle is text": ("1 < 2 <3", "1 < 2 <3"),
    "left-out tags make no new one": ("<<b>img alt=x>", "<img alt=x>"),
    "a list has bullets": ("<ul><li>one<li>two</ul>", "- one\n- two"),
    "a list has numbers": ('<ol start="9"><li>one<li>two</ol>', "9. one\n10. two"),
    "a list in a list is indented": ("<ul><li>a<ol><li>b<li>c</ol><li>d</ul>", "- a\n  1. b\n  2. c\n- d"),
    "an item's next line is indented": ("<ul><li>one<br>two</ul>", "- one\n  two"),
    "an empty item leaves no bullet": ("<ul><li></li><li>one</ul>", "- one"),
    "terms and their descriptions are lines": ("<dl><dt>a<dd>b<dt>c</dl>", "a\nb\nc"),
    "preformatted text is kept": ("<pre>a  b\n\n   c</pre>d", "a  b\n\n   c\n\nd"),
    "a quote is marked": ("a<blockquote>b<p>c</blockquote>d", "a\n\n> b\n>\n> c\n\nd"),
    "a quote in a quote is marked": (
        "<blockquote>a<blockquote>b</blockquote></blockquote>",
        "> a\n>\n> > b",
    ),
    "a quote in preformatted text is marked": ("<blockquote><pre>a\nb\nc</pre></blockquote>", "> a\n> b\n> c"),
    "a row is a line": ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "a | b\n1 | 2"),
    "an empty cell keeps its column": ("<table><tr><td>a<td><td>c<td></table>", "a |  | c"),
    "cells of a layout follow one another": (
        "<table><tr><td><p>a<p>b<td><table><tr><td>c<td>d</table></table>",
        "a\n\nb\n\nc | d",
    ),
    "a surplus end tag leaves the table whole": ("<div><table><tr><td>a</div></td><td>b</table></div>", "a | b"),
    "cells without a table are apart": ("<tr><td>a<td>b<tr><td>c", "a b\nc"),
    "a caption goes before its table": ("<table><caption>a</caption><tr><td>b</table>", "a\nb"),
    "a link shows its address": ('<a href="https://x.example/?a=1&amp;b">go</a>', "go (https://x.example/?a=1&b)"),
    "a link to its own text does not": ('<a href="https://x.example/">x.example</a>', "x.example"),
    "an address that poses as another is shown": (
        '<a href="https://evil.example">https://bank.example</a>',
        "https://bank.example (https://evil.example)",
    ),
    "a mail address is shown": ('<a href="mailto:a@x.example">Ann</a>', "Ann (mailto:a@x.example)"),
    "a script is no address": ('<a href="java\tscript:x()">go</a>', "go"),
    "a line of an address is joined": ('<a href="https://x.\nexample">go</a>', "go (https://x.example)"),
    "a link around blocks keeps its address": (
        '<a href="https://x.example"><div>go</div></a>',
        "go\n(https://x.example)",
    ),
    "a link that does not end stops at the next": (
        "<a href=http://x.example>a<a href=http://y.example>b",
        "a (http://x.example)b (http://y.example)",
    ),
    "an image is its description": ('<img src="cid:1" alt="a  cat"><img src="x">', "[image: a cat]"),
    "styles, scripts, titles are left out": (
        "<head><title>a</title><style>b</style></head><script>'<p>c'</script>d",
        "d",
    ),
    "templates and texts without scripts are left out": (
        "<template>a</template><noscript>b</noscript>c",
        "c",
    ),
    "comments are left out": ("a<!-- <p>b --><!--[if mso]>c<![endif]--><![if !mso]>d<!-->e", "ade"),
    "what is hidden is left out": (
        'e<div hidden>a<p>b</div><p style="color:red; DISPLAY : none">c</p>d',
        f"e\n\nd{N3}",
    ),
    "a hidden part of a line is left out": ("e<span hidden>a<span>b</span>c</span>d", f"ed{N3}"),
    "a hidden part ends with its block": ("e<div><span hidden>a</div>b", f"e\nb{N1}"),
    "a hidden paragraph ends at the next": ("e<p hidden>a<p>b", f"e\n\nb{N1}"),
    "a hidden paragraph ends at a rule": ("e<p hidden>a<hr>b", f"e\n\n--------------------\nb{N1}"),
    "a hidden image is left out": ("<img hidden alt=a>b", "b"),
    "the last display counts": ('<p style="display:none;display:block">a', "a"),
    "an attribute may hold an angle": ("<p title=\"a > b\" data-x='>'>c", "c"),
    "the text of a form field is kept": ("<textarea>a <b></textarea>c", "a <b>c"),
    "CDATA is a comment": ("<svg><![CDATA[a]]></svg>b", "b"),
    "formulas keep their text": ("<math><mi>x</mi><mo>=</mo></math>", "x="),
}


@each_case("rule", RULES)
def test_rule(rule: str) -> None:
    """Each kind of mark-up becomes the text that its rule names."""
    html, text = RULES[rule]
    assert text_of(html) == text


def test_plain_text_keeps_its_lines() -> None:
    """Plain text keeps angles, tabs and indents; ends of lines become one kind."""
    assert plain("a <b>\r\n\t  c  \rd\u2028e\r\n\r\n\r\n\r\nf") == "a <b>\n\t  c\nd\ne\n\nf"


@pytest.mark.parametrize("media_type", ["text/plain", "text/html"])
def test_direction_and_controls(media_type: str) -> None:
    """Controls, direction marks, invisible characters and tags are removed from either kind of body."""
    hidden = "\x07\x1b\x7f\x85\xad\u061c\u200b\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufeff\U000e0041"
    body = MessageBody("text/html" if media_type == "text/html" else "text/plain", f"a{hidden}b")
    assert plain_text(body) == "ab"


def test_controls_by_entity() -> None:
    """An entity does not bring a direction mark back."""
    assert text_of("a&#x202E;&rlm;&#8203;b") == "ab"


def test_joiners() -> None:
    """A joiner stays where emoji or a script needs it, alone, and nowhere else."""
    family, want = "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert plain(f"{family} {want} a\u200db\u200c \u200dc") == f"{family} {want} ab c"
    assert plain(f"é{chr(0x200D) * 5_000}é") == "é\u200dé"


def test_halves() -> None:
    """Half of a character, which UTF-8 cannot hold, is shown as missing."""
    assert text_of("a\ud800b\udfff") == plain("a\ud800b\udfff") == "a\ufffdb\ufffd"


@pytest.mark.parametrize("html", ["<img src=x>", "<style>a{display:none}</style>", "&zwnj;&#847;", "<p>"])
def test_no_text(html: str) -> None:
    """A message of images or layout says that it has no text."""
    assert text_of(html) == NO_TEXT


@pytest.mark.parametrize("content", ["", " \r\n\t", "\u202e\u200b", "\0"])
def test_empty(content: str) -> None:
    """An empty message says that it is empty."""
    assert text_of(content) == plain(content) == EMPTY


ARMOUR = "-----BEGIN PGP MESSAGE-----"
FILES = tuple(Attachment(str(one), "text/csv") for one in range(MOST_NAMED + 2))
ANN, CY = Person("ann@lab.example", "ann@lab.example"), Person("Cy", "")
NOON = datetime(2030, 1, 7, 12)  # noqa: DTZ001  as a clock shows it
A_DAY = timedelta(days=1)
WHOLE = Invitation(starts=NOON, is_all_day=True)

NAMED = {
    "a cipher that is no octets": ([("", "application/pgp-encrypted"), ("a.ASC", "text/plain")], [PGP_ENCRYPTED]),
    "as Microsoft names the whole": (
        [("", "multipart/encrypted"), ("", "application/octet-stream")],
        [PGP_ENCRYPTED],
    ),
    "two signatures": ([("", "application/x-pkcs7-signature"), ("", "multipart/signed")], [SMIME_SIGNED]),
    "authenticated, too": ([("", "application/pkcs7-mime; smime-type=authenveloped-data")], [SMIME_ENCRYPTED]),
}
MEETINGS = {
    "a day": (replace(WHOLE, ends=NOON + A_DAY), ["[A meeting]", "[Time: Monday, 7 January 2030]"]),
    "days": (
        replace(WHOLE, ends=NOON + 2 * A_DAY),
        ["[A meeting]", "[Time: Monday, 7 January 2030 to Tuesday, 8 January 2030]"],
    ),
    "a zone of which only the name is known": (
        Invitation("request", "Lunch", NOON, NOON + A_DAY, "Mars"),
        [
            "[Invitation to a meeting: Lunch]",
            "[Time: Monday, 7 January 2030, 12:00 to Tuesday, 8 January 2030, 12:00 Mars]",
        ],
    ),
    "many people": (
        Invitation(organizer=ANN, answers=((CY, "declined"),) * 7),
        ["[A meeting]", "[Organizer: ann@lab.example]", *["[Cy declined]"] * 5, "[2 more are invited]"],
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_protections(name: str) -> None:
    """Each is named once, and its parts are not attachments."""
    parts, lines = NAMED[name]
    body = MessageBody("text/plain", "", tuple(Attachment(*one) for one in parts))
    assert plain_text(body).split("\n") == lines


@pytest.mark.parametrize("name", MEETINGS)
def test_meetings(name: str) -> None:
    """When and with whom, as people say it."""
    invitation, lines = MEETINGS[name]
    assert plain_text(MessageBody("text/plain", "", invitation=invitation)).split("\n") == lines


@pytest.mark.usefixtures("zone")
def test_the_time_is_that_of_this_machine() -> None:
    """Whatever zone the sender has."""
    at = NOON.replace(tzinfo=UTC)
    text = plain_text(MessageBody("text/plain", "", invitation=Invitation(starts=at)))
    assert f", {at.astimezone():%H:%M %Z}]" in text


def test_pgp_in_a_text() -> None:
    """What was cut is encrypted to its end; a text that is signed is shown."""
    assert plain(f"Before.\n{ARMOUR}\nhQEM") == f"{PGP_ENCRYPTED}\n\nBefore."
    assert plain("-----BEGIN PGP SIGNED MESSAGE-----\n\nText.").startswith(PGP_SIGNED)


def test_many_attachments() -> None:
    """Fifty are named, the others are counted."""
    assert plain_text(MessageBody("text/plain", "", FILES)).endswith("[2 more attachments]")


NAMES = """
p div table tr td th ul ol li a b span blockquote pre svg math select option template dd dt br img style
"""
ATTRIBUTES = ["", " hidden", " href=https://x.example", ' alt="y', " style=display:none", "/"]
TAGS = st.builds(
    "<{}{}{}>".format,
    st.sampled_from(["", "", "/"]),
    st.sampled_from(NAMES.split()),
    st.sampled_from(ATTRIBUTES),
)
MARKS = ["<!--", "-->", "<![CDATA[", "&#x202e;", "&#0;", "<", ">", '"', "'", "\0", "\ud800", "\u202e", "\n"]
PIECES = st.one_of(TAGS, st.sampled_from(MARKS), st.text(max_size=5))
BODIES = st.builds(
    MessageBody,
    st.sampled_from(["text/plain", "text/html"]),
    st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(st.characters(exclude_categories=[]))),
)
MAY_STAY = set("\n\t\u200c\u200d")
ORDER = {"BN", "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def is_forbidden(character: str) -> bool:
    """Return whether nobody can see a character; the signs of some scripts that Unicode calls formats are seen."""
    invisible = unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}
    changes_order = unicodedata.bidirectional(character) in ORDER
    return (invisible or changes_order) and character not in MAY_STAY


@given(BODIES)
def test_any_body(body: MessageBody) -> None:
    """Whatever comes in, there is a text to see, in UTF-8, without a forbidden character or two blank lines."""
    text = plain_text(body)
    assert text.strip()
    assert text.encode()
    assert not [character for character in text if is_forbidden(character)]
    assert "\n\n\n" not in text
