"""The panels of the owner's page that every deployment has: the parts, and the notifications."""

from collections.abc import Awaitable, Callable, Sequence

from orrery.ports.health import Finding
from orrery.ports.panels import Panel, Tone, utc_text
from orrery.runtime.health import NOTIFICATIONS, REFUSED, UNREADABLE
from orrery.runtime.outbox import Notification, Outbox

MOST_ROWS = 20
"""How many dead notifications the page shows; the command lists them all."""

_NOTIFICATIONS = (UNREADABLE, REFUSED, NOTIFICATIONS)
"""The parts about notifications, the worst first."""


class FaultOverview:
    """Turns findings and the outbox into panels."""

    def __init__(self, outbox: Outbox, findings: Callable[[], Awaitable[Sequence[Finding]]]) -> None:
        self._outbox = outbox
        self._findings = findings

    async def parts(self) -> Panel:
        """Return the panel of broken parts; notifications have a separate panel."""
        found = [one for one in await self._findings() if one.part not in _NOTIFICATIONS]
        broken = [one for one in found if one.state == "broken"]
        working = sum(one.state == "ok" for one in found)
        if not broken:
            off = [one.part for one in found if one.state == "off"]
            todo = f"Not in use: {', '.join(off)}." if off else ""
            return Panel("Parts", f"All {working} parts in use are well", "good", todo)
        tone: Tone = "bad" if any(one.essential for one in broken) else "attention"
        verb = "is" if len(broken) == 1 else "are"
        headline = f"{len(broken)} of {len(broken) + working} parts in use {verb} broken"
        rows = tuple((one.part, one.why, one.todo) for one in broken)
        return Panel("Parts", headline, tone, columns=("Part", "Why", "What to do"), rows=rows)

    async def notifications(self) -> Panel:
        """Return how many notifications wait or are held back, and those that were refused permanently."""
        found = [one for one in await self._findings() if one.part in _NOTIFICATIONS]
        found.sort(key=lambda one: _NOTIFICATIONS.index(one.part))
        rows = tuple(map(_cells, (await self._outbox.undelivered(MOST_ROWS, "dead")).values()[:MOST_ROWS]))
        columns = ("Notification", "Channel", "Since", "Last error")
        for one in found:
            if one.state == "broken" or one.todo:
                return Panel("Notifications", one.why, "attention", one.todo, columns if rows else (), rows)
        waiting = await self._outbox.count("waiting")
        headline = f"{waiting} on their way" if waiting else "All were delivered"
        return Panel("Notifications", headline, "good")


def _cells(row: Notification) -> tuple[str, ...]:
    return row.id, row.channel, utc_text(row.created_at), row.last_error or "-"
