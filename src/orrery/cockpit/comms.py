"""The list: the rows of every mailbox and of the action ledger, as one."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from orrery.cockpit.inbox import LATE, Inbox, InboxState
from orrery.cockpit.ledger import Ledger, is_due
from orrery.cockpit.order import in_order
from orrery.cockpit.records import LedgerItem
from orrery.cockpit.rows import LEDGER, LEDGER_ACCOUNT, CockpitRow, RowId, merged, newest_first, row_of
from orrery.cockpit.senders import Senders
from orrery.cockpit.set_aside import SetAsideRows, SetAsides
from orrery.cockpit.waiting import NotListed, Reason, why_not
from orrery.errors import NotFound, StoreError
from orrery.ports.clock import Clock
from orrery.ports.comms.errors import RowGone
from orrery.ports.comms.messages import MailboxMessage, Priority, Standing
from orrery.ports.comms.tasks import TaskBooks
from orrery.runtime.collection import StoredRecord

IN_THE_LEDGER = TaskBooks({})
"""Every task is an item of the action ledger."""

PIECE = 1000
"""Rows of a piece of the answer."""

_GONE = "This row is no longer in its mailbox."


class Comms:
    """Reads the mailboxes side by side; an answer is made of what is there."""

    def __init__(
        self,
        inboxes: Sequence[Inbox],
        ledger: Ledger,
        set_asides: SetAsides,
        clock: Clock,
        scores: Mapping[Priority, int],
        books: TaskBooks = IN_THE_LEDGER,
    ) -> None:
        self.inboxes = inboxes
        self.senders = Senders(inboxes)
        self._ledger = ledger
        self._set_asides = set_asides
        self._clock = clock
        self._scores = scores
        self._books = books

    async def read_all(self) -> None:
        """Read every mailbox to its end."""
        async with asyncio.TaskGroup() as group:
            for inbox in self.inboxes:
                _ = group.create_task(inbox.read())

    async def pulse(self) -> None:
        """Ask every mailbox again, and return after `LATE` at the latest; the reading goes on."""
        reads = [asyncio.ensure_future(inbox.read()) for inbox in self.inboxes]
        if reads:
            _, late = await asyncio.wait(reads, timeout=LATE.total_seconds())
            for one in late:
                _ = one.cancel()  # it only waits: the reading itself has another owner

    async def answer(self, page: Mapping[str, str], *, listed: bool = True) -> Iterator[bytes]:
        """Return the list as JSON, in pieces, with the state of each mailbox; `page` is added to it.

        With `listed` false it has the rows that were read and do not wait, the newest first, each with its reason.
        """
        now = self._clock.now()
        try:
            found, asides = await self._ledger.all(), await self._set_asides.known()
        except StoreError as error:
            items, tasks, asides = list[CockpitRow](), list[str](), SetAsideRows()
            ledger = _ledger_state("failed", str(error), None, 0, 0)
        else:
            opened = [one for one in found.records if not one.record.dismissed_at]
            items = newest_first(self._row(one, now) for one in found.records)
            tasks = self._with_task(one.record for one in opened)
            ledger = _ledger_state("fresh", "", now, len(opened), len(found.unreadable))
        states = [*map(self._state_of, self.inboxes), ledger]
        waiting, others = _sorted_out(merged([*(one.rows for one in self.inboxes), items]), now, asides)
        counted = NotListed.of(reason for _, reason in others)
        rest = {
            "not_listed": {"count": counted.count, "reasons": counted.reasons, "line": str(counted)},
            "mailboxes": states,
            "tasks": tasks,
            **page,
        }
        rows = ((row, None) for row in in_order(waiting, now)) if listed else iter(others)
        return _in_pieces(rows, await self.senders.alarms(), json.dumps(rest).encode())

    async def require(self, row_id: RowId) -> CockpitRow:
        """Return a row; raise `RowGone` when it is not, or no longer, in the list.

        Raises the mailbox's error when that was never read, so that the row may be there.
        """
        if row_id.source == LEDGER:
            return await self._item(row_id)
        inbox = self.inbox_of(row_id)
        if found := inbox.find(row_id.source, row_id.source_id):
            return found
        if inbox.at is None:
            await inbox.read()  # the page was there before the list: it was opened ahead of a restart
        if found := inbox.find(row_id.source, row_id.source_id):
            return found
        if inbox.at is None and inbox.error:
            raise inbox.error.with_traceback(None)  # it may be raised many times
        raise RowGone(_GONE)

    def inbox_of(self, row_id: RowId) -> Inbox:
        """Return the inbox of a row; raise `RowGone` when its mailbox is not in the settings."""
        for inbox in self.inboxes:
            if (inbox.mailbox.track, inbox.mailbox.account) == (row_id.track, row_id.account):
                return inbox
        raise RowGone("The mailbox of this row is not in the settings.")

    def inbox_to_sign_in(self, account: str) -> Inbox:
        """Return the inbox of an account that can sign in here; raise `NotFound`."""
        for inbox in self.inboxes:
            if inbox.mailbox.signs_in and inbox.mailbox.account == account:
                return inbox
        raise NotFound("No mailbox of the settings has an account of this name that signs in here.")

    async def _item(self, row_id: RowId) -> CockpitRow:
        found = await self._ledger.items.get(row_id.source_id)
        if found is None or found.record.track != row_id.track or row_id.account != LEDGER_ACCOUNT:
            raise RowGone("This item is no longer in the action ledger.")
        return self._row(found, self._clock.now())

    def _row(self, stored: StoredRecord[LedgerItem], now: datetime) -> CockpitRow:
        item = stored.record
        due = is_due(item, now)
        score = self._scores[item.priority] if item.score is None else item.score
        message = MailboxMessage(
            source=LEDGER,
            source_id=stored.id,
            sender=item.person,
            address="",
            subject=item.title,
            preview=" · ".join(filter(None, (item.kind, item.bucket))),
            received_at=item.created_at,
            priority="high" if due else item.priority,
            standing=Standing(is_complete=item.dismissed_at is not None),
        )
        return row_of(
            item.track, LEDGER_ACCOUNT, message, max(score, self._scores["high"]) if due else score, item.until
        )

    def _state_of(self, inbox: Inbox) -> dict[str, Any]:
        mailbox = inbox.mailbox
        book = self._books.of_mailbox.get((mailbox.track, mailbox.account))
        return {
            "account": mailbox.account,
            "track": mailbox.track,
            "state": inbox.state,
            "why": inbox.why,
            "at": inbox.at.isoformat() if inbox.at else None,
            "asked_at": inbox.asked_at.isoformat() if inbox.asked_at else None,
            "count": len(inbox.rows),
            "unreadable": inbox.unreadable,
            "signs_in": mailbox.signs_in,
            "caution": mailbox.caution,
            "to_do": book.account if book else "",
        }

    def _with_task(self, items: Iterable[LedgerItem]) -> list[str]:
        """Return the ids of the rows that items were made of, as far as these are in the list."""
        return [
            str(row.id)
            for item in items
            for inbox in self.inboxes
            if inbox.mailbox.track == item.track and (row := inbox.find(item.source, item.source_id))
        ]


def _sorted_out(
    rows: Iterable[CockpitRow], now: datetime, asides: SetAsideRows
) -> tuple[list[CockpitRow], list[tuple[CockpitRow, Reason]]]:
    """Return the rows that wait, and the others with why not; of a conversation the newest that waits is listed.

    `rows` come newest first. What a person set aside counts for the messages before it, too.
    """
    waiting, others = list[CockpitRow](), list[tuple[CockpitRow, Reason]]()
    seen = defaultdict[tuple[str, str], set[str]](set)
    for row in rows:
        conversation, known = row.message.conversation, seen[row.whose]
        aside = asides.of(row.id) if row.message.source_id in asides.source_ids else None
        reason = why_not(row.message, row.own_reason, now, aside)
        if reason is None and conversation in known:
            reason = "earlier"
        if conversation and reason in {None, "done", "later"}:
            known.add(conversation)
        if reason:
            others.append((row, reason))
        else:
            waiting.append(row)
    return waiting, others


def _in_pieces(
    rows: Iterator[tuple[CockpitRow, Reason | None]], alarms: Mapping[RowId, str], rest: bytes
) -> Iterator[bytes]:
    """Yield an object with the rows and the rest.

    An answer with many rows as one would take their size several times, and memory that is not given back.
    """
    yield b'{"rows":['
    mark = b""
    while several := b",".join(
        row.shown(reason, alarms.get(row.id, "") if alarms else "") for row, reason in islice(rows, PIECE)
    ):
        yield mark + several
        mark = b","
    yield b"]," + rest[1:]


def _ledger_state(state: InboxState, why: str, at: datetime | None, count: int, unreadable: int) -> dict[str, Any]:
    return {
        "account": LEDGER_ACCOUNT,
        "track": None,
        "state": state,
        "why": why,
        "at": at.isoformat() if at else None,
        "asked_at": None,
        "count": count,
        "unreadable": unreadable,
        "signs_in": False,
        "caution": "",
        "to_do": "",
    }
