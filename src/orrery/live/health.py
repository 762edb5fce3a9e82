"""The checks of the counter, those of `orrery doctor` among them, and its panel on the owner's page."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from orrery.errors import StoreError
from orrery.live.answers import NO_DATA, NOT_BOUND, TOO_OLD, CurrentCount, current_count
from orrery.live.budget import StoredBudget
from orrery.live.monitor import monitor_state
from orrery.live.reads import last_error, read, snapshot_in
from orrery.live.records import LastError, Snapshot
from orrery.ports.analytics import Analytics
from orrery.ports.clock import Clock
from orrery.ports.health import Finding, of_secret
from orrery.ports.panels import Panel, utc_text
from orrery.ports.store import Store

_TITLE = "Live counter"
_IN_MINUTES = 120
"""Seconds from which an age is shown in minutes."""

_IS_IT_RUNNING = (
    "Is the service running, with live.refresh on or another scheduler? "
    "`orrery live refresh` counts now, or prints why not."
)

PART, _KEY = "live counter", "analytics key"

_ERRORS: Mapping[str, str] = {
    NO_DATA: "nothing was counted yet",
    TOO_OLD: "the last one is more than 30 minutes old",
    NOT_BOUND: "the store cannot be used",
}

HealthCheck = Callable[[], Awaitable[Finding]]


@dataclass(frozen=True, slots=True)
class LiveHealth:
    """The checks of the counter. None of its parts is essential: the checkout works without them."""

    store: Store
    clock: Clock
    analytics: Analytics
    budget: StoredBudget
    has_property: bool
    has_key: bool
    can_admit: bool

    async def local(self) -> list[Finding]:
        """Return the findings of the checks that need no network."""
        if not self.has_property:
            return [Finding(PART, "off", "No analytics property is configured.", essential=False)]
        why = "It is missing or cannot be used."
        key, password = "analytics_service_account_key", "admin_password_hash"
        return [
            *await self._counter(),
            of_secret(_KEY, key, "the service account's JSON key", present=self.has_key, essential=False, why=why),
            of_secret("admin password", password, "a hash", present=self.can_admit, essential=False, why=why),
        ]

    def remote(self) -> list[tuple[str, HealthCheck]]:
        """Return the checks that use the network."""
        if not self.has_property or not self.has_key:
            return []
        return [("analytics provider", self._provider)]

    async def _provider(self) -> Finding:
        await self.analytics.check()
        return Finding("analytics provider", "ok", "It accepts the key.", essential=False)

    async def panel(self) -> Panel:
        """Return count and age, why it fails, and the remaining quota, from the store: it costs no quota."""
        if not self.has_property:
            return Panel(_TITLE, "No analytics property is configured")
        snapshot, found, last = await self._present()
        trouble = f"Last error at {utc_text(last.attempted_at)}: {last.message}" if last else ""
        if snapshot.unreadable:
            unreadable = f"Cannot be read, and is not shown: {', '.join(snapshot.unreadable)}."
            trouble = f"{unreadable} {trouble}".strip()
        hour, day = await self.budget.left()
        rows = (("this hour", f"{hour:,}"), ("today", f"{day:,}"))
        columns = ("Quota", "Tokens left")
        if found.state == "fresh":
            return Panel(_TITLE, _counted(found), "good", trouble, columns, rows)
        todo = f"{trouble} {_IS_IT_RUNNING}".strip()
        if found.error:
            return Panel(_TITLE, _unseen(found), "plain", todo, columns, rows)
        return Panel(_TITLE, f"{_counted(found)} (stale)", "plain", todo, columns, rows)

    async def _counter(self) -> list[Finding]:
        """Return whether visitors see a present count; a push waits until the monitor calls it degraded."""
        try:
            _, found, last = await self._present()
            state = await read(monitor_state(self.store, self.clock))
        except StoreError:
            return []
        degraded = state.degraded if state else ""
        if found.state == "fresh" and not degraded:
            return [Finding(PART, "ok", _counted(found), essential=False, settled=True)]
        seen = _unseen(found) if found.error else f"{_counted(found)} (stale)"
        why = f"{degraded or f'{seen}.'} {last.message if last else ''}".strip()
        # Without its key nothing is counted.
        cause, early = "" if self.has_key else _KEY, not degraded
        return [
            Finding(
                PART, "broken", why, _IS_IT_RUNNING, essential=False, settled=not early, early=early, cause=cause
            )
        ]

    async def _present(self) -> tuple[Snapshot, CurrentCount, LastError | None]:
        """Return the shared cache, its count, and the last error."""
        snapshot = await snapshot_in(self.store, self.clock)
        last = await read(last_error(self.store, self.clock))
        return snapshot, current_count(snapshot, self.clock.now()), last


def _unseen(found: CurrentCount) -> str:
    return f"Visitors see no count: {_ERRORS.get(found.error or '', found.error)}"


def _counted(found: CurrentCount) -> str:
    seconds = found.age.total_seconds() if found.age else 0.0
    ago = f"{seconds:.0f} s" if seconds < _IN_MINUTES else f"{seconds / 60:.0f} minutes"
    who = "visitor" if found.count == 1 else "visitors"
    return f"{found.count:,} {who} in the last {_minutes(found.window_minutes)}, counted {ago} ago"


def _minutes(window: int | None) -> str:
    return "minute" if window == 1 else f"{window} minutes"
