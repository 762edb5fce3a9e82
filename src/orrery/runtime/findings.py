"""The findings of all modules, without asking anybody outside."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from orrery.errors import StoreError
from orrery.ports.health import ACT_TODAY, Finding
from orrery.ports.panels import PanelSource
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
        found = await self.health.local()
        found += [one for parts in self.modules for check in parts.checks for one in await check()]
        found += [one for parts in self.modules for source in parts.panels for one in await _shown_by(source)]
        # A job's error may name a record, and with it a session.
        within = self.references.within
        return [
            replace(
                one,
                part=within(one.part),
                why=within(one.why),
                todo=within(one.todo),
                items=tuple(map(within, one.items)),
            )
            for one in found
        ]


async def _shown_by(source: PanelSource) -> Sequence[Finding]:
    """Return what a panel without a check shows; nothing when the store fails, which has its own finding."""
    if source.judges is None:
        return []
    try:
        panel = await source.panel()
    except StoreError:
        return []
    part = source.title.lower()
    if panel is None or panel.tone == "plain":
        return []
    if panel.tone == "good":
        return [Finding(part, "ok", panel.headline, essential=False)]
    severity = source.judges if panel.tone == "bad" else ACT_TODAY
    # Its module sends another push about it.
    why = f"{panel.headline.removesuffix('.')}."
    return [Finding(part, "broken", why, panel.todo, essential=False, told=True, severity=severity)]
