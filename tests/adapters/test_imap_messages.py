"""What a message from anywhere is read as: its headers, its text, its preview; no server is asked."""

import base64
from collections.abc import Callable

from orrery.adapters.imap_mailbox.content import LARGEST_BODY, body_of, preview_of
from orrery.adapters.imap_mailbox.headers import LONGEST_SUBJECT, address_of, headers_of, message_of, words_of
from orrery.ports.comms.messages import Person, Priority
from tests.support.clock import START
from tests.support.tables import each_case

PARTS = (
    b"Content-Type: multipart/alternative; boundary=x\r\n\r\nnot shown\r\n--x\r\n"
    b"Content-Type: text/plain\r\n\r\nPlain.\r\n--x\r\n"
    b"Content-Type: text/html\r\n\r\n<p>Marked up.</p>\r\n--x--\r\n"
)
FORWARDED = b"Content-Type: message/rfc822\r\n\r\nSubject: Inner\r\n\r\nInner text.\r\n"


def attached(part: bytes, text: bytes = b"Outer text.") -> bytes:
    """Return a message with a text and another part."""
    head = b"Content-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n\r\n"
    return head + text + b"\r\n--y\r\n" + part + b"\r\n--y--\r\n"


def nested(levels: int) -> bytes:
    """Return a message with parts inside of parts."""
    boundary = b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n"
    return b"".join(boundary % (level, level) for level in range(levels)) + b"\r\nDeep.\r\n"


@each_case(
    ("header", "words"),
    [
        ("=?utf-8?q?Gr=C3=BC=C3=9Fe?= from =?iso-8859-1?b?5A==?=", "Grüße from ä"),
        ("=?utf-8?b?w4Q=?=\t=?utf-8?b?w5Y=?=", "ÄÖ"),
        ("=?unknown-8bit?q?gr=FC=DFe?=", "grüße"),
        ("=?utf-8?b?!?=", ""),
        ("=?utf-8?q?a=0D=0ABcc:_x?=", "a\r\nBcc: x"),
        ("Grüße 行", "Grüße 行"),
        ("=?", "=?"),
    ],
)
def test_encoded_words(header: str, words: str) -> None:
    """Encoded words are decoded, whatever charset they name; what is none stays."""
    assert words_of(header) == words


@each_case(
    ("raw", "subject"),
    [
        (b"Subject: Gr\xc3\xbc\xc3\x9fe\r\n", "Grüße"),
        (b"Subject: gr\xfc\xdfe\r\n", "grüße"),
        (b"subject :  a\r\n b\r\n\tc\r\n", "a b\tc"),
        (b"Subject: first\r\nSubject: second\r\n", "first"),
        (b"no header\r\n: empty\r\nSubject: x\n", "x"),
        (b"Subject:\0\r\n", "\0"),
    ],
)
def test_headers(raw: bytes, subject: str) -> None:
    """Raw letters beyond ASCII, folded lines, several of one name, and lines that are no header."""
    assert headers_of(raw)["subject"] == subject


def test_a_subject_without_an_end() -> None:
    """A subject of a megabyte, of encoded words even, is cut to what is looked at."""
    assert len(words_of("=?utf-8?q?a?= " * 100_000)) < LONGEST_SUBJECT


@each_case(
    ("value", "found"),
    [
        ('"Ann, B." <ann@lab.example>', ("Ann, B.", "ann@lab.example")),
        ("=?utf-8?q?J=C3=B6rg?= <j@lab.example>", ("Jörg", "j@lab.example")),
        ("ann@lab.example", ("ann@lab.example", "ann@lab.example")),
        ("Undisclosed recipients:;", ("", "")),
        ("Ann <ann>", ("", "")),
        ("(" * 20_000, ("", "")),
        ('"' * 20_000, ("", "")),
        ("Ann <ann@lab.example>\r\nBcc: x@lab.example", ("Ann", "ann@lab.example")),
    ],
)
def test_addresses(value: str, found: tuple[str, str]) -> None:
    """The first address with its name; what is no address is none."""
    assert address_of({"from": value}, "from") == Person(*found)


def test_whom_to_answer() -> None:
    """The sender is the one of From, the address to reply to that of Reply-To, if it is one."""
    headers = {"from": "Ann <ann@lab.example>", "reply-to": "List <list@lab.example>"}
    one = message_of("1", START, headers, "")
    assert (one.sender, one.address) == ("Ann", "list@lab.example")
    assert message_of("1", START, headers | {"reply-to": "none"}, "").address == "ann@lab.example"


@each_case(
    ("headers", "priority"),
    [
        ({"importance": "High"}, "high"),
        ({"x-priority": "1 (Highest)"}, "high"),
        ({"x-priority": "5"}, "low"),
        ({"priority": "non-urgent"}, "low"),
        ({"x-priority": "3"}, "normal"),
        ({"importance": ""}, "normal"),
    ],
)
def test_priorities(headers: dict[str, str], priority: Priority) -> None:
    """What mail programs write about importance."""
    assert message_of("1", START, headers, "").priority == priority


@each_case(
    ("raw", "kind", "text"),
    [
        (b"Subject: x\r\n\r\nBare.\r\n", "text/plain", "Bare.\n"),
        (PARTS, "text/plain", "Plain."),
        (PARTS.replace(b"Plain.", b" "), "text/html", "<p>Marked up.</p>"),
        (attached(FORWARDED), "text/plain", "Outer text."),
        (attached(FORWARDED, b""), "text/plain", "Inner text.\n"),
        (FORWARDED, "text/plain", "Inner text.\n"),
        (attached(b"Content-Disposition: attachment\r\n\r\nA file."), "text/plain", "Outer text."),
        (attached(b"\r\nMore text."), "text/plain", "Outer text.\nMore text."),
        (b"Content-Type: text/plain; charset=unknown-8\r\n\r\ngr\xfc\xdfe", "text/plain", "grüße"),
        (b"Content-Type: text/plain; charset=utf-16\r\n\r\nodd", "text/plain", "odd"),
        (b"Content-Type: text/plain; charset*=utf-8''utf%2D8\r\n\r\ngr\xc3\xbc\xc3\x9fe", "text/plain", "grüße"),
        (b"Content-Transfer-Encoding: quoted-printable\r\n\r\na=\r\nb=C3=A4=", "text/plain", "abä"),
        (b"Content-Transfer-Encoding: base64\r\n\r\nw6Q\r\n!!", "text/plain", "ä"),
        (b"Content-Type: multipart/mixed\r\n\r\nno boundary", "text/plain", ""),
        (b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\ncut", "text/plain", "cut"),
        (b"Content-Type: image/png\r\n\r\nx", "text/plain", ""),
        (b"", "text/plain", ""),
        (nested(20), "text/plain", "Deep.\n"),
    ],
)
def test_texts(raw: bytes, kind: str, text: str) -> None:
    """The plain text of a message, else its mark-up, else that of a message inside; attached files are none."""
    body = body_of(raw)
    assert (body.media_type, body.content) == (kind, text)


@each_case(
    "made",
    [
        lambda: nested(60_000),
        lambda: b"Content-Type: message/rfc822\r\n\r\n" * 60_000,
        lambda: b"Content-Type: multipart/mixed; boundary=x\r\n\r\n" + b"--x\r\n" * 400_000,
        lambda: b"Content-Type: text/plain" + b"; x=y" * 400_000,
        lambda: b'Content-Type: text/plain; x="' + b'\\"' * 900_000,
        lambda: b"\r\n" * 900_000,
        lambda: b"\0" * LARGEST_BODY,
    ],
)
def test_a_hostile_message_comes_to_an_end(made: Callable[[], bytes]) -> None:
    """Parts, parameters and lines without a number have a text, perhaps an empty one."""
    assert len(body_of(made()[:LARGEST_BODY]).content) <= LARGEST_BODY


@each_case(
    ("parameters", "text", "shown"),
    [
        (b"format=flowed", b"One \r\ntwo.\r\nThree.", "One two.\nThree."),
        (b"format=flowed; delsp=yes", b"Don \r\nau.", "Donau."),
        (b"format=flowed", b"> q \r\n> r\r\nmine", "> q r\nmine"),
        (b"format=flowed", b"a \r\n-- \r\nAnn", "a \n-- \nAnn"),
        (b"format=flowed", b" >not quoted", ">not quoted"),
        (b"charset=us-ascii", b"One \r\ntwo.", "One \ntwo."),
    ],
)
def test_flowed_text(parameters: bytes, text: bytes, shown: str) -> None:
    """Lines that go on are joined within their depth of quotation (RFC 3676)."""
    assert body_of(b"Content-Type: text/plain; " + parameters + b"\r\n\r\n" + text).content == shown


@each_case(
    ("head", "text", "preview"),
    [
        (b"Subject: x\r\n", b"Hello,\r\n\r\n  Ann", "Hello, Ann"),
        (b"Content-Type: text/html\r\n", b"<style>p{}</style><p>Hi &amp; <b>you</b><!-- x", "Hi & you"),
        (b"Content-Type: text/html\r\n", b"<head><style>p{}", ""),
        (b"Content-Transfer-Encoding: base64\r\n", base64.b64encode(b"Hello, Ann")[:9], "Hello,"),
        (b"Content-Type: multipart/mixed; boundary=x\r\n", b"--x\r\n\r\nHello", "Hello"),
    ],
)
def test_previews(head: bytes, text: bytes, preview: str) -> None:
    """The beginning of a text on one line, without mark-up, though the rest was not fetched."""
    assert preview_of(head, text) == preview
