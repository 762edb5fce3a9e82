"""The checks of the counter, those of `orrery doctor` among them, and its panel on the owner's page."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from orrery.live.answers import CurrentCount, current_count
from orrery.live.budget import StoredBudget
from orrery.live.reads import last_error, read, snapshot_in
from orrery.live.records import LastError, Snapshot
from orrery.ports.analytics import Analytics
from orrery.ports.clock import Clock
from orrery.ports.health import Finding, secret_part
from orrery.ports.panels import Panel, utc_text
from orrery.ports.store import Store

_TITLE = "Live counter"
_IN_MINUTES = 120
"""Seconds from which an age is shown in minutes."""

_IS_IT_RUNNING = "Is the service running, with live.refresh on or another scheduler?"

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

    def local(self) -> list[Finding]:
        """Return the findings of the checks that need no network."""
        if not self.has_property:
            return [Finding("live counter", "off", "No analytics property is configured.", essential=False)]
        key, password = "analytics_service_account_key", "admin_password_hash"
        return [
            _secret("analytics key", self.has_key, key, "the service account's JSON key"),
            _secret("admin password", self.can_admit, password, "the output of `orrery admin hash`"),
        ]

    def remote(self) -> list[tuple[str, HealthCheck]]:
        """Return the checks that use the network."""
        if not self.has_property or not self.has_key:
            return []
        return [("analytics provider", self._provider), ("live count", self._count)]

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
            return Panel(_TITLE, f"Visitors see no count: {found.error}", "bad", todo, columns, rows)
        return Panel(_TITLE, f"{_counted(found)} (stale)", "attention", todo, columns, rows)

    async def _count(self) -> Finding:
        _, found, last = await self._present()
        if found.age is not None and not found.error:
            why = f"{found.count} visitors, {found.age.total_seconds():.0f} s ago ({found.state})"
            return Finding("live count", "ok", why, essential=False)
        why = f"{found.error}: {last.message if last else 'no refresh has succeeded.'}"
        return Finding("live count", "broken", why, _IS_IT_RUNNING, essential=False)

    async def _present(self) -> tuple[Snapshot, CurrentCount, LastError | None]:
        """Return the shared cache, its count, and the last error."""
        snapshot = await snapshot_in(self.store, self.clock)
        last = await read(last_error(self.store, self.clock))
        return snapshot, current_count(snapshot, self.clock.now()), last


def _secret(part: str, present: bool, name: str, what: str) -> Finding:  # noqa: FBT001  a private shorthand
    if present:
        return Finding(part, "ok", essential=False)
    why, todo = "It is missing or cannot be used.", f"Put {what} into the secret file {name}."
    return Finding(part, "broken", why, todo, essential=False, cause=secret_part(name))


def _counted(found: CurrentCount) -> str:
    seconds = found.age.total_seconds() if found.age else 0.0
    ago = f"{seconds:.0f} s" if seconds < _IN_MINUTES else f"{seconds / 60:.0f} minutes"
    who = "visitor" if found.count == 1 else "visitors"
    return f"{found.count:,} {who} in the last {_minutes(found.window_minutes)}, counted {ago} ago"


def _minutes(window: int | None) -> str:
    return "minute" if window == 1 else f"{window} minutes"
