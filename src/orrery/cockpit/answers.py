"""What a draft has: whom it goes to, and the original below the comment. Pure; the same for every mailbox."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from html import escape

from orrery.ports.comms.mailboxes import MessageBody
from orrery.ports.comms.messages import MailboxMessage, Person
from orrery.syntax.email_address import is_email_address
from orrery.syntax.lines import one_line
from orrery.syntax.track import without_tokens

_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Recipients:
    """Whom a draft goes to."""

    to: tuple[Person, ...]
    cc: tuple[Person, ...] = ()


def recipients_of(message: MailboxMessage, own: Iterable[str], *, to_all: bool) -> Recipients:
    """Return whom an answer goes to: where the sender wants it, and with `to_all` everybody else who is named.

    The `own` addresses, in lower case, are left out.
    """
    known = frozenset(own)
    wanted = _without(message.reply_to, known) if message.source == "mail" else []
    to = wanted or [Person("" if message.sender == message.address else message.sender, message.address)]
    if not to_all:
        return Recipients(tuple(to))
    named = {one.address.casefold() for one in to}
    to += _without(message.to, known | named)
    named |= {one.address.casefold() for one in to}
    return Recipients(tuple(to), tuple(_without(message.cc, known | named)))


def newest_of(message: MailboxMessage, others: Iterable[MailboxMessage]) -> MailboxMessage:
    """Return the newest message of a conversation that is not the owner's own (decision 65)."""
    if not message.conversation:
        return message
    same = (
        one
        for one in others
        if one.conversation == message.conversation and one.source == message.source and not one.standing.is_own
    )
    return max((message, *same), key=lambda one: one.received_at)


def quoted(message: MailboxMessage, original: MessageBody, comment: str) -> MessageBody:
    """Return the text of a draft: in mark-up where the original is, the original quoted below the comment.

    A label that was copied into either is left out: the recipient reads it.
    """
    comment, intro = comment.strip(), _intro(message)
    if original.media_type == "text/html":
        above = "<p>" + escape(comment).replace("\n", "<br>\n") + "</p>\n" if comment else ""
        text = f"{above}<p>{escape(intro)}</p>\n<blockquote>{original.content}</blockquote>\n"
    else:
        lines = "\n".join(_quoted_line(line) for line in original.content.splitlines())
        text = "\n\n".join(filter(None, (comment, f"{intro}\n{lines}\n")))
    return MessageBody(original.media_type, without_tokens(text))


def _intro(message: MailboxMessage) -> str:
    name = one_line(message.sender or message.sender_address, _LONGEST_NAME)
    return f"On {message.received_at.astimezone(UTC):%Y-%m-%d at %H:%M UTC}, {name} wrote:"


def _quoted_line(line: str) -> str:
    return f">{line}" if line.startswith(">") else f"> {line}".rstrip()


def _without(people: Iterable[Person], left_out: frozenset[str]) -> list[Person]:
    """Return people with addresses, each once."""
    found: dict[str, Person] = {}
    for one in people:
        folded = one.address.casefold()
        if is_email_address(one.address) and folded not in left_out:
            _ = found.setdefault(folded, one)
    return [*found.values()]
