"""What the quiet hours held is one push at their end (docs/decisions/0089-one-list-of-problems.md)."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from itertools import count

from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.notifier import PUSH_BYTES, Priority
from orrery.ports.store import Store
from orrery.runtime.collection import Changes, StoredRecord, commit, sortable
from orrery.runtime.outbox import MOST_COUNTED, Notification, OutboxDraft, enqueue, rows_of
from orrery.runtime.outbox_lanes import PATIENT, Lanes
from orrery.runtime.quiet_hours import QuietHours
from orrery.runtime.record_index import id_in

_LIST = "`orrery notifications list --state delivered --limit {limit} --json`"

_MOST_URGENT_FIRST: Sequence[Priority] = ("high", "default", "low")


class QuietSummary:
    """Sums up what waits in the lane of the pushes below priority 5, once after quiet hours and after a start."""

    def __init__(self, store: Store, clock: Clock, hours: QuietHours | None) -> None:
        self._store, self._clock, self._hours = store, clock, hours
        self._rows, self._lanes = rows_of(store, clock), Lanes(store, clock)
        self._is_due = True

    async def sum_up(self) -> None:
        """Make one push of those that became due in quiet hours; a single one goes out as it is.

        It is one commit: whatever happens, each is named once or goes out by itself.
        """
        now = self._clock.now()
        if self._hours is None:
            return
        if self._hours.include(now):
            self._is_due = True
        elif self._is_due:
            for number in count(1):
                if not await self._sum_up_some(self._hours, f"quiet-hours-{sortable(now)}-{number}"):
                    break
            self._is_due = False

    async def _sum_up_some(self, hours: QuietHours, push_id: str) -> bool:
        """Sum up as many as a commit may have; return whether there may be more."""
        held = [row async for row in self._held(hours)][:MOST_COUNTED]
        if len(held) <= 1:
            return False
        draft = summary(push_id, [row.record for row in held])
        done = Changes(enqueue([draft], self._clock.now()))
        for row in held:
            new = row.record.change(state="delivered", held_because=f"Quiet hours: {push_id} names it.")
            done += self._rows.changes(row.id, row, new)
        outcome = await commit(self._store, done)
        log.info("notifications of the quiet hours", id=push_id, count=len(held), outcome=type(outcome).__name__)
        return True

    async def _held(self, hours: QuietHours) -> AsyncIterator[StoredRecord[Notification]]:
        async for index in self._lanes.due(PATIENT):
            row = await self._rows.find(id_in(index))
            if row and row.record.state == "waiting" and hours.include(row.record.due_at):
                yield row


def summary(push_id: str, rows: Sequence[Notification]) -> OutboxDraft:
    """Return one push with each text; where a push has no room for them, with each title as far as it has."""
    body = "\n\n".join(f"{row.title}\n{row.body}" for row in rows)
    if len(body.encode()) > PUSH_BYTES:
        body = _titles(rows)
    return OutboxDraft(
        push_id,
        "push",
        f"{len(rows)} notifications of the quiet hours",
        body,
        priority=next(one for one in _MOST_URGENT_FIRST if any(row.priority == one for row in rows)),
        tags=("crescent_moon",),
    )


def _titles(rows: Sequence[Notification]) -> str:
    titles = Counter(row.title for row in rows)
    lines = [f"{times} x {title}" if times > 1 else title for title, times in titles.items()]
    shown, texts = len(lines), f"Each with its text: {_LIST.format(limit=2 * len(rows))}."
    while len((body := _some(lines, shown, texts)).encode()) > PUSH_BYTES:
        shown -= 1
    return body


def _some(lines: Sequence[str], shown: int, texts: str) -> str:
    more = [f"and {len(lines) - shown} more"] if shown < len(lines) else []
    return "\n".join([*lines[:shown], *more, texts])
