"""What one mailbox held when it was last read, and how reading it goes.

A mailbox that hangs, throttles or answers half never empties the list: what was there stays, with the reason.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from traceback import extract_tb
from typing import Literal

from orrery.cockpit.rows import CockpitRow, newest_first, row_of
from orrery.errors import OrreryError
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.comms.errors import MailboxError, MailboxUnreachable, SignInNeeded
from orrery.ports.comms.mailboxes import Mailbox, MessageBatch
from orrery.ports.comms.messages import Person, Priority, Source
from orrery.runtime.single_flight import SingleFlight
from orrery.runtime.tasks import Tasks
from orrery.syntax.track import label

BATCH_SECONDS = 30.0
"""How long a mailbox may take for its next batch: longer than its own deadline for one answer."""

LATE = timedelta(seconds=3)
"""How long a mailbox may take until its rows are called stale: a refresh waits as long (see `Comms.pulse`)."""

GROWTH = 1.2
"""By how much the rows of a first reading grow until they are shown again: sorting each batch costs too much."""

Key = str | tuple[Source, str]

InboxState = Literal["loading", "fresh", "stale", "failed", "sign-in-needed"]
"""`stale`: the rows of before are there, and a reason. `failed`: a reason, and nothing was ever read."""


class Inbox:
    """The rows of one mailbox.

    `at` is when it was last read to its end, `asked_at` when it was asked for what it has not answered yet, and
    `error` why the last reading failed. `written_to` are the people to whom its owner wrote.
    """

    def __init__(
        self,
        mailbox: Mailbox,
        clock: Clock,
        tasks: Tasks,
        scores: Mapping[Priority, int],
        watched: frozenset[str] = frozenset(),
        *,
        batch_seconds: float = BATCH_SECONDS,
    ) -> None:
        self.mailbox = mailbox
        self.rows: Sequence[CockpitRow] = ()
        self.at: datetime | None = None
        self.asked_at: datetime | None = None
        self.unreadable = 0
        self.written_to: Sequence[Person] = ()
        self.error: OrreryError | None = None
        self._clock = clock
        self._scores = scores
        self._watched = watched
        self._batch_seconds = batch_seconds
        self._began = 0.0
        self._by_id: dict[Key, CockpitRow] = {}
        self._reading = SingleFlight(tasks, self._read)

    async def read(self) -> None:
        """Read the mailbox, once for all callers at the same time; `state` and `why` hold what went wrong."""
        await self._reading.join()

    @property
    def state(self) -> InboxState:
        """How the rows are."""
        if isinstance(self.error, SignInNeeded):
            return "sign-in-needed"
        if self.error:
            return "stale" if self._by_id else "failed"
        if self.at is not None and self._is_late():
            return "stale"
        return "loading" if self.at is None else "fresh"

    @property
    def why(self) -> str:
        """The reason of a state other than fresh."""
        if self.error:
            return str(self.error)
        is_filling = self.at is None and bool(self._by_id)
        return "It was asked, and has not answered yet." if self._is_late() and not is_filling else ""

    def refuse(self, error: OrreryError) -> None:
        """Show why a sign-in did not succeed, until the mailbox is read."""
        self.error = error

    def welcome(self) -> None:
        """Ask for no sign-in any more: one has succeeded, and reading a large mailbox takes minutes."""
        self.error = None

    def find(self, source: Source, source_id: str) -> CockpitRow | None:
        """Return a row of this mailbox by its source's id."""
        return self._by_id.get(_key(source, source_id))

    def _is_late(self) -> bool:
        """Return whether it was asked and takes long: by then a refresh has answered without it."""
        return self.asked_at is not None and self._clock.monotonic() - self._began >= LATE.total_seconds()

    async def _read(self) -> None:
        before, found = self._by_id, dict[Key, CockpitRow]()
        unreadable, whose = 0, label(self.mailbox.track)
        written_to = list[Person]()
        self.asked_at, self._began = self._clock.now(), self._clock.monotonic()
        try:
            async for batch in self._batches():
                unreadable += batch.unreadable
                written_to += batch.written_to
                unreadable += self._add(batch, before, found)
                for one in (
                    [key for key, row in found.items() if row.message.source_id in batch.gone]
                    if batch.gone
                    else ()
                ):
                    del found[one]
                if self.at is None and len(found) > len(self.rows) * GROWTH:
                    self._show(before | found)
        except OrreryError as error:
            self.error = error
            log.warning("mailbox not read", track=whose, kind=type(error).__name__, why=str(error))
            self._show(_kept(before, error) | found)
        except Exception as error:  # noqa: BLE001  a bug in one mailbox must not empty the list of the others
            self.error = OrreryError(f"The mailbox could not be read: unexpected {type(error).__name__}.")
            # Its own words may quote a message: the places in the code do not.
            where = [f"{one.filename}:{one.lineno}" for one in extract_tb(error.__traceback__)]
            log.error("mailbox crashed", track=whose, kind=type(error).__name__, where=where[-5:])  # noqa: TRY400  it has more than that
            self._show(before | found)
        else:
            self.error, self.at, self.unreadable = None, self._clock.now(), unreadable
            self.written_to = written_to
            self._show(found)
        finally:
            self.asked_at = None

    def _add(self, batch: MessageBatch, before: Mapping[Key, CockpitRow], found: dict[Key, CockpitRow]) -> int:
        """Add the rows of a batch; return how many of its messages no calendar can date.

        The row of a message that is as before is the row of before: most are at each reading.
        """
        left_out = 0
        for message in batch.messages:
            key = _key(message.source, message.source_id)
            old = before.get(key)
            if old is not None and old.message == message:
                found[key] = old
                continue
            try:
                score, whose = self._scores[message.priority], self.mailbox
                row = row_of(whose.track, whose.account, message, score, watched=self._watched)
            except (ValueError, OverflowError):
                left_out += 1
            else:
                found[key] = row
        return left_out

    async def _batches(self) -> AsyncGenerator[MessageBatch]:
        """Yield the batches of one reading; raise `MailboxUnreachable` when the next one does not come."""
        async with aclosing(self.mailbox.messages()) as batches:
            while True:
                try:
                    async with asyncio.timeout(self._batch_seconds):
                        batch = await anext(batches, None)
                except TimeoutError:
                    raise MailboxUnreachable(f"It gave no answer for {self._batch_seconds:g} s.") from None
                if batch is None:
                    return
                yield batch
                await self._clock.sleep(0)  # others go on, however fast the mailbox answers

    def _show(self, found: dict[Key, CockpitRow]) -> None:
        self._by_id = found
        self.rows = newest_first(found.values())


def _key(source: Source, source_id: str) -> Key:
    """Return what finds a row of one mailbox: of mail, which is most, the id itself, which is there anyway."""
    return source_id if source == "mail" else (source, source_id)


def _kept(before: Mapping[Key, CockpitRow], error: OrreryError) -> dict[Key, CockpitRow]:
    """Return the rows that a failed reading leaves unknown: of a source that was read, none."""
    unread = error.unread if isinstance(error, MailboxError) else ()
    return {key: row for key, row in before.items() if not unread or row.message.source in unread}
