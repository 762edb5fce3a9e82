"""The checks of the counter: of its settings, and those of `orrery doctor`, which ask store and provider."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from orrery.live.answers import current_count
from orrery.live.reads import last_error, read, snapshot_in
from orrery.ports.analytics import Analytics
from orrery.ports.clock import Clock
from orrery.ports.health import Finding, secret_part
from orrery.ports.store import Store

HealthCheck = Callable[[], Awaitable[Finding]]


@dataclass(frozen=True, slots=True)
class LiveHealth:
    """The checks of the counter. None of its parts is essential: the checkout works without them."""

    store: Store
    clock: Clock
    analytics: Analytics
    has_property: bool
    has_key: bool
    can_admit: bool

    def local(self) -> list[Finding]:
        """Return the findings of the checks that need no network."""
        if not self.has_property:
            return [Finding("live counter", "off", "No analytics property is configured.")]
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
        return Finding("analytics provider", "ok", "It accepts the key.")

    async def _count(self) -> Finding:
        found = current_count(await snapshot_in(self.store, self.clock), self.clock.now())
        if found.age is not None and not found.error:
            why = f"{found.count} visitors, {found.age.total_seconds():.0f} s ago ({found.state})"
            return Finding("live count", "ok", why, essential=False)
        last = await read(last_error(self.store, self.clock))
        why = f"{found.error}: {last.message if last else 'no refresh has succeeded.'}"
        todo = "Is the service running, with live.refresh on or another scheduler?"
        return Finding("live count", "broken", why, todo, essential=False)


def _secret(part: str, present: bool, name: str, what: str) -> Finding:  # noqa: FBT001  a private shorthand
    if present:
        return Finding(part, "ok", essential=False)
    why, todo = "It is missing or cannot be used.", f"Put {what} into the secret file {name}."
    return Finding(part, "broken", why, todo, essential=False, cause=secret_part(name))
