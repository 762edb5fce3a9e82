"""What a message has besides its text is named alike in every mailbox: of real MIME, and of the vendor's own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from orrery.adapters.microsoft_mailbox.mailbox import MicrosoftMailbox
from orrery.cockpit.plain_text import EMPTY, plain_text
from orrery.cockpit.plain_text.named import (
    PGP_ENCRYPTED,
    PGP_SIGNED,
    SMIME_ENCRYPTED,
    SMIME_OPAQUE,
    SMIME_SIGNED,
    SMIME_UNKNOWN,
    TROUBLES,
)
from tests.conformance.microsoft.signed_in import microsoft_mailbox, signed_in_at
from tests.support.dovecot import Dovecot
from tests.support.graph import GraphBox, graph
from tests.support.imap import ImapTestAccount
from tests.support.tracks import ANN_A

HEAD = b"From: Cy <cy@lab.example>\r\nTo: ann@lab.example\r\nSubject: Noon\r\nMessage-ID: <1@lab.example>\r\n"
AT, END = datetime(2030, 1, 7, 9, tzinfo=UTC).astimezone(), datetime(2030, 1, 7, 10, 30, tzinfo=UTC).astimezone()
WHEN = f"[Time: {AT:%A}, {AT.day} {AT:%B %Y}, {AT:%H:%M} to {END:%H:%M} {AT:%Z}]"
ARMOUR = "-----BEGIN PGP MESSAGE-----\r\n\r\nhQEMA0\r\n=0000\r\n-----END PGP MESSAGE-----"


@dataclass(frozen=True)
class Case:
    """A message as MIME without its head, as Microsoft has it, and the lines of its text.

    Where the vendor keeps to itself what a case is about, `graph` is empty.
    """

    mime: bytes
    graph: Mapping[str, Any]
    lines: Sequence[str]
    head: bytes = field(default=HEAD)


def several(kind: bytes, *parts: bytes) -> bytes:
    """Return a multipart of parts, each with its own headers."""
    return b"".join(
        (
            b"MIME-Version: 1.0\r\nContent-Type: multipart/%b; boundary=x\r\n\r\n" % kind,
            *(b"--x\r\n%b\r\n" % one for one in parts),
            b"--x--\r\n",
        )
    )


def file(kind: bytes, disposition: bytes = b"attachment", content: bytes = b"JVBERi0xLjcK") -> bytes:
    """Return a part of nine bytes in Base64."""
    head = b"Content-Type: %b\r\nContent-Disposition: %b\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    return head % (kind, disposition) + content


def attached(*several_: Mapping[str, Any], body: str = "Text.") -> dict[str, Any]:
    """Return a message of Microsoft's with attachments."""
    return {
        "body": ("text", body),
        "attachments": [{"contentType": "application/pdf", "size": 9, **one} for one in several_],
    }


TEXT = b"Content-Type: text/plain; charset=utf-8\r\n\r\nText."
INVITED: dict[str, Any] = {
    "meetingMessageType": "meetingRequest",
    "startDateTime": {"dateTime": "2030-01-07T09:00:00.0000000", "timeZone": "UTC"},
    "endDateTime": {"dateTime": "2030-01-07T10:30:00.0000000", "timeZone": "UTC"},
    "location": {"displayName": "Room 4, east"},
    "isAllDay": False,
}
CALENDAR = (
    b'BEGIN:VCALENDAR\r\nMETHOD:%b\r\nBEGIN:VEVENT\r\nSUMMARY:Noon\r\nDTSTART;TZID="Europe/Berlin":20300107T100000\r\n'
    b'DURATION:PT1H30M\r\nLOCATION:Room 4\\,\r\n  east\r\nORGANIZER;CN="Cy":mailto:cy@lab.example\r\n%b'
    b"BEGIN:VALARM\r\nTRIGGER:-PT15M\r\nSUMMARY:Alarm\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)


def calendar(method: bytes, more: bytes = b"", kind: bytes = b"text/calendar") -> bytes:
    """Return a message that is a calendar, and nothing else."""
    return b"Content-Type: %b; method=%b; charset=utf-8\r\n\r\n" % (kind, method) + CALENDAR % (method, more)


CASES = {
    "a text": Case(TEXT + b"\r\n", {"body": ("text", "Text.")}, ["Text."]),
    "nothing": Case(b"Content-Type: text/plain\r\n\r\n", {"body": ("text", "")}, [EMPTY]),
    "two files": Case(
        several(b"mixed", TEXT, file(b"application/pdf", b'attachment; filename="a.pdf"'), file(b"image/png")),
        attached({"name": "a.pdf"}, {"name": "", "contentType": "image/png"}),
        [
            "[Attachment: a.pdf, application/pdf, 9 bytes]",
            "[Attachment: without a name, image/png, 9 bytes]",
            "",
            "Text.",
        ],
    ),
    "a name that turns around": Case(
        several(
            b"mixed", TEXT, file(b"application/pdf", b"attachment; filename*=utf-8''invoice%E2%80%AEfdp%07%0A.exe")
        ),
        attached({"name": "invoice\u202efdp\x07\n.exe"}),
        ["[Attachment: invoice\ufffdfdp\ufffd .exe, application/pdf, 9 bytes]", "", "Text."],
    ),
    "a picture within the text": Case(
        several(
            b"mixed",
            b'Content-Type: text/html\r\n\r\n<p>Text.</p><img src="cid:1" alt="Logo">',
            file(b"image/png", b"inline\r\nContent-ID: <1>"),
            file(b"application/pdf; name=a.pdf"),
        ),
        {
            "body": ("html", '<p>Text.</p><img src="cid:1" alt="Logo">'),
            "attachments": [
                {"name": "logo.png", "contentType": "image/png", "isInline": True},
                {"name": "a.pdf", "contentType": "application/pdf", "size": 9},
            ],
        },
        ["[Attachment: a.pdf, application/pdf, 9 bytes]", "", "Text.", "", "[image: Logo]"],
    ),
    "a message within": Case(
        several(b"mixed", TEXT, b"Content-Type: message/rfc822\r\n\r\nSubject: Inner\r\n\r\nInner."),
        attached({"@odata.type": "#microsoft.graph.itemAttachment", "name": "", "contentType": None, "size": 24}),
        ["[Attachment: without a name, message/rfc822, 24 bytes]", "", "Text."],
    ),
    "files alone": Case(
        several(b"mixed", file(b"application/pdf", b"attachment; filename=a.pdf")),
        attached({"name": "a.pdf"}, body=""),
        ["[Attachment: a.pdf, application/pdf, 9 bytes]"],
    ),
    "encrypted with S/MIME": Case(
        file(b"application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m"),
        attached(
            {"name": "smime.p7m", "contentType": "application/pkcs7-mime; smime-type=enveloped-data"}, body=""
        ),
        [SMIME_ENCRYPTED],
    ),
    "signed with S/MIME in one piece": Case(
        file(b"application/x-pkcs7-mime; name=smime.p7m; smime-type=signed-data"),
        attached(
            {"name": "smime.p7m", "contentType": "Application/x-PKCS7-mime; smime-type=signed-data"}, body=""
        ),
        [SMIME_OPAQUE],
    ),
    "S/MIME of an unknown kind": Case(
        file(b"application/pkcs7-mime; name=smime.p7m"),
        attached({"name": "smime.p7m", "contentType": "application/pkcs7-mime"}, body=""),
        [SMIME_UNKNOWN],
    ),
    "signed with S/MIME": Case(
        several(b"signed; micalg=sha-256", TEXT, file(b"application/pkcs7-signature; name=smime.p7s")),
        attached({"name": "smime.p7m", "contentType": "multipart/signed"}),
        [SMIME_SIGNED, "", "Text."],
    ),
    "encrypted with PGP": Case(
        several(
            b"encrypted; protocol=application/pgp-encrypted",
            b"Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1",
            b"Content-Type: application/octet-stream; name=encrypted.asc\r\n\r\n" + ARMOUR.encode(),
        ),
        attached(
            {"name": "", "contentType": "application/pgp-encrypted"},
            {"name": "encrypted.asc", "contentType": "application/octet-stream"},
            body="",
        ),
        [PGP_ENCRYPTED],
    ),
    "signed with PGP": Case(
        several(b"signed", TEXT, b"Content-Type: application/pgp-signature; name=a.asc\r\n\r\nx"),
        attached({"name": "a.asc", "contentType": "application/pgp-signature"}),
        [PGP_SIGNED, "", "Text."],
    ),
    "encrypted with PGP within the text": Case(
        f"Content-Type: text/plain\r\n\r\nBefore.\r\n\r\n{ARMOUR}\r\n\r\nBehind.\r\n".encode(),
        {"body": ("text", f"Before.\r\n\r\n{ARMOUR}\r\n\r\nBehind.\r\n")},
        [PGP_ENCRYPTED, "", "Before.", "", "Behind."],
    ),
    "an invitation alone": Case(
        calendar(b"REQUEST", b"ATTENDEE;CN=Ann;PARTSTAT=NEEDS-ACTION:mailto:ann@lab.example\r\n"),
        {"body": ("html", ""), "set": INVITED},
        ["[Invitation to a meeting: Noon]", WHEN, "[Place: Room 4, east]", "[Organizer: Cy <cy@lab.example>]"],
    ),
    "an answer to an invitation": Case(
        calendar(b"REPLY", b"ATTENDEE;CN=Cy;PARTSTAT=ACCEPTED:mailto:cy@lab.example\r\n").replace(
            b'ORGANIZER;CN="Cy":mailto:cy@lab.example\r\n', b""
        ),
        {"body": ("html", ""), "set": INVITED | {"meetingMessageType": "meetingAccepted"}},
        ["[Answer to an invitation: Noon]", WHEN, "[Place: Room 4, east]", "[Cy <cy@lab.example> accepted]"],
    ),
    "a meeting that was cancelled": Case(
        several(b"alternative", TEXT, calendar(b"CANCEL")),
        {"body": ("text", "Text."), "set": INVITED | {"meetingMessageType": "meetingCancelled"}},
        [
            "[A meeting was cancelled: Noon]",
            WHEN,
            "[Place: Room 4, east]",
            "[Organizer: Cy <cy@lab.example>]",
            "",
            "Text.",
        ],
    ),
    "text that the style hides": Case(
        b'Content-Type: text/html\r\n\r\n<p>Text.</p><p style="font-size:0">three</p>',
        {"body": ("html", '<p>Text.</p><p style="font-size:0">three</p>')},
        ["Text.", "", "[Not shown: 5 characters that the sender's style hides.]"],
    ),
    "an unknown character set": Case(
        b"Content-Type: text/plain; charset=no-such\r\n\r\nText.\r\n", {}, ["Text.", "", TROUBLES["charset"]]
    ),
    "another character set than it says": Case(
        b"Content-Type: text/plain; charset=utf-8\r\n\r\ngr\xfcn\r\n", {}, ["grün", "", TROUBLES["charset"]]
    ),
    "broken Base64": Case(
        b"Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nVGV4dC4!*\r\n",
        {},
        ["Text.", "", TROUBLES["encoding"]],
    ),
    "Base64 of nothing": Case(
        b"Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!\r\n", {}, [TROUBLES["encoding"]]
    ),
    "an encoding that nobody knows": Case(
        b"Content-Type: text/plain\r\nContent-Transfer-Encoding: x-uuencode\r\n\r\nText.\r\n",
        {},
        ["Text.", "", TROUBLES["encoding"]],
    ),
    "mark-up beside the text": Case(
        several(b"mixed", TEXT, b"Content-Type: text/html\r\n\r\n<p>More</p>"),
        {},
        ["[Attachment: without a name, text/html, 11 bytes]", "", "Text."],
    ),
    "a large message": Case(
        several(
            b"mixed",
            TEXT,
            b"Content-Type: text/html\r\n\r\n<p>More</p>",
            file(b"application/zip; name=a.zip", content=(b"QUFB" * 19 + b"\r\n") * 50_000),
            file(b"image/png", b"inline\r\nContent-ID: <1>"),
            file(b"application/pdf", b"attachment; filename*=utf-8''%C3%BCber%E2%80%AE.pdf"),
        ),
        {},
        [
            "[Attachment: without a name, text/html, 11 bytes]",
            "[Attachment: a.zip, application/zip, 2.9 MB]",
            "[Attachment: über\ufffd.pdf, application/pdf, 8 bytes]",
            "",
            "Text.",
        ],
    ),
    "a text behind what is too large": Case(
        several(b"mixed", file(b"application/zip; name=a.zip", content=b"QUFB\r\n" * 600_000), TEXT),
        {},
        ["[Attachment: a.zip, application/zip, 2.6 MB]", "", TROUBLES["cut"]],
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_by_imap(name: str, dovecot: Dovecot) -> None:
    """A message of real MIME, as a mail server returns it."""
    case, account = CASES[name], ImapTestAccount(dovecot)
    account.receive(case.head + case.mime)
    mailbox = account.mailbox()
    [one] = [one async for batch in mailbox.messages() for one in batch.messages]
    expected = list(case.lines)
    if name == "an invitation alone":  # what the person has not answered is said there, and not at Microsoft
        expected.append("[Ann <ann@lab.example> did not answer yet]")
    assert plain_text(await mailbox.body("mail", one.source_id)).split("\n") == expected


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GraphBox, MicrosoftMailbox]]:
    """Return a running Graph, and Ann's mailbox there."""
    folder = tmp_path_factory.mktemp("graph")
    with graph(folder) as box:
        yield box, microsoft_mailbox(box, signed_in_at(box, folder), parts=("mail",))


@pytest.mark.parametrize("name", [name for name, one in CASES.items() if one.graph])
async def test_at_microsoft(name: str, shared: tuple[GraphBox, MicrosoftMailbox]) -> None:
    """The same message at Microsoft; the content of no attachment is asked for."""
    (box, mailbox), case = shared, CASES[name]
    sender = {"name": "Cy", "address": "cy@lab.example"}
    ids = box.arrive(ANN_A, subject="Noon", sender=sender, **case.graph)
    body = await mailbox.body("mail", ids["immutable_id"])
    assert plain_text(body).split("\n") == list(case.lines)


async def test_attachments_that_cannot_be_listed(shared: tuple[GraphBox, MicrosoftMailbox]) -> None:
    """The text is shown all the same, and says so."""
    box, mailbox = shared
    ids = box.arrive(ANN_A, **attached({"name": "a.pdf"}))
    box.fault("graph_403", "GET /me/messages/{id}/attachments", count=1)
    body = await mailbox.body("mail", ids["immutable_id"])
    assert plain_text(body).split("\n") == ["Text.", "", TROUBLES["attachments"]]


async def test_a_text_alone_is_one_request(shared: tuple[GraphBox, MicrosoftMailbox]) -> None:
    """Attachments are asked for only where there are any, or no text."""
    box, mailbox = shared
    ids, before = box.arrive(ANN_A), box.calls(ANN_A)
    await mailbox.body("mail", ids["immutable_id"])
    assert box.calls(ANN_A) - before == {"GET /me/messages/{id}": 1}
