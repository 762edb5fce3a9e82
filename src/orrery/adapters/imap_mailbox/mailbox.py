"""The adapter: one account of a mail server."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from orrery.adapters.imap_mailbox import drafts
from orrery.adapters.imap_mailbox.connection import SECONDS, ImapConnection, MailHost, NotImapError
from orrery.adapters.imap_mailbox.content import LARGEST_BODY, body_of
from orrery.adapters.imap_mailbox.folders import drafts_folder, examine, fetch
from orrery.adapters.imap_mailbox.headers import LONGEST_HEADERS, headers_of
from orrery.adapters.imap_mailbox.listing import GONE, FolderListing
from orrery.adapters.imap_mailbox.replies import written_reply
from orrery.adapters.imap_mailbox.sent import SentMail
from orrery.adapters.imap_mailbox.session import ImapSessions
from orrery.ports.clock import Clock
from orrery.ports.comms.errors import MailboxRefused, RowGone
from orrery.ports.comms.mailboxes import MailboxDraft, MessageBatch, MessageBody, ReplyRequest
from orrery.ports.comms.messages import Source
from orrery.syntax.track import Track
from orrery.trust import WELL_KNOWN, Trust

WHOLE = f"BODY.PEEK[]<0.{LARGEST_BODY}>"
THREAD = f"BODY.PEEK[HEADER.FIELDS (MESSAGE-ID REFERENCES IN-REPLY-TO)]<0.{LONGEST_HEADERS}>"
"""What is fetched of a message to be read, and of one to be answered."""

_STRUCTURE = b"BODYSTRUCTURE"

TWO_LOCKS = "Two locks only: nothing here can send, but no scope shows that this password could not."
"""Decision 36: no token shows what its log-in allows."""

NO_SENT_MAIL = "The server names no folder of sent mail: an answer shows only where the mail program marks it."


@dataclass(frozen=True, slots=True)
class ImapAccount:
    """An account: the `folders` that are listed, `days` back.

    Drafts go to `drafts_folder`, sent mail is in `sent_folder`, or in those that the server names. `addresses` are
    those that the account has beside its own.
    """

    address: str
    folders: Sequence[str] = ("INBOX",)
    drafts_folder: str | None = None
    days: int = 30
    sent_folder: str | None = None
    addresses: Sequence[str] = ()

    @property
    def own(self) -> frozenset[str]:
        """All its addresses, in lower case."""
        return frozenset(one.casefold() for one in (self.address, *self.addresses))


class ImapMailbox:
    """The messages that came in the last days, and are not deleted.

    What was fetched of them is kept in memory.
    """

    def __init__(
        self,
        account: ImapAccount,
        server: MailHost,
        clock: Clock,
        trust: Trust = WELL_KNOWN,
        *,
        seconds: float = SECONDS,
    ) -> None:
        self._account = account
        self._clock = clock
        self._sessions = ImapSessions(server, trust, seconds)
        self._sent = SentMail(account.sent_folder)
        self._listing = FolderListing(account.folders, self._sent, account.own, seconds)
        self._drafting = asyncio.Lock()

    @property
    def track(self) -> Track:
        """The public one: IMAP is refused for the other (decision 36)."""
        return "B"

    @property
    def account(self) -> str:
        return self._account.address

    @property
    def own_addresses(self) -> frozenset[str]:
        return self._account.own

    @property
    def signs_in(self) -> bool:
        return False

    @property
    def caution(self) -> str:
        return f"{TWO_LOCKS} {NO_SENT_MAIL}" if self._sent.is_missing else TWO_LOCKS

    def days_of(self, _: Source) -> int:
        """See `Mailbox`."""
        return self._account.days

    async def messages(self) -> AsyncGenerator[MessageBatch]:
        """Yield the messages, newest first; only what is new is fetched."""
        since = (self._clock.now() - timedelta(days=self._account.days)).date()
        async with self._sessions.open() as session:
            batches = await session.do(lambda connection: self._listing.read(connection, since))
            while batch := await session.do(lambda _: next(batches, None)):
                yield batch

    async def body(self, source: Source, source_id: str) -> MessageBody:
        """Return the text of a message; raise `RowGone`."""
        _require_mail(source)
        async with self._sessions.open() as session:
            return await session.do(lambda connection: self._read(connection, source_id))

    async def draft(self, reply: ReplyRequest) -> MailboxDraft:
        """Return the draft with the key of `reply`, made now unless it is there; raise `RowGone`."""
        _require_mail(reply.message.source)
        if not drafts.KEY.fullmatch(reply.key):
            raise MailboxRefused("The key of a draft is 1 to 100 letters, digits, - and _.")
        async with self._drafting, self._sessions.open() as session:
            return await session.do(lambda connection: self._drafted(connection, reply))

    async def check(self) -> None:
        """Return when each folder can be opened, and the one for drafts is there."""
        async with self._sessions.open() as session:
            await session.do(self._examined)

    def _examined(self, connection: ImapConnection) -> None:
        for folder in self._account.folders:
            _ = examine(connection, folder)
        _ = drafts.find(connection, drafts_folder(connection, self._account.drafts_folder), "none")

    def _read(self, connection: ImapConnection, source_id: str) -> MessageBody:
        """Return the text of a message, and what else it has: of a large one as the server describes it."""
        uid = self._listing.open(connection, source_id)
        raw = _bytes_of(connection, uid, WHOLE, b"BODY[")
        if len(raw) < LARGEST_BODY:
            return body_of(raw)
        try:
            described = [one.get(_STRUCTURE) for _, one in fetch(connection, [uid], [_STRUCTURE.decode()])]
        except NotImapError:  # nested more deeply than is read
            described = []
        return body_of(raw, next(iter(described), None))

    def _drafted(self, connection: ImapConnection, reply: ReplyRequest) -> MailboxDraft:
        uid = self._listing.open(connection, reply.message.source_id)
        thread = _bytes_of(connection, uid, THREAD, b"BODY[HEADER")
        folder = drafts_folder(connection, self._account.drafts_folder)
        if found := drafts.find(connection, folder, reply.key):
            return found
        written = written_reply(reply, self._account.address, headers_of(thread), self._clock.now())
        return drafts.keep(connection, folder, reply.key, written)


def _bytes_of(connection: ImapConnection, uid: int, item: str, key: bytes) -> bytes:
    """Return what was asked for of a message in the open folder; raise `RowGone`."""
    for _, one in fetch(connection, [uid], [item]):
        raw = one.get(key)
        if isinstance(raw, bytes):
            return raw
    raise RowGone(GONE)


def _require_mail(source: Source) -> None:
    if source != "mail":
        raise RowGone(GONE)
