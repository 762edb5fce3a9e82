"""The panel of the notifications on the owner's page."""

from dataclasses import dataclass

from orrery.ports.panels import Panel, utc_text
from orrery.runtime.health import NOTIFICATIONS, REFUSED, UNREADABLE, OwnerHealth
from orrery.runtime.outbox import Notification, Outbox

MOST_ROWS = 20
"""How many dead notifications the page shows; the command lists them all."""

_NOTIFICATIONS = (UNREADABLE, REFUSED, NOTIFICATIONS)
"""The parts about notifications, the worst first."""


@dataclass(frozen=True, slots=True)
class NotificationOverview:
    """Turns the outbox into a panel."""

    outbox: Outbox
    health: OwnerHealth

    async def panel(self) -> Panel:
        """Return how many notifications wait or are held back, and those that were refused permanently."""
        found = [one for one in await self.health.local() if one.part in _NOTIFICATIONS]
        found.sort(key=lambda one: _NOTIFICATIONS.index(one.part))
        rows = tuple(map(_cells, (await self.outbox.undelivered(MOST_ROWS, "dead")).values()[:MOST_ROWS]))
        columns = ("Notification", "Channel", "Since", "Last error")
        for one in found:
            if one.state == "broken" or one.todo:
                return Panel("Notifications", one.why, "attention", one.todo, columns if rows else (), rows)
        waiting = await self.outbox.count("waiting")
        headline = f"{waiting} on their way" if waiting else "All were delivered"
        if waiting and (end := self.outbox.quiet_until()):
            headline = f"{waiting} waiting; pushes go out at {utc_text(end)}, after the quiet hours"
        return Panel("Notifications", headline, "good")


def _cells(row: Notification) -> tuple[str, ...]:
    return row.id, row.channel, utc_text(row.created_at), row.last_error or "-"
