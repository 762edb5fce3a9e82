"""A reply as a mail program writes it. Pure."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.header import Header
from email.mime.text import MIMEText
from email.policy import compat32
from email.utils import format_datetime, formataddr

from orrery.adapters.imap_mailbox.headers import message_ids
from orrery.ports.comms.errors import MailboxRefused
from orrery.ports.comms.mailboxes import ReplyRequest
from orrery.ports.comms.messages import Person
from orrery.syntax.lines import one_line

KEY_HEADER = "X-Orrery-Draft"
"""The header by which a draft is found again."""

_LONGEST_SUBJECT = 500
_LONGEST_NAME = 100
_MOST_REFERENCES = 20
_WIRE = compat32.clone(linesep="\r\n")


def written_reply(reply: ReplyRequest, account: str, headers: Mapping[str, str], now: datetime) -> bytes:
    """Return the draft of a reply; `headers` are those of the original. Raises `MailboxRefused`."""
    if not reply.to:
        raise MailboxRefused("There is no address to reply to.")
    draft = _in_utf8(reply.text.content, reply.text.media_type.removeprefix("text/"))
    draft["From"] = _mailboxes([Person("", account)])
    draft["To"] = _mailboxes(reply.to)
    if reply.cc:
        draft["Cc"] = _mailboxes(reply.cc)
    draft["Subject"] = _encoded(_subject(reply.message.subject))
    draft["Date"] = format_datetime(now.astimezone(UTC))
    _add_thread(draft, headers)
    draft[KEY_HEADER] = reply.key
    return draft.as_bytes(policy=_WIRE)


def _in_utf8(text: str, kind: str) -> MIMEText:
    # Half a character pair, which UTF-8 cannot hold, is replaced.
    lines = text.encode("utf-8", "replace").decode().splitlines()
    return MIMEText("\r\n".join([*lines, ""]), kind, "utf-8")


def _subject(subject: str) -> str:
    line = one_line(subject, _LONGEST_SUBJECT)
    return line if line.casefold().startswith("re:") else f"Re: {line}"


def _encoded(line: str) -> str:
    """Return one line as a header: what is no plain ASCII, or could be read as encoded, is encoded."""
    plain = line.isascii() and "=?" not in line
    return line if plain else Header(line, "utf-8", header_name="Subject").encode(linesep="\r\n")


def _mailboxes(people: Iterable[Person]) -> str:
    """Return people as a header has them, each on its own line."""
    try:
        return ",\r\n ".join(formataddr((one_line(one.name, _LONGEST_NAME), one.address)) for one in people)
    except UnicodeEncodeError:
        raise MailboxRefused("An address with letters beyond ASCII cannot be written into a draft.") from None


def _add_thread(draft: MIMEText, headers: Mapping[str, str]) -> None:
    """Name the message that is answered, and those before it (RFC 5322, 3.6.4); of many the first and the last."""
    own = message_ids(headers.get("message-id", ""))[:1]
    if not own:
        return
    before = message_ids(headers.get("references", "")) or message_ids(headers.get("in-reply-to", ""))[:1]
    if len(before) > _MOST_REFERENCES:
        before = [before[0], *before[-_MOST_REFERENCES + 1 :]]
    draft["In-Reply-To"] = own[0]
    draft["References"] = "\r\n ".join([*before, *own])
