"""Trouble that is overlooked: a notifier's bug, a channel that is down for long, a store that just reads."""

from collections.abc import Sequence
from datetime import timedelta

from orrery.adapters.memory import MemoryStore
from orrery.errors import StoreUnavailable
from orrery.ports.health import Finding
from orrery.ports.notifier import DeliveryFailed, Notifier
from orrery.runtime import outbox
from orrery.runtime.health import OwnerHealth
from orrery.runtime.outbox import Outbox, OutboxDraft
from orrery.runtime.outbox_lanes import Channel
from orrery.runtime.store_probe import StoreProbe
from orrery.runtime.watch import OutageWatch
from tests.support.clock import ManualClock
from tests.support.notifiers import ScriptedNotifier
from tests.support.unreliable_store import UnreliableStore

BUSY = DeliveryFailed("The mail server answered 451.", permanent=False)
BUG = UnicodeEncodeError("ascii", "“", 0, 1, "ordinal not in range")


class House:
    """Outbox, health and workers over one store."""

    def __init__(self, **notifiers: ScriptedNotifier) -> None:
        self.clock = ManualClock()
        self.store = UnreliableStore(MemoryStore(self.clock))
        channels: tuple[Channel, ...] = ("push", "email")
        configured: dict[Channel, Notifier] = {one: notifiers[one] for one in channels if one in notifiers}
        self.outbox = Outbox(self.store, self.clock, configured)
        self.failing: dict[str, str] = {}
        self.health = OwnerHealth(StoreProbe(self.store, self.clock), self.outbox, self.failing, configured)

    async def enqueue(self, channel: Channel, *ids: str) -> None:
        """Enqueue a message for each id."""
        drafts = [OutboxDraft(one, channel, "t", "b") for one in ids]
        await self.store.commit(outbox.enqueue(drafts, self.clock.now()))

    async def try_for(self, time: timedelta) -> None:
        """Deliver whatever is due, minute by minute."""
        for _ in range(int(time / timedelta(minutes=1))):
            await self.outbox.deliver_due()
            self.clock.advance(60)

    async def broken(self) -> Sequence[Finding]:
        """Return what is broken."""
        return [finding for finding in await self.health.local() if finding.state == "broken"]


async def test_a_bug_in_one_notifier_stops_only_its_own() -> None:
    """However many pushes meet a bug, every mail goes out, and the pushes wait for their next try."""
    push, email, count = ScriptedNotifier([BUG] * 100), ScriptedNotifier(), 50
    house = House(push=push, email=email)
    await house.enqueue("push", *(f"a{number}" for number in range(count)))
    await house.enqueue("email", "z1", "z2")
    await house.outbox.deliver_due()
    assert email.ids == ["z1", "z2"]
    tried = [row.last_error for row in [row async for row in house.outbox.rows("waiting")] if row.attempts]
    assert tried == ["Unexpected UnicodeEncodeError."]


async def test_mail_that_fails_for_long_is_told() -> None:
    """A channel that has failed for more than an hour is broken, no reason not to serve, and pushed once."""
    house = House(push=ScriptedNotifier(), email=ScriptedNotifier([BUSY] * 100))
    await house.enqueue("email", "mail-1")
    await house.try_for(timedelta(hours=1))
    assert await house.broken() == []
    await house.try_for(timedelta(hours=1))
    (finding,) = await house.broken()
    assert (finding.part, finding.essential) == ("notifications", False)
    assert finding.why == "1 could not be delivered for more than an hour."
    watch = OutageWatch(house.store, house.clock, house.health.local)
    for _ in range(3):
        await watch.notify()
        house.clock.advance(60)
    assert [row.title async for row in house.outbox.rows() if row.channel == "push"] == ["Broken: notifications"]


async def test_a_channel_that_nobody_configured_is_not_broken() -> None:
    """Messages for a service that is not configured wait, and that is off, not broken."""
    house = House(email=ScriptedNotifier())
    await house.enqueue("push", "note-1")
    await house.try_for(timedelta(hours=3))
    assert await house.broken() == []


async def test_a_store_that_only_reads_is_not_ready() -> None:
    """While nothing can be written, an essential part is broken; a job that fails is not essential."""
    house = House()
    house.store.commit_errors.append(StoreUnavailable("The disk is full."))
    await house.health.examine()
    house.failing["reconcile"] = "The processor answered 500."
    assert {finding.why: finding.essential for finding in await house.broken()} == {
        "The disk is full.": True,
        "The processor answered 500.": False,
    }
