"""The findings of all modules, without asking anybody outside."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from orrery.ports.health import Finding
from orrery.runtime.health import OwnerHealth
from orrery.runtime.node_findings import named, of_clock, of_nodes, of_store
from orrery.runtime.nodes import Nodes
from orrery.runtime.parts import Parts
from orrery.runtime.references import References


@dataclass(frozen=True, slots=True)
class Findings:
    """Asks the modules, in their order. `health` is the store's, which is examined first.

    `modules` are added once they are composed.
    """

    health: OwnerHealth
    references: References
    nodes: Nodes
    modules: list[Parts] = field(default_factory=list[Parts])

    async def all(self) -> Sequence[Finding]:
        """Return every finding; examines the store first."""
        await self.nodes.look(await self.health.examine())
        found = [*of_store(await self.health.local(), self.nodes), *of_clock(self.nodes)]
        found += [one for parts in self.modules for check in parts.checks for one in await check()]
        # A job's error may name a record, and with it a session.
        within = self.references.within
        found = [
            replace(
                one,
                part=within(one.part),
                why=within(one.why),
                todo=within(one.todo),
                items=tuple(map(within, one.items)),
            )
            for one in found
        ]
        return [*named(found, self.nodes), *of_nodes(self.nodes)]
