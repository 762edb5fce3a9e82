"""Parts and notifications on the owner's page (issue 4, item 9)."""

from orrery.adapters.memory import MemoryStore
from orrery.ports.health import Finding
from orrery.ports.notifier import DeliveryFailed, OutgoingMessage
from orrery.runtime import outbox
from orrery.runtime.health import OwnerHealth
from orrery.runtime.outbox import Outbox
from orrery.runtime.overview import MOST_ROWS, FaultOverview
from orrery.runtime.restored import Restoration
from orrery.runtime.store_probe import StoreProbe
from tests.support.clock import START, ManualClock
from tests.support.notifiers import ScriptedNotifier

WELL = Finding("store", "ok", essential=True)
OFF = Finding("live counter", "off", "No analytics property is configured.", essential=True)
LOST = Finding("webhook secret", "broken", "It is missing.", "Put it there.", essential=True)
SLOW = Finding("job: refresh", "broken", "It failed.", essential=False)


class Refusing(ScriptedNotifier):
    """Refuses every message permanently."""

    async def send(self, message: OutgoingMessage) -> None:
        """Refuse."""
        raise DeliveryFailed(f"550 {message.id} is not wanted.", permanent=True)


class Desk:
    """A deployment's store and outbox; `findings` are those of its other parts."""

    def __init__(self, *findings: Finding) -> None:
        clock = ManualClock()
        self.clock = clock
        self.store = MemoryStore(clock)
        self.outbox = Outbox(self.store, clock, {"email": Refusing(), "push": Refusing()})
        self._health = OwnerHealth(StoreProbe(self.store, clock), self.outbox, {}, {})
        self._findings = findings

    @property
    def overview(self) -> FaultOverview:
        """The panels."""
        return FaultOverview(self.outbox, self.found)

    async def found(self) -> list[Finding]:
        """Return the findings."""
        return [*await self._health.local(), *self._findings]

    async def enqueue(self, *ids: str) -> None:
        """Enqueue e-mails."""
        drafts = [outbox.OutboxDraft(each, "email", "Title", "Body", to="ann@example.org") for each in ids]
        await self.store.commit(outbox.enqueue(drafts, START))


async def test_all_parts_are_well() -> None:
    """Without a broken part the panel is good and names what is not in use."""
    panel = await Desk(WELL, OFF).overview.parts()
    assert (panel.tone, panel.headline) == ("good", "All 2 parts in use are well")
    assert panel.todo == "Not in use: live counter."


async def test_a_broken_part() -> None:
    """A broken part is a row with why and what to do; one that is essential makes the panel bad."""
    panel = await Desk(WELL, LOST).overview.parts()
    assert (panel.tone, panel.headline) == ("bad", "1 of 3 parts in use is broken")
    assert panel.rows == (("webhook secret", "It is missing.", "Put it there."),)
    assert (await Desk(SLOW, SLOW).overview.parts()).tone == "attention"


async def test_notifications_that_went_out() -> None:
    """With nothing waiting all were delivered; otherwise it is told how many are on their way."""
    desk = Desk()
    assert (await desk.overview.notifications()).headline == "All were delivered"
    await desk.enqueue("one", "two")
    panel = await desk.overview.notifications()
    assert (panel.tone, panel.headline) == ("good", "2 on their way")


async def test_dead_notifications() -> None:
    """What was refused permanently is listed with its error and nobody's address; it is not among the parts."""
    desk = Desk()
    await desk.enqueue("one")
    await desk.outbox.deliver_due()
    panel = await desk.overview.notifications()
    assert (panel.tone, panel.headline) == ("attention", "Refused permanently: 1.")
    assert panel.rows[0] == ("one", "email", "2026-03-01T12:00:00Z", "550 one is not wanted.")
    assert "ann@" not in str(panel)
    assert (await desk.overview.parts()).tone == "good"


async def test_many_dead_notifications() -> None:
    """Of many dead notifications some are listed."""
    desk = Desk()
    await desk.enqueue(*(f"id-{number:02d}" for number in range(MOST_ROWS + 5)))
    await desk.outbox.deliver_due()
    await desk.outbox.deliver_due()
    assert len((await desk.overview.notifications()).rows) == MOST_ROWS


async def test_held_notifications() -> None:
    """What a restore holds back waits for the owner."""
    desk = Desk()
    await desk.enqueue("one")
    await Restoration(desk.store, desk.clock).settle(None)
    panel = await desk.overview.notifications()
    assert (panel.tone, panel.headline) == ("attention", "Held back: 1.")
