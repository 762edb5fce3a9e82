"""The findings of all modules, without asking anybody outside."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from orrery.ports.health import Finding
from orrery.runtime.health import OwnerHealth
from orrery.runtime.parts import Parts
from orrery.runtime.references import References


@dataclass(frozen=True, slots=True)
class Findings:
    """Asks the modules, in their order. `health` is the store's, which is examined first.

    `modules` are added once they are composed.
    """

    health: OwnerHealth
    references: References
    modules: list[Parts] = field(default_factory=list[Parts])

    async def all(self) -> Sequence[Finding]:
        """Return every finding; examines the store first."""
        await self.health.examine()
        own = [one for parts in self.modules for check in parts.own_checks for one in await check()]
        return [*await self.without_panels(), *self._without_tickets(own)]

    async def without_panels(self) -> Sequence[Finding]:
        """Return the findings without a separate panel on the owner's page.

        Its finding of the storage is as old as the last `all`.
        """
        found = await self.health.local()
        found += [one for parts in self.modules for check in parts.checks for one in await check()]
        return self._without_tickets(found)

    def _without_tickets(self, found: Sequence[Finding]) -> list[Finding]:
        # A job's error may name a record, and with it a session.
        return [replace(one, why=self.references.within(one.why)) for one in found]
