"""Notifications that are never lost (decision 12).

A message is enqueued in the same commit as the change that it reports; a worker delivers it, with back-off, until
it is accepted. Each channel sends one message at a time, and marks it before it begins the next: a crash between
sending and marking repeats one push and one e-mail at most, and loses none.

    waiting ──accepted──▶ delivered (kept 30 days)
       │ └───refused───▶ dead (kept until the owner looks)
    held ──released──▶ waiting
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

import structlog

from orrery.errors import DeliveryFailed, RecordUnreadable
from orrery.owner.stored import parted, read, readable, tried
from orrery.owner.tasks import together
from orrery.ports.clock import Clock
from orrery.ports.notifier import Message, Notifier, Priority
from orrery.ports.store import (
    MINIMUM_TTL,
    Absent,
    Check,
    Committed,
    Conflict,
    Delete,
    Entry,
    Put,
    Store,
    Unchanged,
    Write,
)
from orrery.record import Record
from orrery.runtime.collection import write

Channel = Literal["push", "email"]
CHANNELS: tuple[Channel, ...] = ("push", "email")
State = Literal["waiting", "held", "delivered", "dead"]

FIRST_RETRY = timedelta(seconds=5)
LONGEST_RETRY = timedelta(hours=1)
MANY = 11
"""After this many failed attempts a notification counts as undeliverable: with the back-off, after 85 minutes."""
KEEP_DELIVERED = timedelta(days=30)
SEND_DEADLINE = 20.0
"""Seconds that one delivery may take."""
PAGE = 16
"""How many entries of the index are read at a time."""

ROW = "outbox:"
_DUE = "outbox-due:"
_DEAD = "outbox-dead:"
_HELD = "outbox-held:"
_UNREADABLE = "outbox-unreadable:"

log = structlog.get_logger()


class Row(Record):
    """One notification and its state. `due_at` is the time of the next attempt."""

    v: Literal[1] = 1
    id: str
    channel: Channel
    to: str
    title: str
    body: str
    priority: Priority = "default"
    tags: tuple[str, ...] = ()
    state: State = "waiting"
    attempts: int = 0
    created_at: datetime
    due_at: datetime
    last_error: str | None = None

    def message(self) -> Message:
        """Return the message for the notifier."""
        return Message(self.id, self.title, self.body, self.to, self.priority, self.tags)


@dataclass(frozen=True, slots=True)
class Draft:
    """A notification to be enqueued. `id` is stable: the same id is never enqueued twice while it is kept."""

    id: str
    channel: Channel
    title: str
    body: str
    to: str = ""
    priority: Priority = "default"
    tags: tuple[str, ...] = ()


def enqueue(drafts: Sequence[Draft], now: datetime, *, held: bool = False) -> list[Write]:
    """Return the writes that enqueue `drafts`, for the commit of the change that they report."""
    rows = [_row(draft, now, "held" if held else "waiting") for draft in drafts]
    return [write for row in rows for write in _stored(row)]


def unseen(drafts: Sequence[Draft]) -> list[Check]:
    """Return the checks that none of `drafts` was enqueued before."""
    return [Absent(_row_key(draft.id)) for draft in drafts]


async def tell_once(store: Store, draft: Draft, now: datetime) -> None:
    """Enqueue `draft` unless its id was enqueued before and is still kept.

    Each call extends how long a delivered notification is kept, so a fault that lasts causes only one.
    """
    entry = await store.get(_row_key(draft.id))
    # A conflict means that another does the same at this moment.
    if entry is None:
        _ = await store.commit(enqueue([draft], now), unseen([draft]))
    elif entry.expires_at and entry.expires_at - now < KEEP_DELIVERED / 2:
        kept_on = Put(entry.key, entry.value, KEEP_DELIVERED)
        _ = await store.commit([kept_on], [Unchanged(entry.key, entry.version)])


def is_email(entry: Entry) -> bool:
    """Return whether an entry is an e-mail; one that cannot be read counts as none."""
    row = readable(Row, entry)
    return row is not None and row.channel == "email"


def removed(entry: Entry) -> list[Write]:
    """Return the writes that remove a stored notification in any state, with its index.

    The index of an unreadable one is not known; it is removed when the outbox next follows it.
    """
    row = readable(Row, entry)
    row_id = entry.key.removeprefix(ROW)
    return _replaced(row, []) if row else [Delete(entry.key), Delete(f"{_UNREADABLE}{row_id}")]


def reworded(entry: Entry, change: Callable[[str], str], now: datetime) -> list[Write]:
    """Return the writes that change the id and the texts of a notification; none for one that cannot be read."""
    row = readable(Row, entry)
    if row is None:
        return []
    changed = row.change(id=change(row.id), title=change(row.title), body=change(row.body))
    if entry.expires_at is None:
        return _replaced(row, _stored(changed))
    left = max(entry.expires_at - now, MINIMUM_TTL)
    return _replaced(row, [Put(_row_key(changed.id), _json(changed), left)])


class Outbox:
    """Delivers the notifications that are due, and lists those that are stored."""

    def __init__(self, store: Store, clock: Clock, notifiers: Mapping[Channel, Notifier]) -> None:
        self._store = store
        self._clock = clock
        self._notifiers = notifiers
        self._channels: dict[str, Channel] = {}

    async def deliver_due(self, *channels: Channel) -> int:
        """Try what is due on these channels, or on all; return how many were tried; raise the store's errors.

        The channels are independent, each the oldest first. A channel that failed pauses until the next call, so
        that a mail server that is down gets one request a second and not one for each message.
        """
        return sum(await together(*map(self._deliver_all, channels or CHANNELS)))

    async def _deliver_all(self, channel: Channel) -> int:
        count, seen = 0, set[str]()
        async for index in self._due():
            row_id = index.value.decode(errors="replace")
            seen.add(row_id)
            if self._channels.get(row_id, channel) == channel and (found := await self._indexed(index)):
                self._channels[row_id] = found[1].channel
                if found[1].channel == channel:
                    count += 1
                    if not await self._deliver(*found):
                        return count
        # In a long queue a row of the other channel is not read again once a second.
        self._channels = {one: kept for one, kept in self._channels.items() if one in seen}
        return count

    async def rows(self, state: State | None = None) -> AsyncIterator[Row]:
        """Yield every row that can be read, or those in `state`, by id."""
        after = None
        while page := await self._store.scan(ROW, after=after):
            after = page[-1].key
            for entry in page:
                row = readable(Row, entry)
                if row and state in (None, row.state):
                    yield row

    async def unreadable(self) -> list[RecordUnreadable]:
        """Return why rows cannot be read, one for each."""
        found: list[RecordUnreadable] = []
        after = None
        while page := await self._store.scan(ROW, after=after):
            after = page[-1].key
            found += parted(tried(Row, entry) for entry in page)[1]
        return found

    async def dead(self, limit: int) -> list[Row]:
        """Return at most `limit` rows that were refused permanently."""
        found = [await self._indexed(index) for index in await self._store.scan(_DEAD, limit=limit)]
        return [row for _, row in filter(None, found)]

    async def count(self, state: Literal["waiting", "held", "dead", "unreadable"]) -> int:
        """Return how many rows are in `state`, at most 1,000."""
        prefix = {"waiting": _DUE, "held": _HELD, "dead": _DEAD, "unreadable": _UNREADABLE}[state]
        indexed = await self._store.scan(prefix, limit=1000)
        if state in ("held", "dead"):
            return sum([await self._indexed(entry) is not None for entry in indexed])
        return len(indexed)

    async def stuck(self) -> int:
        """Return how many of the next 100 were tried `MANY` times by a service that is configured."""
        found = [await self._indexed(index) for index in await self._store.scan(_DUE, limit=100)]
        return sum(row.attempts >= MANY and row.channel in self._notifiers for _, row in filter(None, found))

    async def release(self, row_id: str) -> bool:
        """Make a held or dead row due now; return whether there was one; raise `RecordUnreadable`."""
        return await self._change(row_id, "waiting")

    async def drop(self, row_id: str) -> bool:
        """Remove a held or dead row permanently; return whether there was one; raise `RecordUnreadable`."""
        return await self._change(row_id, None)

    async def hold_all(self) -> int:
        """Hold back everything that waits (after a restore); return how many rows that were."""
        waiting = [row async for row in self.rows("waiting")]
        for row in waiting:
            await write(self._store, _replaced(row, _stored(row.change(state="held"))))
        return len(waiting)

    async def _due(self) -> AsyncIterator[Entry]:
        """Yield the index of what is due, oldest first; then of what was put off further than any wait is long.

        That was noted before the clock was put back.
        """
        after = None
        while indexed := await self._store.scan(_DUE, after=after, limit=PAGE):
            after = indexed[-1].key
            for entry in indexed:
                if _due_at(entry) <= _stamp(self._clock.now()):
                    yield entry
            if _due_at(indexed[-1]) > _stamp(self._clock.now()):
                break
        latest = _stamp(self._clock.now() + 2 * LONGEST_RETRY)
        for entry in await self._store.scan(_DUE, limit=PAGE, reverse=True):
            if _due_at(entry) > latest:
                yield entry

    async def _indexed(self, index: Entry) -> tuple[Entry, Row] | None:
        """Return the row that an index entry leads to; put an entry that leads to none out of the way."""
        row_id = index.value.decode(errors="replace")
        entry = await self._store.get(_row_key(row_id))
        row = readable(Row, entry)
        if entry and row and _index_key(row) == index.key:
            return entry, row
        writes: list[Write] = [Delete(index.key)]
        if entry and not row:
            log.error("notification cannot be read", id=row_id)
            writes.append(Put(f"{_UNREADABLE}{row_id}", index.value))
        if isinstance(await self._store.commit(writes, [Unchanged(index.key, index.version)]), Conflict):
            log.info("the index of notifications changed meanwhile", id=row_id)
        return None

    async def _deliver(self, entry: Entry, row: Row) -> bool:
        """Try one row; return whether its channel works."""
        try:
            async with asyncio.timeout(SEND_DEADLINE):
                await self._notifier(row.channel).send(row.message())
        except DeliveryFailed as error:
            await self._failed(entry, row, str(error), permanent=error.permanent)
            return error.permanent
        except TimeoutError:
            await self._failed(entry, row, f"No answer within {SEND_DEADLINE:g} s.", permanent=False)
            return False
        except Exception as error:  # a bug in one notifier must stop neither the other nor the rows behind
            log.exception("notifier crashed", id=row.id, channel=row.channel)
            await self._failed(entry, row, f"Unexpected {type(error).__name__}.", permanent=False)
            return False
        done = row.change(state="delivered", attempts=row.attempts + 1, last_error=None)
        if not await self._replace(entry, row, [Put(_row_key(row.id), _json(done), KEEP_DELIVERED)]):
            log.info("notification changed while it was sent", id=row.id, channel=row.channel)
        log.info("notification delivered", id=row.id, channel=row.channel, attempts=done.attempts)
        return True

    def _notifier(self, channel: Channel) -> Notifier:
        notifier = self._notifiers.get(channel)
        if notifier is None:
            raise DeliveryFailed(f"No {channel} service is configured.", permanent=False)
        return notifier

    async def _failed(self, entry: Entry, row: Row, reason: str, *, permanent: bool) -> None:
        attempts = row.attempts + 1
        due = self._clock.now() + min(LONGEST_RETRY, FIRST_RETRY * 2 ** min(attempts - 1, 16))
        state: State = "dead" if permanent else "waiting"
        writes = _stored(row.change(state=state, attempts=attempts, due_at=due, last_error=reason))
        if permanent and row.channel != "push":
            writes += enqueue([_dead_letter(row, reason)], self._clock.now())
        if not await self._replace(entry, row, writes):
            log.info("notification changed while it was sent", id=row.id, channel=row.channel)
        log.warning("notification not accepted", id=row.id, channel=row.channel, attempts=attempts, state=state)

    async def _replace(self, entry: Entry, row: Row, writes: list[Write]) -> bool:
        """Return whether the row was replaced: not when it has changed since it was read."""
        outcome = await self._store.commit(_replaced(row, writes), [Unchanged(entry.key, entry.version)])
        return isinstance(outcome, Committed)

    async def _change(self, row_id: str, state: State | None) -> bool:
        while True:
            entry = await self._store.get(_row_key(row_id))
            row = read(Row, entry) if entry else None
            if entry is None or row is None or row.state not in ("held", "dead"):
                return False
            changed = _stored(row.change(state=state, due_at=self._clock.now())) if state else []
            if await self._replace(entry, row, changed):
                return True


def _row(draft: Draft, now: datetime, state: State) -> Row:
    return Row(
        id=draft.id,
        channel=draft.channel,
        to=draft.to,
        title=draft.title,
        body=draft.body,
        priority=draft.priority,
        tags=draft.tags,
        state=state,
        created_at=now,
        due_at=now,
    )


def _stored(row: Row) -> list[Write]:
    return [Put(_row_key(row.id), _json(row)), Put(_index_key(row), row.id.encode())]


def _replaced(row: Row, writes: list[Write]) -> list[Write]:
    written = {write.key for write in writes}
    old = [key for key in (_row_key(row.id), _index_key(row)) if key not in written]
    return [*(Delete(key) for key in old), *writes]


def _row_key(row_id: str) -> str:
    return f"{ROW}{row_id}"


def _index_key(row: Row) -> str:
    if row.state == "waiting":
        return f"{_DUE}{_stamp(row.due_at)}:{row.id}"
    return f"{_DEAD if row.state == 'dead' else _HELD}{row.id}"


def _due_at(index: Entry) -> str:
    return index.key.removeprefix(_DUE).partition(":")[0]


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y%m%dT%H%M%S.%fZ")


def _json(row: Row) -> bytes:
    return row.to_bytes()


def _dead_letter(row: Row, reason: str) -> Draft:
    return Draft(
        id=f"dead-{row.id}",
        channel="push",
        title="A notification cannot be delivered",
        body=f"{row.channel} {row.id} was refused: {reason} See `orrery notifications list --state dead`.",
        priority="high",
        tags=("warning",),
    )
