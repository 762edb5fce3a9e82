"""What the outbox counts is there, and a row that nobody can read stands in nobody's way."""

from collections.abc import Mapping

from orrery.adapters.memory import MemoryStore
from orrery.ports.notifier import DeliveryFailed, Notifier
from orrery.ports.store import Put
from orrery.runtime import outbox
from orrery.runtime.health import OwnerHealth
from orrery.runtime.heartbeat_job import HeartbeatJob
from orrery.runtime.outbox import Outbox, OutboxDraft
from orrery.runtime.outbox_lanes import Channel
from orrery.runtime.store_probe import StoreProbe
from tests.support.clock import ManualClock
from tests.support.notifiers import ScriptedNotifier

GONE = DeliveryFailed("The service answered 550.", permanent=True)
BUSY = DeliveryFailed("The service answered 503.", permanent=False)


class Beats:
    """A watcher that counts."""

    def __init__(self) -> None:
        self.heard = 0

    async def send(self) -> None:
        """Hear one sign of life."""
        self.heard += 1


class Place:
    """A store with an outbox over it."""

    def __init__(self, *answers: Exception) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore(self.clock)
        self.push = ScriptedNotifier(list(answers))
        self.notifiers: Mapping[Channel, Notifier] = {"push": self.push}
        self.outbox = Outbox(self.store, self.clock, self.notifiers)

    async def enqueue(self, row_id: str) -> None:
        """Enqueue a push, whatever became of an earlier one of that id."""
        await self.store.commit(
            outbox.enqueue([OutboxDraft(row_id, "push", "A title", "A body")], self.clock.now())
        )


async def test_an_id_that_was_dead_and_is_told_again() -> None:
    """A dead notification that is enqueued again and delivered is counted as dead no more."""
    place = Place(GONE)
    await place.enqueue("note-1")
    await place.outbox.deliver_due()
    assert await place.outbox.count("dead") == 1
    await place.enqueue("note-1")
    await place.outbox.deliver_due()
    assert await place.outbox.count("dead") == 0


async def test_a_row_that_cannot_be_read() -> None:
    """It is put aside and told of; what is behind it is delivered."""
    place = Place()
    await place.enqueue("note-1")
    await place.store.commit([Put("outbox:note-1", b'{"v":9}')])
    place.clock.advance(1)
    await place.enqueue("note-2")
    await place.outbox.deliver_due()
    assert [message.id for message in place.push.accepted] == ["note-2"]
    finding = (await OwnerHealth(StoreProbe(place.store, place.clock), place.outbox, {}, place.notifiers).local())[
        -1
    ]
    assert finding.part == "unreadable notifications"
    assert (finding.state, finding.why) == ("broken", "1 cannot be read.")


async def test_no_beat_while_a_push_is_stuck() -> None:
    """The watcher elsewhere hears nothing while the owner cannot be told."""
    place, beats = Place(*[BUSY] * 100), Beats()
    heart = HeartbeatJob(beats, {}, place.outbox.stuck)
    await place.enqueue("note-1")
    await heart.run()
    assert beats.heard == 1
    for _ in range(30):
        place.clock.advance(3600)
        await place.outbox.deliver_due()
    await heart.run()
    assert beats.heard == 1
