"""The draft of a reply by IMAP as it is written, and the protocol's own texts; no server is asked."""

import time
from collections.abc import Iterator
from datetime import date
from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest

from orrery.adapters.imap_mailbox.connection import NotImapError, quoted
from orrery.adapters.imap_mailbox.headers import message_of
from orrery.adapters.imap_mailbox.replies import written_reply
from orrery.adapters.imap_mailbox.responses import (
    LONGEST_SET,
    day_of,
    fetched,
    folder_name,
    lines,
    moment_of,
    sets_of,
)
from orrery.ports.comms.errors import MailboxRefused
from orrery.ports.comms.mailboxes import MessageBody
from tests.support.clock import START
from tests.support.mailboxes import reply_to
from tests.support.tables import each_case

HEADERS = {"from": "Cy <cy@lab.example>", "subject": "Noon", "message-id": "<1@lab.example>"}
PLAIN = MessageBody("text/plain", "Is noon well?\n> Perhaps.\n")


def raw_draft(comment: str = "", original: MessageBody = PLAIN, **headers: str) -> bytes:
    """Return a draft; `headers` are those of the original beside its own, `reply_to` for Reply-To."""
    given = HEADERS | {name.replace("_", "-"): value for name, value in headers.items()}
    message = message_of("1.1.INBOX", START, given, "")
    return written_reply(reply_to("a-key", message, comment, original), "ann@lab.example", given, START)


def draft(comment: str = "", original: MessageBody = PLAIN, **headers: str) -> EmailMessage:
    """Return a draft as a mail program reads it."""
    found = message_from_bytes(raw_draft(comment, original, **headers), policy=policy.default)
    assert isinstance(found, EmailMessage)
    return found


def text_of(found: EmailMessage) -> str:
    """Return the text with the line ends of this machine."""
    text: str = found.get_content()
    return text.replace("\r\n", "\n")


def test_a_reply() -> None:
    """It answers its original as a mail program does: subject, recipient, thread, quotation."""
    found = draft("Yes.\nAnn")
    assert (found["From"], found["To"], found["Subject"]) == ("ann@lab.example", "Cy <cy@lab.example>", "Re: Noon")
    assert found["In-Reply-To"] == found["References"] == "<1@lab.example>"
    assert found["X-Orrery-Draft"] == "a-key"
    above = "Yes.\nAnn\n\nOn 2026-03-01 at 12:00 UTC, Cy wrote:\n"
    assert text_of(found) == above + "> Is noon well?\n>> Perhaps.\n"


def test_a_reply_to_mark_up() -> None:
    """It is mark-up, in which comment and sender are text."""
    found = draft("<b>no</b>", MessageBody("text/html", "<p>Noon?</p>"), **{"from": '"<i>" <cy@lab.example>'})
    assert found.get_content_type() == "text/html"
    above, _, quoted_text = text_of(found).partition("<blockquote>")
    assert "&lt;b&gt;no&lt;/b&gt;" in above
    assert "&lt;i&gt;" in above
    assert quoted_text.startswith("<p>Noon?</p>")


@each_case(
    ("subject", "written"),
    [
        ("RE: Noon", "RE: Noon"),
        ("=?utf-8?q?Gr=C3=BC=C3=9Fe?=", "Re: Grüße"),
        ("=?utf-8?q?a=0D=0ABcc:_eve@lab.example?=", "Re: a Bcc: eve@lab.example"),
        ("=?utf-8?b?PT91dGYtOD9xP2E/PQ==?=", "Re: =?utf-8?q?a?="),
        ("a\0b\u202ec", "Re: a\ufffdb\ufffdc"),
        ("", "Re: "),
    ],
)
def test_subjects(subject: str, written: str) -> None:
    """A subject is written as it reads, on one line, and never becomes another header."""
    found = draft(subject=subject)
    assert str(found["Subject"]).strip() == written.strip()
    assert found["Bcc"] is None


@each_case(
    "headers",
    [
        {"subject": "x" * 1_000_000},
        {"subject": "ä" * 1_000_000},
        {"references": "<1@lab.example> " * 100_000},
        {"references": f"<{'x' * 5000}@lab.example>"},
        {"from": f"{'ä' * 500} <cy@lab.example>"},
        {"message_id": "<a@b>\r\nBcc: eve@lab.example"},
        {"reply_to": '"a\r\nBcc: eve@lab.example" <cy@lab.example>'},
    ],
)
def test_hostile_headers(headers: dict[str, str]) -> None:
    """Whatever the original has, the draft has one recipient, and lines that every server takes."""
    raw = raw_draft("Yes.", PLAIN, **headers)
    found = message_from_bytes(raw, policy=policy.default)
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    assert b"\0" not in raw
    assert b"\n" not in raw.replace(b"\r\n", b"")
    assert (len(found["To"].addresses), found["Bcc"]) == (1, None)


def test_a_comment_of_any_characters() -> None:
    """Nothing in a comment reaches the wire as it is: NUL, line ends, half a character pair."""
    found = draft("a\0b\rc\ud800 žluť\r\n.\r\n")
    assert text_of(found).startswith("a\0b\nc? žluť\n.\n")


@pytest.mark.parametrize("sender", ["", "Undisclosed recipients:;", "Jörg <jörg@lab.example>"])
def test_nobody_to_reply_to(sender: str) -> None:
    """Without an address that a header can hold there is no draft."""
    with pytest.raises(MailboxRefused, match="address"):
        raw_draft("", PLAIN, **{"from": sender})


def test_the_thread_of_many() -> None:
    """Of many references the first and the last stay, and the original is the last one."""
    found = draft(references=" ".join(f"<{number}@x.example>" for number in range(100)))
    ids = str(found["References"]).split()
    assert (ids[0], ids[-2], ids[-1], len(ids)) == ("<0@x.example>", "<99@x.example>", "<1@lab.example>", 21)


def test_sets() -> None:
    """Numbers are written as runs, in as many commands as are needed."""
    assert [*sets_of([9, 1, 2, 3, 5, 8])] == ["1:3,5,8:9"]
    scattered = [*sets_of(range(0, 100_000, 2))]
    assert max(map(len, scattered)) <= LONGEST_SET
    assert sum(one.count(",") + 1 for one in scattered) == 50_000
    assert [*sets_of([])] == []


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("INBOX", '"INBOX"'),
        ("Entwürfe & mehr/日本語", '"Entw&APw-rfe &- mehr/&ZeVnLIqe-"'),
        ('a"b\\', '"a\\"b\\\\"'),
    ],
)
def test_names_of_folders(name: str, written: str) -> None:
    """Names are written in the protocol's own UTF-7, and quoted (RFC 3501, 5.1.3)."""
    assert folder_name(name) == written


@pytest.mark.parametrize("text", ["a\r\nb", "a\0"])
def test_a_string_that_is_none(text: str) -> None:
    """What would end a command is never written into one."""
    with pytest.raises(NotImapError):
        quoted(text)


def test_what_was_fetched() -> None:
    """Atoms, strings, literals and lists, in any order and with items that nobody asked for."""
    pieces = [
        (b'1 (FLAGS (\\Seen $x) UID 5 BODY[HEADER.FIELDS ("SUBJECT" FROM)]<0> {3}', b"a)("),
        (b" BODY[HEADER.FIELDS (TO)]<0> {1}", b"b"),
        b' EMAILID (M1) BODY[TEXT]<0> "x \\"y\\"")',
        b"2 (UID 6 BODY[] NIL)",
    ]
    first, second = fetched(pieces)
    assert (first[b"UID"], first[b"BODY[HEADER"]) == (b"5", b"a)(\r\nb")
    assert (first[b"BODY[TEXT"], first[b"EMAILID"]) == (b'x "y"', [b"M1"])
    assert second == {b"UID": b"6", b"BODY[": b""}


@each_case("piece", [b"1 (UID 5", b"1 UID 5)", b'1 (UID "5)', b"(" * 100, b"1 (X {5}"])
def test_an_answer_that_is_none(piece: bytes) -> None:
    """What does not close, or what was not announced, is refused."""
    with pytest.raises(NotImapError):
        list(lines([piece]))


@pytest.fixture
def far_away() -> Iterator[None]:
    """Run in a time zone of this machine that is not UTC."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Pacific/Auckland")
        time.tzset()
        yield
    time.tzset()


@each_case(
    ("text", "found"),
    [
        (b" 1-Mar-2026 13:00:00 +0100", START),
        (b"01-mar-2026 12:00:00 -0000", START),
        (b"32-Mar-2026 12:00:00 +0000", None),
        (b"01-Foo-2026 12:00:00 +0000", None),
        (b"01-Mar-2026 12:00:00 +9900", None),
        (b"31-Dec-9999 23:59:59 -1400", None),
        (b"01-Mar-2026", None),
        (b"01-Mar-2026 \xff", None),
        (b"", None),
    ],
)
@pytest.mark.usefixtures("far_away")
def test_moments(text: bytes, found: object) -> None:
    """A time of the server, with its offset, whatever the machine's is; what is none is None."""
    assert moment_of(text) == found


def test_a_day() -> None:
    """A search writes a day in English, whatever the machine's language."""
    assert day_of(date(2026, 3, 1)) == "1-Mar-2026"
