"""Tells the owner of what is broken, once a day each (decision 41)."""

from collections.abc import Awaitable, Callable, Sequence

from orrery.owner import outbox
from orrery.ports.clock import Clock
from orrery.ports.health import Finding
from orrery.ports.store import Store


class Watch:
    """Looks at the findings and enqueues a push for each broken part."""

    def __init__(self, store: Store, clock: Clock, findings: Callable[[], Awaitable[Sequence[Finding]]]) -> None:
        self._store = store
        self._clock = clock
        self._findings = findings

    async def tell(self) -> None:
        """Tell of every broken part that was not told of today."""
        now = self._clock.now()
        for finding in await self._findings():
            if finding.state == "broken":
                await outbox.tell_once(self._store, _draft(finding, f"{now:%Y%m%d}"), now)


def _draft(finding: Finding, day: str) -> outbox.Draft:
    return outbox.Draft(
        id=f"broken-{finding.part.replace(' ', '-')}-{day}",
        channel="push",
        title=f"Broken: {finding.part}",
        body=f"{finding.why} {finding.todo}".strip(),
        priority="urgent" if finding.essential else "high",
        tags=("rotating_light",),
    )
