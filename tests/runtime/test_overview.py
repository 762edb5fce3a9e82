"""Notifications on the owner's page (issue 4, item 9)."""

from datetime import time
from zoneinfo import ZoneInfo

from orrery.adapters.memory import MemoryStore
from orrery.ports.notifier import DeliveryFailed, OutgoingMessage
from orrery.runtime import outbox
from orrery.runtime.health import OwnerHealth
from orrery.runtime.outbox import Outbox
from orrery.runtime.overview import MOST_ROWS, NotificationOverview
from orrery.runtime.quiet_hours import QuietHours
from orrery.runtime.restored import Restoration
from orrery.runtime.store_probe import StoreProbe
from tests.support.clock import START, ManualClock
from tests.support.notifiers import ScriptedNotifier


class Refusing(ScriptedNotifier):
    """Refuses every message permanently."""

    async def send(self, message: OutgoingMessage) -> None:
        """Refuse."""
        raise DeliveryFailed(f"550 {message.id} is not wanted.", permanent=True)


class Desk:
    """A deployment's store and outbox."""

    def __init__(self) -> None:
        clock = ManualClock()
        self.clock = clock
        self.store = MemoryStore(clock)
        self.outbox = Outbox(self.store, clock, {"email": Refusing(), "push": Refusing()})
        self._health = OwnerHealth(StoreProbe(self.store, clock), self.outbox, {}, {})

    @property
    def overview(self) -> NotificationOverview:
        """The panel."""
        return NotificationOverview(self.outbox, self._health)

    async def enqueue(self, *ids: str) -> None:
        """Enqueue e-mails."""
        drafts = [outbox.OutboxDraft(each, "email", "Title", "Body", to="ann@example.org") for each in ids]
        await self.store.commit(outbox.enqueue(drafts, START))


async def test_notifications_that_went_out() -> None:
    """With nothing waiting all were delivered; otherwise it is told how many are on their way."""
    desk = Desk()
    assert (await desk.overview.panel()).headline == "All were delivered"
    await desk.enqueue("one", "two")
    panel = await desk.overview.panel()
    assert (panel.tone, panel.headline) == ("good", "2 on their way")
    noon = QuietHours(time(12), time(13), ZoneInfo("UTC"))
    desk.outbox = Outbox(desk.store, desk.clock, {}, noon)
    panel = await desk.overview.panel()
    assert panel.headline == "2 waiting; pushes go out at 2026-03-01T13:00:00Z, after the quiet hours"


async def test_dead_notifications() -> None:
    """What was refused permanently is listed with its error and nobody's address."""
    desk = Desk()
    await desk.enqueue("one")
    await desk.outbox.deliver_due()
    panel = await desk.overview.panel()
    assert (panel.tone, panel.headline) == ("attention", "Refused permanently: 1.")
    assert panel.rows[0] == ("one", "email", "2026-03-01T12:00:00Z", "550 one is not wanted.")
    assert "ann@" not in str(panel)


async def test_many_dead_notifications() -> None:
    """Of many dead notifications some are listed."""
    desk = Desk()
    await desk.enqueue(*(f"id-{number:02d}" for number in range(MOST_ROWS + 5)))
    await desk.outbox.deliver_due()
    await desk.outbox.deliver_due()
    assert len((await desk.overview.panel()).rows) == MOST_ROWS


async def test_held_notifications() -> None:
    """What a restore holds back waits for the owner."""
    desk = Desk()
    await desk.enqueue("one")
    await Restoration(desk.store, desk.clock).settle(None)
    panel = await desk.overview.panel()
    assert (panel.tone, panel.headline) == ("attention", "Held back: 1.")
