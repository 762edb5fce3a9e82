"""Notifications that are never lost (decision 12).

A message is enqueued in the same commit as the change that it reports; a worker delivers it, with back-off, until
it is accepted. Each channel sends one message at a time, and marks it before it begins the next: a crash between
sending and marking repeats one push and one e-mail at most, and loses none.

    waiting ──accepted──▶ delivered (kept 30 days)
       │ └───refused───▶ dead (kept until the owner looks)
    held ──released──▶ waiting
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

import structlog

from orrery.errors import DeliveryFailed, RecordUnreadable
from orrery.ports.clock import Clock
from orrery.ports.notifier import Message, Notifier, Priority
from orrery.ports.store import MINIMUM_TTL, Absent, Check, Conflict, Delete, Entry, Put, Store, Unchanged, Write
from orrery.record import Record
from orrery.runtime.collection import Changes, Collection, Stored, commit, compare_and_set, parse, sortable
from orrery.runtime.tasks import together

Channel = Literal["push", "email"]
CHANNELS: tuple[Channel, ...] = ("push", "email")
DeliveryState = Literal["waiting", "held", "delivered", "dead"]

FIRST_RETRY = timedelta(seconds=5)
LONGEST_RETRY = timedelta(hours=1)
MANY = 11
"""After this many failed attempts a notification counts as undeliverable: with the back-off, after 85 minutes."""
KEEP_DELIVERED = timedelta(days=30)
SEND_DEADLINE = 20.0
"""Seconds that one delivery may take."""
MOST_COUNTED = 1000
"""How many notifications in one state are counted."""

ROW = "outbox:"
_DUE = "outbox-due:"
_DEAD = "outbox-dead:"
_HELD = "outbox-held:"
_UNREADABLE = "outbox-unreadable:"
_MOST_PUT_OFF = 16
"""How many of the rows that were put off furthest are looked at in one call."""

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
    state: DeliveryState = "waiting"
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
    return [write for draft in drafts for write in _stored(_row(draft, now, "held" if held else "waiting"))]


def unseen(drafts: Sequence[Draft]) -> list[Check]:
    """Return the checks that none of `drafts` was enqueued before."""
    return [Absent(f"{ROW}{draft.id}") for draft in drafts]


async def tell_once(store: Store, clock: Clock, draft: Draft) -> None:
    """Enqueue `draft` unless its id was enqueued before and is still kept.

    Each call extends how long a delivered notification is kept, so a fault that lasts causes only one.
    """
    rows = _rows(store, clock)
    old = await rows.find(draft.id)
    if old is None:
        changes = rows.changes(draft.id, None, _row(draft, clock.now(), "waiting"))
    elif old.expires_at and old.expires_at - clock.now() < KEEP_DELIVERED / 2:
        changes = rows.changes(draft.id, old, old.record, anew=True)
    else:
        return
    # A conflict means that another does the same at this moment, or that a row is there and cannot be read.
    _ = await commit(store, changes)


def is_email(entry: Entry) -> bool:
    """Return whether an entry is an e-mail; one that cannot be read counts as none."""
    row = parse(Row, entry.value)
    return row is not None and row.channel == "email"


def removed(entry: Entry) -> list[Write]:
    """Return the writes that remove a stored notification in any state, with its index.

    The index of an unreadable one is not known; it is removed when the outbox next follows it.
    """
    row = parse(Row, entry.value)
    index = _index(row) if row else [f"{_UNREADABLE}{entry.key.removeprefix(ROW)}"]
    return [Delete(key) for key in (entry.key, *index)]


def reworded(entry: Entry, change: Callable[[str], str], now: datetime) -> list[Write]:
    """Return the writes that change the id and the texts of a notification; none for one that cannot be read."""
    row = parse(Row, entry.value)
    if row is None:
        return []
    changed = row.change(id=change(row.id), title=change(row.title), body=change(row.body))
    writes = _stored(changed, max(entry.expires_at - now, MINIMUM_TTL) if entry.expires_at else None)
    written = {write.key for write in writes}
    return [*(Delete(key) for key in (entry.key, *_index(row)) if key not in written), *writes]


class Outbox:
    """Delivers the notifications that are due, and lists those that are stored."""

    def __init__(self, store: Store, clock: Clock, notifiers: Mapping[Channel, Notifier]) -> None:
        self._store = store
        self._clock = clock
        self._notifiers = notifiers
        self._rows = _rows(store, clock)
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
            if self._channels.get(row_id, channel) == channel and (found := await self._behind(index)):
                self._channels[row_id] = found.record.channel
                if found.record.channel == channel:
                    count += 1
                    if not await self._deliver(found):
                        return count
        # In a long queue a row of the other channel is not read again once a second.
        self._channels = {one: kept for one, kept in self._channels.items() if one in seen}
        return count

    async def rows(self, state: DeliveryState | None = None) -> AsyncIterator[Row]:
        """Yield every row that can be read, or those in `state`, by id."""
        async for page in self._rows.pages():
            for row in page.records:
                if state in (None, row.record.state):
                    yield row.record

    async def unreadable(self) -> list[RecordUnreadable]:
        """Return why rows cannot be read, one for each."""
        return [one async for page in self._rows.pages() for one in page.unreadable]

    async def dead(self, limit: int) -> list[Row]:
        """Return at most `limit` rows that were refused permanently."""
        return await self._indexed(_DEAD, limit)

    async def count(self, state: Literal["waiting", "held", "dead", "unreadable"]) -> int:
        """Return how many rows are in `state`, at most `MOST_COUNTED`."""
        prefix = {"waiting": _DUE, "held": _HELD, "dead": _DEAD, "unreadable": _UNREADABLE}[state]
        if state in ("held", "dead"):
            return len(await self._indexed(prefix, MOST_COUNTED))
        return len([index async for index in self._rows.entries(prefix, limit=MOST_COUNTED)])

    async def stuck(self) -> int:
        """Return how many of the next 100 were tried `MANY` times by a service that is configured."""
        rows = await self._indexed(_DUE, 100)
        return sum(row.attempts >= MANY and row.channel in self._notifiers for row in rows)

    async def release(self, row_id: str) -> bool:
        """Make a held or dead row due now; return whether there was one; raise `RecordUnreadable`."""
        return await self._change(row_id, lambda row: row.change(state="waiting", due_at=self._clock.now()))

    async def drop(self, row_id: str) -> bool:
        """Remove a held or dead row permanently; return whether there was one; raise `RecordUnreadable`."""
        return await self._change(row_id, lambda _: None)

    async def hold_all(self) -> int:
        """Hold back everything that waits (after a restore); return how many rows that were."""
        waiting = [row.id async for row in self.rows("waiting")]
        for row_id in waiting:
            _ = await self._rows.update(row_id, _held)
        return len(waiting)

    async def _due(self) -> AsyncIterator[Entry]:
        """Yield the index of what is due, oldest first; then of what was put off further than any wait is long.

        That was noted before the clock was put back.
        """
        async for index in self._rows.entries(_DUE):
            if _due_at(index) > sortable(self._clock.now()):
                break
            yield index
        latest = sortable(self._clock.now() + 2 * LONGEST_RETRY)
        async for index in self._rows.entries(_DUE, limit=_MOST_PUT_OFF, newest_first=True):
            if _due_at(index) > latest:
                yield index

    async def _indexed(self, prefix: str, limit: int) -> list[Row]:
        found = [await self._behind(index) async for index in self._rows.entries(prefix, limit=limit)]
        return [one.record for one in found if one]

    async def _behind(self, index: Entry) -> Stored[Row] | None:
        """Return the row that an index entry leads to; put an entry that leads to none out of the way."""
        row_id = index.value.decode(errors="replace")
        writes: list[Write] = [Delete(index.key)]
        try:
            found = await self._rows.get(row_id)
        except RecordUnreadable:
            log.error("notification cannot be read", id=row_id)  # noqa: TRY400  the error says no more than that
            writes.append(Put(f"{_UNREADABLE}{row_id}", index.value))
        else:
            if found and index.key in _index(found.record):
                return found
        outcome = await commit(self._store, Changes(writes, [Unchanged(index.key, index.version)]))
        if isinstance(outcome, Conflict):
            log.info("the index of notifications changed meanwhile", id=row_id)
        return None

    async def _deliver(self, old: Stored[Row]) -> bool:
        """Try one row; return whether its channel works."""
        row = old.record
        try:
            async with asyncio.timeout(SEND_DEADLINE):
                await self._notifier(row.channel).send(row.message())
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
        log.info("notification delivered", id=row.id, channel=row.channel, attempts=done.attempts)
        return True

    def _notifier(self, channel: Channel) -> Notifier:
        notifier = self._notifiers.get(channel)
        if notifier is None:
            raise DeliveryFailed(f"No {channel} service is configured.", permanent=False)
        return notifier

    async def _failed(self, old: Stored[Row], reason: str, *, permanent: bool = False) -> None:
        row, now, attempts = old.record, self._clock.now(), old.record.attempts + 1
        due = now + min(LONGEST_RETRY, FIRST_RETRY * 2 ** min(attempts - 1, 16))
        state: DeliveryState = "dead" if permanent else "waiting"
        drafts = [_dead_letter(row, reason)] if permanent and row.channel != "push" else []
        failed = row.change(state=state, attempts=attempts, due_at=due, last_error=reason)
        await self._replace(old, failed, enqueue(drafts, now))
        log.warning("notification not accepted", id=row.id, channel=row.channel, attempts=attempts, state=state)

    async def _replace(self, old: Stored[Row], new: Row, more: Sequence[Write] = ()) -> None:
        """Replace a row that was tried, unless it has changed meanwhile: what was made of it then stands."""
        outcome = await commit(self._store, self._rows.changes(old.id, old, new) + Changes(more))
        if isinstance(outcome, Conflict):
            log.info("notification changed while it was sent", id=old.id, channel=old.record.channel)

    async def _change(self, row_id: str, change: Callable[[Row], Row | None]) -> bool:
        """Change a held or dead row, or remove it (None); return whether there was one."""

        async def attempt() -> bool | Conflict:
            old = await self._rows.get(row_id)
            if old is None or old.record.state not in ("held", "dead"):
                return False
            outcome = await commit(self._store, self._rows.changes(row_id, old, change(old.record)))
            return outcome if isinstance(outcome, Conflict) else True

        return await compare_and_set(attempt, f"The notification {row_id} changes all the time; nothing was done.")


def _rows(store: Store, clock: Clock) -> Collection[Row]:
    return Collection(store, clock, Row, ROW, _index, _life)


def _row(draft: Draft, now: datetime, state: DeliveryState) -> Row:
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


def _held(row: Row) -> Row:
    return row.change(state="held") if row.state == "waiting" else row


def _stored(row: Row, life: timedelta | None = None) -> list[Write]:
    """Return the writes that store a row over whatever is there, with its index."""
    return [Put(f"{ROW}{row.id}", row.to_bytes(), life), *(Put(key, row.id.encode()) for key in _index(row))]


def _index(row: Row) -> Iterable[str]:
    """Return the key by which a row is found, unless it is delivered."""
    prefixes = {"waiting": f"{_DUE}{sortable(row.due_at)}:", "held": _HELD, "dead": _DEAD}
    return [f"{prefixes[row.state]}{row.id}"] if row.state in prefixes else []


def _life(row: Row) -> timedelta | None:
    return KEEP_DELIVERED if row.state == "delivered" else None


def _due_at(index: Entry) -> str:
    return index.key.removeprefix(_DUE).partition(":")[0]


def _dead_letter(row: Row, reason: str) -> Draft:
    return Draft(
        id=f"dead-{row.id}",
        channel="push",
        title="A notification cannot be delivered",
        body=f"{row.channel} {row.id} was refused: {reason} See `orrery notifications list --state dead`.",
        priority="high",
        tags=("warning",),
    )
