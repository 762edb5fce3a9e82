"""An account of a running dovecot, and the mailbox that the cockpit makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from email import message_from_bytes, policy
from typing import Any
from uuid import uuid4

from orrery.adapters.imap_mailbox.connection import MailHost
from orrery.adapters.imap_mailbox.mailbox import ImapAccount, ImapMailbox
from orrery.ports.comms.messages import MailboxMessage
from orrery.trust import Trust
from tests.support.clock import START, ManualClock
from tests.support.dovecot import DRAFTS, PASSWORD, Dovecot

PLAIN = b"Content-Type: text/plain; charset=utf-8\r\n\r\nText of number %d.\r\n"
MARK_UP = b"Content-Type: text/html\r\n\r\n<p>Text of number %d.</p>\r\n"
BOTH = (
    b"Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\n"
    b"Content-Type: text/plain\r\n\r\nText of number %d.\r\n--x\r\n"
    b"Content-Type: text/html\r\n\r\n<p>Text</p>\r\n--x--\r\n"
)


def mail(number: int = 1, rest: bytes = PLAIN, head: bytes = b"") -> bytes:
    """Return a message as a server receives it: headers, those of `head`, and `rest`, which begins with more."""
    own = b"From: Sender %d <sender%d@lab.example>\r\nSubject: Subject %d\r\nMessage-ID: <%d@lab.example>\r\n" % (
        (number,) * 4
    )
    return own + head + (rest % number if b"%d" in rest else rest)


def _addresses(header: Any) -> Sequence[Any]:  # noqa: ANN401  the library's own class of a header
    return header.addresses if header else ()


@dataclass(frozen=True)
class DraftSeen:
    """A draft as another mail program reads it."""

    to: str
    subject: str
    text: str
    headers: dict[str, str]
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImapTestAccount:
    """An account that no other test has; `clock` is that of its mailboxes."""

    dovecot: Dovecot
    name: str = field(default_factory=lambda: f"{uuid4().hex}@lab.example")
    clock: ManualClock = field(default_factory=ManualClock)

    def mailbox(
        self,
        folders: Sequence[str] = ("INBOX",),
        days: int = 30,
        drafts: str | None = None,
        sent: str | None = None,
        addresses: Sequence[str] = (),
    ) -> ImapMailbox:
        """Return the mailbox as a new process has it."""
        server = MailHost("localhost", self.name, PASSWORD, self.dovecot.tls_port)
        account = ImapAccount(self.name, folders, drafts, days, sent, addresses)
        return ImapMailbox(account, server, self.clock, Trust(self.dovecot.certificate))

    def receive(self, message: bytes, minutes: int = 1, *, flags: str = "", folder: str = "INBOX") -> None:
        """Put a message into a folder, received so long before the clock's start."""
        self.dovecot.deliver(self.name, message, at=START - timedelta(minutes=minutes), flags=flags, folder=folder)

    def fill(self, count: int = 7) -> None:
        """Receive messages of all kinds, not in the order of their times; every other one was read."""
        for number in sorted(range(1, count + 1), key=lambda one: one % 3):
            rest = (PLAIN, MARK_UP, BOTH)[number % 3]
            self.receive(mail(number, rest), number, flags=r"(\Seen)" if number % 2 else "")

    def drafts(self) -> list[DraftSeen]:
        """Return the drafts in the account's folder for them."""
        found = [message_from_bytes(one, policy=policy.default) for one in self.dovecot.held(self.name, DRAFTS)]
        return [
            DraftSeen(
                to=one["To"].addresses[0].addr_spec,
                subject=str(one["Subject"]),
                text=one.get_content().replace("\r\n", "\n"),
                headers={name.lower(): str(value) for name, value in one.items()},
                others=tuple(each.addr_spec for each in (*one["To"].addresses[1:], *_addresses(one["Cc"]))),
            )
            for one in found
        ]

    def is_unread(self, message: MailboxMessage) -> bool:
        """Return whether a message of the INBOX is not marked as read."""
        uid = int(message.source_id.split(".")[1])
        return "Seen" not in self.dovecot.flags(self.name)[uid]
