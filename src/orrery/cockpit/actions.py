"""What a person does with a row: read it, draft a reply, add it to the tasks, dismiss it."""

from dataclasses import dataclass, replace
from datetime import date

from orrery.cockpit.answers import quoted, recipients_of
from orrery.cockpit.bodies import Bodies
from orrery.cockpit.comms import Comms
from orrery.cockpit.errors import NotInLedger, NotReplyable
from orrery.cockpit.heads import answered, head_of, ledger_head
from orrery.cockpit.ledger import Action, Ledger
from orrery.cockpit.rows import LEDGER, LEDGER_ACCOUNT, CockpitRow, RowId, digest_of, safe_link
from orrery.cockpit.schema import HeadRead
from orrery.cockpit.set_aside import Set, SetAsides
from orrery.cockpit.settings import CockpitSettings
from orrery.cockpit.waiting import SetAsideUntil
from orrery.ports.comms.errors import MailboxRefused
from orrery.ports.comms.mailboxes import Mailbox, MailboxDraft, MessageBody, ReplyRequest
from orrery.ports.comms.messages import MailboxMessage
from orrery.ports.comms.tasks import NewTask, Task, TaskBook, TaskBooks
from orrery.syntax.track import without_tokens


@dataclass(frozen=True, slots=True)
class Actions:
    """The actions of the list. None of them sends anything (decision 36)."""

    comms: Comms
    bodies: Bodies
    ledger: Ledger
    set_asides: SetAsides
    books: TaskBooks
    settings: CockpitSettings

    async def text(self, row_id: RowId) -> str:
        """Return the message of a row as plain text; raise `RowGone` and the mailbox's errors."""
        if row_id.source == LEDGER:
            return _text_of(await self.comms.require(row_id))
        inbox = self.comms.inbox_of(row_id)
        return await self.bodies.text(inbox.mailbox, row_id.source, row_id.source_id)

    async def head(self, row_id: RowId) -> HeadRead:
        """Return who wrote a row to whom, and whom an answer would go to.

        Raises `RowGone` and the mailbox's errors.
        """
        row = await self.comms.require(row_id)
        if row_id.source == LEDGER:
            return ledger_head(row)
        known = await self.comms.senders.people(row_id.track)
        return head_of(row, self.comms.inbox_of(row_id), known)

    async def draft_reply(self, row_id: RowId, comment: str, *, to_all: bool = False) -> MailboxDraft:
        """Return the draft that replies to a row with this comment: made now, or by an earlier call.

        It answers the newest message of the conversation (decision 65), and goes to whom `head` names. Labels
        that were copied into the comment are left out: its recipient reads it.
        Raises `NotReplyable`, `RowGone` and the mailbox's errors.
        """
        row = await self.comms.require(row_id)
        if not row.is_replyable:
            raise NotReplyable("There is no address to reply to.")
        inbox, comment = self.comms.inbox_of(row_id), without_tokens(comment).strip()
        known, message = await self.comms.senders.people(row_id.track), answered(row, inbox)
        recipients = recipients_of(message, known.own, to_all=to_all)
        text = quoted(message, await _original(inbox.mailbox, message), comment)
        key = draft_key(replace(row_id, source_id=message.source_id), comment, to_all=to_all)
        return await inbox.mailbox.draft(
            ReplyRequest(key, message, recipients.to, recipients.cc, text, comment, to_all)
        )

    def book_of(self, row_id: RowId) -> TaskBook:
        """Return where the task of a row is kept: in the action ledger, unless the settings name a To Do."""
        return self.books.of_mailbox.get((row_id.track, row_id.account), self.ledger)

    async def add_to_tasks(self, row_id: RowId) -> Task:
        """Return the task of a row: made now, or by an earlier call.

        Raises `RowGone`, the store's errors, and the mailbox's where the task is not in the ledger.
        """
        row = await self.comms.require(row_id)
        message, settings = row.message, self.settings
        return await self.book_of(row_id).add(
            NewTask(
                track=row_id.track,
                source=message.source,
                source_id=message.source_id,
                title=message.subject,
                person=message.address or message.sender,
                score=row.score,
                kind=settings.kinds[message.source],
                bucket=settings.buckets[message.source],
                priority=message.priority,
                web_link=safe_link(message.web_link),
            )
        )

    async def set_aside(self, row_id: RowId, what: Set, until: date | None) -> SetAsideUntil | None:
        """Mark a row as done, set it aside until a day, or take both back; return its state before.

        Raises `RowGone`, `WrongDay` and the errors of the mailbox and the store.
        """
        row = await self.comms.require(row_id)
        if row_id.source != LEDGER:
            days = self.comms.inbox_of(row_id).mailbox.days_of(row_id.source)
            return await self.set_asides.set(row, what, until, days)
        if what == "done":
            return None if await self.ledger.act(row_id.source_id, "dismiss") else SetAsideUntil()
        was_done = what == "undo" and await self.ledger.act(row_id.source_id, "undo")
        before = await self.set_asides.set(row, what, until, 0)
        return SetAsideUntil() if was_done else before

    async def act(self, row_id: RowId, action: Action) -> bool:
        """Dismiss a row of the action ledger or undo that; return whether anything changed.

        Raises `NotInLedger` and `RowGone`.
        """
        if row_id.source != LEDGER or row_id.account != LEDGER_ACCOUNT:
            raise NotInLedger(
                "The page itself dismisses rows of a mailbox, and a task in To Do is deleted there: "
                "the server keeps the action ledger only."
            )
        _ = await self.comms.require(row_id)
        return await self.ledger.act(row_id.source_id, action)


def draft_key(row_id: RowId, comment: str, *, to_all: bool = False) -> str:
    """Return what finds a draft again: with the same comment the same one, with another comment another."""
    to_whom = ("all",) if to_all else ()
    return digest_of(row_id.track, row_id.account, row_id.source, row_id.source_id, comment, *to_whom)


async def _original(mailbox: Mailbox, message: MailboxMessage) -> MessageBody:
    """Return the text to quote; where a meeting's needs a permission that is not there, its place."""
    try:
        return await mailbox.body(message.source, message.source_id)
    except MailboxRefused:
        if message.source != "meeting":
            raise
        return MessageBody("text/plain", message.preview)


def _text_of(row: CockpitRow) -> str:
    item = row.message
    lines = [item.subject, f"From: {item.sender}" if item.sender else "", item.preview]
    return "\n".join(filter(None, lines))
