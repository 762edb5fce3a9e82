"""A reply as a mail program writes it. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.header import Header
from email.mime.text import MIMEText
from email.policy import compat32
from email.utils import format_datetime, formataddr
from html import escape

from orrery.adapters.imap_mailbox.headers import address_of, message_ids, words_of
from orrery.errors import MailboxRefused
from orrery.ports.comms.mailboxes import MessageBody, Reply
from orrery.syntax.lines import one_line

KEY_HEADER = "X-Orrery-Draft"
"""The header by which a draft is found again."""

_LONGEST_SUBJECT = 500
_LONGEST_NAME = 100
_MOST_REFERENCES = 20
_WIRE = compat32.clone(linesep="\r\n")


def written_reply(
    reply: Reply, account: str, headers: Mapping[str, str], original: MessageBody, now: datetime
) -> bytes:
    """Return the draft of a reply: in mark-up where the original is, the original quoted below the comment.

    `headers` are those of the original. Raises `MailboxRefused`.
    """
    sender, _ = address_of(headers, "from", "sender")
    name, address = address_of(headers, "reply-to", "from", "sender")
    if not address:
        raise MailboxRefused("There is no address to reply to.")
    intro = f"On {reply.message.received_at:%Y-%m-%d at %H:%M UTC}, {_name(sender)} wrote:"
    draft = _quoting(original, intro, reply.comment)
    draft["From"] = _mailbox("", account)
    draft["To"] = _mailbox("" if name == address else name, address)
    draft["Subject"] = _encoded(_subject(words_of(headers.get("subject", ""))))
    draft["Date"] = format_datetime(now.astimezone(UTC))
    _add_thread(draft, headers)
    draft[KEY_HEADER] = reply.key
    return draft.as_bytes(policy=_WIRE)


def _quoting(original: MessageBody, intro: str, comment: str) -> MIMEText:
    if original.media_type == "text/html":
        above = escape(comment).replace("\n", "<br>\n")
        text = f"<p>{above}</p>\n<p>{escape(intro)}</p>\n<blockquote>{original.content}</blockquote>\n"
        return _in_utf8(text, "html")
    quoted = "\n".join(_quote(line) for line in original.content.splitlines())
    return _in_utf8(f"{comment}\n\n{intro}\n{quoted}\n", "plain")


def _quote(line: str) -> str:
    return f">{line}" if line.startswith(">") else f"> {line}".rstrip()


def _in_utf8(text: str, kind: str) -> MIMEText:
    # Half a character pair, which UTF-8 cannot hold, is replaced.
    lines = text.encode("utf-8", "replace").decode().splitlines()
    return MIMEText("\r\n".join([*lines, ""]), kind, "utf-8")


def _subject(subject: str) -> str:
    line = one_line(subject, _LONGEST_SUBJECT)
    return line if line.casefold().startswith("re:") else f"Re: {line}"


def _name(name: str) -> str:
    return one_line(name, _LONGEST_NAME)


def _encoded(line: str) -> str:
    """Return one line as a header: what is no plain ASCII, or could be read as encoded, is encoded."""
    plain = line.isascii() and "=?" not in line
    return line if plain else Header(line, "utf-8", header_name="Subject").encode(linesep="\r\n")


def _mailbox(name: str, address: str) -> str:
    try:
        return formataddr((_name(name), address))
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
