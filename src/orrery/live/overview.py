"""The counter's panel on the owner's page: count and age, why it fails, and the remaining quota."""

from orrery.live.answers import CurrentCount, current_count
from orrery.live.budget import StoredBudget
from orrery.live.reads import last_error, read, snapshot_in
from orrery.ports.clock import Clock
from orrery.ports.panels import Panel, utc_text
from orrery.ports.store import Store

_TITLE = "Live counter"
_IN_MINUTES = 120
"""Seconds from which an age is shown in minutes."""


class LiveOverview:
    """Reads the store only: a request for the page costs no quota."""

    def __init__(self, store: Store, clock: Clock, budget: StoredBudget, *, is_used: bool) -> None:
        """`is_used` says whether an analytics property is configured at all."""
        self._store = store
        self._clock = clock
        self._budget = budget
        self._is_used = is_used

    async def panel(self) -> Panel:
        if not self._is_used:
            return Panel(_TITLE, "No analytics property is configured")
        snapshot = await snapshot_in(self._store, self._clock)
        found = current_count(snapshot, self._clock.now())
        last = await read(last_error(self._store, self._clock))
        trouble = f"Last error at {utc_text(last.attempted_at)}: {last.message}" if last else ""
        if snapshot.unreadable:
            unreadable = f"Cannot be read, and is not shown: {', '.join(snapshot.unreadable)}."
            trouble = f"{unreadable} {trouble}".strip()
        hour, day = await self._budget.left()
        rows = (("this hour", f"{hour:,}"), ("today", f"{day:,}"))
        columns = ("Quota", "Tokens left")
        if found.state == "fresh":
            return Panel(_TITLE, _counted(found), "good", trouble, columns, rows)
        todo = f"{trouble} Is the service running, with live.refresh on or another scheduler?".strip()
        if found.error:
            return Panel(_TITLE, f"Visitors see no count: {found.error}", "bad", todo, columns, rows)
        return Panel(_TITLE, f"{_counted(found)} (stale)", "attention", todo, columns, rows)


def _counted(found: CurrentCount) -> str:
    seconds = found.age.total_seconds() if found.age else 0.0
    ago = f"{seconds:.0f} s" if seconds < _IN_MINUTES else f"{seconds / 60:.0f} minutes"
    who = "visitor" if found.count == 1 else "visitors"
    return f"{found.count:,} {who} in the last {_minutes(found.window_minutes)}, counted {ago} ago"


def _minutes(window: int | None) -> str:
    return "minute" if window == 1 else f"{window} minutes"
