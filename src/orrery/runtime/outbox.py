"""Notifications that are never lost (decision 12).

A message is enqueued in the same commit as the change that it reports; a worker delivers it, with back-off, until
it is accepted. Each channel sends one message at a time, and marks it before it begins the next: a crash between
sending and marking repeats one push and one e-mail at most, and loses none.

    waiting ──accepted──▶ delivered (kept 30 days)
       │ └───refused───▶ dead (kept until the owner looks)
    held ──released──▶ waiting
    held, dead ──dropped──▶ delivered, with `dropped` (kept 30 days: a restore must know that it may not be sent)
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Literal

from orrery.errors import RecordUnreadable
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.notifier import DeliveryFailed, Notifier, OutgoingMessage, Priority
from orrery.ports.store import (
    Absent,
    Check,
    Committed,
    Conflict,
    Delete,
    Put,
    Store,
    StoreEntry,
    Unchanged,
    Write,
)
from orrery.record import Code, Id, PersonalText, Record, Sentence
from orrery.runtime.collection import (
    Changes,
    Collection,
    RecordPage,
    StoredRecord,
    commit,
    compare_and_set,
    sortable,
)
from orrery.runtime.deduplication import Deduplication
from orrery.runtime.due import SLACK
from orrery.runtime.outbox_lanes import CHANNELS, LANES, OF_ALL, Channel, Lanes, LaneTimes, key
from orrery.runtime.quiet_hours import QuietHours
from orrery.runtime.record_index import behind, id_in, index_again
from orrery.runtime.tasks import together

Undelivered = Literal["waiting", "held", "dead"]
DeliveryState = Literal["waiting", "held", "delivered", "dead"]

FIRST_RETRY = timedelta(seconds=5)
LONGEST_RETRY = timedelta(hours=1)
UNDELIVERABLE = timedelta(minutes=85)
"""What was tried and still waits after this time is undeliverable: with the back-off, after 11 attempts."""
KEEP_DELIVERED = timedelta(days=30)
SEND_DEADLINE = 20.0
"""Seconds that one delivery may take."""
MOST_COUNTED = 1000
"""How many notifications in one state are counted."""

ROW = "outbox:"
_DEAD = "outbox-dead:"
_HELD = "outbox-held:"
UNREADABLE = "outbox-unreadable:"
_WAITING = [lane for one in CHANNELS for lane in LANES[one]]
_LEFT: Mapping[Undelivered, Sequence[str]] = {"dead": [_DEAD], "held": [_HELD], "waiting": [*_WAITING, OF_ALL]}
"""The indexes of what is not delivered."""
_MOST_PUT_OFF = 16
"""How many of the rows that were put off furthest are looked at together."""


class Notification(Record):
    """One notification and its state. `due_at` is the time of the next attempt.

    `held_because` is a sentence. `dropped`: the owner decided that it is not sent.
    """

    id: Id
    channel: Channel
    to: PersonalText
    title: PersonalText
    body: PersonalText
    priority: Priority = "default"
    tags: tuple[Code, ...] = ()
    state: DeliveryState = "waiting"
    attempts: int = 0
    created_at: datetime
    due_at: datetime
    last_error: Sentence | None = None
    held_because: Sentence = ""
    dropped: bool = False
    language: Code = ""
    sender: Code = ""
    reply_to: Code = ""

    def message(self) -> OutgoingMessage:
        """Return the message for the notifier."""
        # An id may come again after a month, with another text.
        sequence = f"{self.id} {sortable(self.created_at)}"
        of_email = self.language, self.sender, self.reply_to
        return OutgoingMessage(
            self.id, self.title, self.body, self.to, self.priority, self.tags, sequence, *of_email
        )


@dataclass(frozen=True, slots=True)
class OutboxDraft:
    """A notification to be enqueued. `id` is stable: the same id is never enqueued twice while it is kept."""

    id: str
    channel: Channel
    title: str
    body: str
    to: str = ""
    priority: Priority = "default"
    tags: tuple[str, ...] = ()
    language: str = ""
    sender: str = ""
    reply_to: str = ""


def enqueue(drafts: Sequence[OutboxDraft], now: datetime, *, held_because: str = "") -> list[Write]:
    """Return the writes that enqueue `drafts`, for the commit of the change that they report.

    With a reason they are held back.
    """
    return [write for draft in drafts for write in stored(_row(draft, now, held_because))]


async def commit_with(
    store: Store, changes: Changes, drafts: Sequence[OutboxDraft], now: datetime, *, held_because: str = ""
) -> Committed | Conflict:
    """Commit `changes` with the notifications that report them, but for those whose ids are enqueued already.

    Such a one keeps its state: a restore took it over from the store that was replaced.
    """
    while True:
        enqueued = Changes(enqueue(drafts, now, held_because=held_because), unseen(drafts))
        outcome = await commit(store, changes + enqueued)
        if isinstance(outcome, Committed):
            return outcome
        known = {check.key for check in unseen(drafts)}.intersection(outcome.keys)
        if len(known) < len(outcome.keys):
            return outcome
        drafts = [draft for draft, check in zip(drafts, unseen(drafts), strict=True) if check.key not in known]


def unseen(drafts: Sequence[OutboxDraft]) -> list[Check]:
    """Return the checks that none of `drafts` was enqueued before."""
    return [Absent(f"{ROW}{draft.id}") for draft in drafts]


async def notify_once(store: Store, clock: Clock, draft: OutboxDraft) -> None:
    """Enqueue `draft` unless its id was enqueued before and is still kept.

    Each call extends how long a delivered notification is kept, so a fault that lasts causes only one.
    """
    rows = rows_of(store, clock)
    old = await rows.find(draft.id)
    if old is None:
        changes = rows.changes(draft.id, None, _row(draft, clock.now()))
    elif old.expires_at and old.expires_at - clock.now() < KEEP_DELIVERED / 2:
        changes = rows.changes(draft.id, old, old.record, renewed=True)
    else:
        return
    # A conflict means that another does the same at this moment, or that a row is there and cannot be read.
    _ = await commit(store, changes)


class Outbox:
    """Delivers the notifications that are due, and lists those that are stored."""

    def __init__(
        self, store: Store, clock: Clock, notifiers: Mapping[Channel, Notifier], quiet: QuietHours | None = None
    ) -> None:
        self._store = store
        self._clock = clock
        self._receivers: Mapping[Channel, Deduplication] = {
            channel: Deduplication(notifier, clock) for channel, notifier in notifiers.items()
        }
        self._rows = rows_of(store, clock)
        self._lanes = Lanes(store, clock, quiet)
        self._before: dict[Channel, tuple[int, set[str]]] = {}

    async def deliver_due(self, *channels: Channel, since: int = 0) -> int:
        """Try what is due on these channels, or on all; return how many were tried; raise the store's errors.

        The channels are independent, each the oldest first. A channel that failed pauses until the next call, so
        that a mail server that is down gets one request a second and not one for each message. `since` is the
        fencing token of the lease under which no other process delivers on them, 0 without one.
        """
        return sum(await together(*(self._deliver_all(one, since) for one in channels or CHANNELS)))

    async def _deliver_all(self, channel: Channel, since: int) -> int:
        receiver, count = self._receivers.get(channel), 0
        if receiver is None:  # it waits, untried, until its service is configured
            return 0
        receiver.begin(since)
        before = await self._waiting_before(channel, since)
        async for index in self._due(channel):
            if found := await self._behind(index):
                count += 1
                if not await self._deliver(found, receiver, may_be_tried=found.id in before):
                    break
        return count

    async def _waiting_before(self, channel: Channel, since: int) -> set[str]:
        """Return the ids of the rows that waited when the lease was taken: another process may have tried them."""
        token, before = self._before.get(channel, (0, set[str]()))
        if token != since:
            for left in (OF_ALL, _DEAD, _HELD, UNREADABLE):
                await index_again(self._rows, left)
            before = {id_in(index) async for index in self._lanes.waiting(LANES[channel])}
            self._before[channel] = since, before
        return before

    async def rows(self, state: DeliveryState | None = None, within: str = "") -> AsyncIterator[Notification]:
        """Yield every row that can be read, or those in `state`, by id, or those whose ids begin with `within`."""
        async for page in self._rows.pages(within):
            for row in page.records:
                if state in (None, row.record.state):
                    yield row.record

    async def undelivered(self, limit: int | None, *states: Undelivered) -> RecordPage[Notification]:
        """Return the rows in these states, or all that are not delivered, state by state; write nothing.

        What waits comes as it is due, and all else by id. At most `limit` of each index.
        """
        order = states or tuple(_LEFT)
        indexes = [*(index for state in order for index in _LEFT[state]), UNREADABLE]
        found = await behind(self._rows, indexes, lambda row: row.state in order, limit)
        rows = sorted(found.records, key=lambda row: (_due(row.record), row.record.id))
        return RecordPage([row for state in order for row in rows if row.record.state == state], found.unreadable)

    async def count(self, state: Undelivered) -> int:
        """Return how many rows are in `state`, at most `MOST_COUNTED`."""
        if state != "waiting":
            return len((await self.undelivered(MOST_COUNTED, state)).records[:MOST_COUNTED])
        found = [index for lane in _WAITING async for index in self._rows.entries(lane, limit=MOST_COUNTED)]
        return min(len(found), MOST_COUNTED)

    async def stuck(self) -> int:
        """Return how many are undeliverable, at most `MOST_COUNTED`, though their service is configured."""
        now = self._clock.now()
        lanes = [lane for one in self._receivers for lane in self._lanes.open(one)]
        return await self._lanes.stuck(sortable(now - UNDELIVERABLE), sortable(now + SLACK), MOST_COUNTED, lanes)

    def sends(self, channel: Channel) -> bool:
        """Return whether the service of a channel is configured: without it, messages wait untried."""
        return channel in self._receivers

    def quiet_until(self) -> datetime | None:
        return self._lanes.quiet_until()

    async def release(self, row_id: str) -> bool:
        """Make a held or dead row due now; return whether there was one; raise `RecordUnreadable`."""
        now = self._clock.now()
        return await self._change(row_id, lambda row: row.change(state="waiting", due_at=now, held_because=""))

    async def drop(self, row_id: str) -> bool:
        """Never send a held or dead row; return whether there was one; raise `RecordUnreadable`."""
        return await self._change(row_id, lambda row: row.change(state="delivered", dropped=True))

    async def _due(self, channel: Channel) -> AsyncIterator[StoreEntry]:
        for lane in self._lanes.open(channel):
            await self._bring_forward(lane)
            async for index in self._lanes.due(lane):
                yield index

    async def _bring_forward(self, lane: str) -> None:
        """Make due now what was put off further than any wait is long: that was before the clock was put back.

        What was never put off waits for nothing: a node whose clock is ahead has written it.
        """
        untried, latest = (sortable(self._clock.now() + one + SLACK) for one in (timedelta(0), LONGEST_RETRY))
        while True:
            newest = self._rows.entries(lane, limit=_MOST_PUT_OFF, newest_first=True)
            lanes = [(index, LaneTimes.of(index)) async for index in newest]
            ahead = [index for index, at in lanes if at.due > (untried if at.due == at.came else latest)]
            for index in ahead:
                if found := await self._behind(index):
                    await self._replace(found, found.record.change(due_at=self._clock.now()))
            if len(ahead) < _MOST_PUT_OFF:
                return

    async def _behind(self, index: StoreEntry) -> StoredRecord[Notification] | None:
        """Return the row that an index entry leads to; put an entry that leads to none out of the way."""
        row_id = id_in(index)
        writes: list[Write] = [Delete(index.key)]
        try:
            found = await self._rows.get(row_id)
        except RecordUnreadable:
            log.error("notification cannot be read", id=row_id)  # noqa: TRY400  the error adds nothing to that
            writes.append(Put(f"{UNREADABLE}{row_id}", index.value))
        else:
            if found and index.key in index_of(found.record):
                return found
        outcome = await commit(self._store, Changes(writes, [Unchanged(index.key, index.version)]))
        if isinstance(outcome, Conflict):
            log.info("the index of notifications changed meanwhile", id=row_id)
        return None

    async def _deliver(
        self, old: StoredRecord[Notification], receiver: Deduplication, *, may_be_tried: bool
    ) -> bool:
        """Try one row; return whether its channel works."""
        row, message = old.record, old.record.message()
        # Every change of a row that waits makes it due at another time.
        untried = not may_be_tried and row.due_at == row.created_at
        try:
            async with asyncio.timeout(SEND_DEADLINE):
                await receiver.send(message, row.created_at, untried=untried)
        except DeliveryFailed as error:
            await self._failed(old, str(error), permanent=error.permanent)
            return error.permanent
        except TimeoutError:
            await self._failed(old, f"No answer within {SEND_DEADLINE:g} s.")
            return False
        except Exception as error:  # a bug in one notifier must stop neither the other nor the rows behind
            log.exception("notifier crashed", id=row.id, channel=row.channel)
            await self._failed(old, f"Unexpected {type(error).__name__}.")
            return False
        done = row.change(state="delivered", attempts=row.attempts + 1, last_error=None)
        await self._replace(old, done)
        receiver.marked(message)
        log.info("notification delivered", id=row.id, channel=row.channel, attempts=done.attempts)
        return True

    async def _failed(self, old: StoredRecord[Notification], reason: str, *, permanent: bool = False) -> None:
        row, now, attempts = old.record, self._clock.now(), old.record.attempts + 1
        due = now + min(LONGEST_RETRY, FIRST_RETRY * 2 ** min(attempts - 1, 16))
        state: DeliveryState = "dead" if permanent else "waiting"
        failed = row.change(state=state, attempts=attempts, due_at=due, last_error=reason)
        await self._replace(old, failed)
        log.warning("notification not accepted", id=row.id, channel=row.channel, attempts=attempts, state=state)

    async def _replace(self, old: StoredRecord[Notification], new: Notification, *more: Write) -> None:
        """Replace a row that was tried, unless it has changed meanwhile: that change then stays."""
        outcome = await commit(self._store, self._rows.changes(old.id, old, new) + Changes(more))
        if isinstance(outcome, Conflict):
            log.info("notification changed while it was sent", id=old.id, channel=old.record.channel)

    async def _change(self, row_id: str, change: Callable[[Notification], Notification]) -> bool:
        """Change a held or dead row; return whether there was one."""

        async def attempt() -> bool | Conflict:
            old = await self._rows.get(row_id)
            if old is None or old.record.state not in ("held", "dead"):
                return False
            outcome = await commit(self._store, self._rows.changes(row_id, old, change(old.record)))
            return outcome if isinstance(outcome, Conflict) else True

        return await compare_and_set(attempt, f"The notification {row_id} changes all the time; nothing was done.")


def rows_of(store: Store, clock: Clock) -> Collection[Notification]:
    """Return the notifications of a store, unsent and sent."""
    return Collection(store, clock, Notification, ROW, index_of, life=_life)


def _row(draft: OutboxDraft, now: datetime, held_because: str = "") -> Notification:
    return Notification(
        **{one.name: getattr(draft, one.name) for one in fields(draft)},  # asdict copies deeply, in 12 µs
        state="held" if held_because else "waiting",
        created_at=now,
        due_at=now,
        held_because=held_because,
    )


def stored(row: Notification, life: timedelta | None = None) -> list[Write]:
    """Return the writes that store a row over whatever is there, with its index."""
    return [Put(f"{ROW}{row.id}", row.to_bytes(), life), *(Put(key, row.id.encode()) for key in index_of(row))]


def _due(row: Notification) -> str:
    return sortable(row.due_at) if row.state == "waiting" else ""


def index_of(row: Notification) -> Iterable[str]:
    """Return the keys by which a row is found, unless it is delivered."""
    match row.state:
        case "waiting":
            return [key(row.channel, row.priority, row.due_at, row.created_at, row.id)]
        case "held":
            return [f"{_HELD}{row.id}"]
        case "dead":
            return [f"{_DEAD}{row.id}"]
        case "delivered":
            return []


def _life(row: Notification) -> timedelta | None:
    return KEEP_DELIVERED if row.state == "delivered" else None
