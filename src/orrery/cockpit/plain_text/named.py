"""What a message has besides its text, as lines that name it: nothing of it is opened. Pure."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from orrery.ports.comms.mailboxes import Attachment, Invitation, MessageBody, Trouble
from orrery.ports.comms.messages import NO_PERSON, Person
from orrery.syntax.lines import one_line

MOST_NAMED = 50
"""Attachments that are named one by one."""

SMIME_ENCRYPTED = "[Encrypted with S/MIME: the text is not shown. Open it in the mailbox.]"
SMIME_OPAQUE = "[Signed with S/MIME in one piece: the text is not shown. Open it in the mailbox.]"
SMIME_UNKNOWN = "[Encrypted or signed with S/MIME: the text is not shown. Open it in the mailbox.]"
SMIME_SIGNED = "[Signed with S/MIME. The signature was not checked.]"
PGP_ENCRYPTED = "[Encrypted with PGP: that text is not shown. Open it in the mailbox.]"
PGP_SIGNED = "[Signed with PGP. The signature was not checked.]"

TROUBLES: dict[Trouble, str] = {
    "charset": "[Some letters may be wrong: their character set is unknown, or another. Open it in the mailbox.]",
    "encoding": "[A part is damaged: only what could be read of it is shown. Open it in the mailbox.]",
    "cut": "[The message is longer than 2 MB: the rest is neither shown nor named. Open it in the mailbox.]",
    "attachments": "[The mailbox did not name the attachments. Open it there.]",
}

_PARTS = {
    "application/pkcs7-signature": SMIME_SIGNED,
    "application/x-pkcs7-signature": SMIME_SIGNED,
    "application/pgp-signature": PGP_SIGNED,
    "application/pgp-encrypted": PGP_ENCRYPTED,
    "multipart/signed": SMIME_SIGNED,
    "multipart/encrypted": PGP_ENCRYPTED,
}
"""Parts that sign or encrypt a message, as they came, and as Microsoft names the whole."""

_PKCS7 = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_SMIME_TYPES = {
    "enveloped-data": SMIME_ENCRYPTED,
    "authenveloped-data": SMIME_ENCRYPTED,
    "signed-data": SMIME_OPAQUE,
}

_PGP_MESSAGE = re.compile(
    r"^-----BEGIN PGP MESSAGE-----$.*?(?:^-----END PGP MESSAGE-----$|\Z)", re.MULTILINE | re.DOTALL
)
_PGP_CLEAR = re.compile(r"^-----BEGIN PGP SIGNED MESSAGE-----$", re.MULTILINE)

_SMIME_TYPE = re.compile(r"smime-type=\"?([a-z-]+)")

_METHODS = {
    "request": "Invitation to a meeting",
    "cancel": "A meeting was cancelled",
    "reply": "Answer to an invitation",
    "counter": "Another time is proposed for a meeting",
}
_ANSWERS = {
    "accepted": "accepted",
    "declined": "declined",
    "tentative": "accepted tentatively",
    "needs-action": "did not answer yet",
}
_MOST_ANSWERS = 5
_LONGEST = 200
_KILO = 1000


def protections_of(body: MessageBody, text: str) -> list[str]:
    """Return how a message is signed or encrypted; `text` is its text as it is shown."""
    found = [line for one in body.attachments if (line := _protection(one))]
    if _PGP_MESSAGE.search(text):
        found.append(PGP_ENCRYPTED)
    if _PGP_CLEAR.search(text):
        found.append(PGP_SIGNED)
    return [*dict.fromkeys(found)]


def without_armour(text: str) -> str:
    """Return a text without what is encrypted in it."""
    return _PGP_MESSAGE.sub("", text)


def attachments_of(body: MessageBody) -> list[str]:
    """Return a line for each part that is attached."""
    several = [one for one in body.attachments if not _protection(one)]
    if any(one.media_type in {"application/pgp-encrypted", "multipart/encrypted"} for one in body.attachments):
        several = [one for one in several if not _is_cipher(one)]
    lines = [_attachment(one) for one in several[:MOST_NAMED]]
    more = len(several) - MOST_NAMED
    return [*lines, f"[{more} more attachments]"] if more > 0 else lines


def invitation_lines(found: Invitation | None) -> Iterator[str]:
    """Yield the lines about a meeting: what it is about, when, where, by whom, and who has answered."""
    if found is None:
        return
    kind = _METHODS.get(found.method, "A meeting")
    yield f"[{kind}: {_shown(found.summary)}]" if found.summary else f"[{kind}]"
    if found.starts:
        yield f"[Time: {_span(found, found.starts)}]"
    if found.place:
        yield f"[Place: {_shown(found.place)}]"
    if found.organizer != NO_PERSON:
        yield f"[Organizer: {_person(found.organizer)}]"
    for person, answer in found.answers[:_MOST_ANSWERS]:
        yield f"[{_person(person)} {_ANSWERS.get(answer, 'did not answer yet')}]"
    if (more := len(found.answers) - _MOST_ANSWERS) > 0:
        yield f"[{more} more are invited]"


def _protection(part: Attachment) -> str:
    kind = part.media_type.partition(";")[0].strip()
    if kind in _PKCS7:
        found = _SMIME_TYPE.search(part.media_type)
        return _SMIME_TYPES.get(found[1] if found else "", SMIME_UNKNOWN)
    return _PARTS.get(kind, "")


def _is_cipher(part: Attachment) -> bool:
    return part.media_type == "application/octet-stream" or part.name.lower().endswith(".asc")


def _attachment(part: Attachment) -> str:
    facts = [_shown(part.name) or "without a name", _shown(part.media_type)]
    if part.size is not None:
        facts.append(size_words(part.size))
    return f"[Attachment: {', '.join(filter(None, facts))}]"


def size_words(size: int) -> str:
    """Return a size in words."""
    for unit, one in (("GB", _KILO**3), ("MB", _KILO**2), ("kB", _KILO)):
        if size >= one:
            return f"{size / one:.1f} {unit}" if size < 10 * one else f"{size / one:.0f} {unit}"
    return f"{size} bytes"


def _span(found: Invitation, starts: datetime) -> str:
    """Return when a meeting is: by the clock of this machine, or by one of which only the zone's name is known."""
    ends = found.ends
    if found.is_all_day:
        last = ends - timedelta(days=1) if ends else starts
        return _day(starts) if last <= starts else f"{_day(starts)} to {_day(last)}"
    zone = _shown(found.zone)
    if starts.tzinfo is not None:
        starts, ends = starts.astimezone(), ends and ends.astimezone()
        zone = f"{starts:%Z}"
    return f"{_day(starts)}, {starts:%H:%M}{_until(starts, ends)} {zone}".rstrip()


def _until(starts: datetime, ends: datetime | None) -> str:
    if ends is None:
        return ""
    return f" to {ends:%H:%M}" if ends.date() == starts.date() else f" to {_day(ends)}, {ends:%H:%M}"


def _day(at: datetime) -> str:
    return f"{at:%A}, {at.day} {at:%B %Y}"


def _person(person: Person) -> str:
    name, address = _shown(person.name), _shown(person.address)
    return f"{name} <{address}>" if name and address and name != address else name or address


def _shown(text: str) -> str:
    return one_line(text, _LONGEST)
