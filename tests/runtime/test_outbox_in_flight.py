"""What is in flight when something breaks: owned to its end, and repeated as little as can be."""

import asyncio
from datetime import timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.errors import StoreUnavailable
from orrery.ports.notifier import DeliveryFailed, Notifier
from orrery.ports.store import Put
from orrery.runtime import outbox
from orrery.runtime.outbox import LONGEST_RETRY, ROW, Notification, Outbox, OutboxDraft
from orrery.runtime.outbox_lanes import Channel
from orrery.runtime.outbox_privacy import removed
from tests.support.clock import ManualClock, settled
from tests.support.notifiers import ScriptedNotifier
from tests.support.unreliable_store import UnreliableStore

BUSY = DeliveryFailed("The service answered 503.", permanent=False)
LOCKED = StoreUnavailable("The store is locked.")


class Desk:
    """An outbox over a store that may fail, with a notifier for each channel."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = UnreliableStore(MemoryStore(self.clock))
        self.push, self.email = ScriptedNotifier(), ScriptedNotifier()
        both: dict[Channel, Notifier] = {"push": self.push, "email": self.email}
        self.outbox = Outbox(self.store, self.clock, both)

    async def enqueue(self, channel: Channel, *ids: str, held: bool = False) -> None:
        """Enqueue a message for each id."""
        drafts = [OutboxDraft(one, channel, "t", "b") for one in ids]
        because = "It may have been sent." if held else ""
        await self.store.inside.commit(outbox.enqueue(drafts, self.clock.now(), held_because=because))

    async def row(self, row_id: str) -> Notification:
        """Return a row that must be there."""
        (row,) = [row async for row in self.outbox.rows() if row.id == row_id]
        return row


async def test_one_failing_commit_leaves_no_delivery_unowned() -> None:
    """When marking a push fails, the round ends only after the letter beside it, which is sent once."""
    desk = Desk()
    desk.email.gate = asyncio.Event()
    await desk.enqueue("push", "a")
    await desk.enqueue("email", "z")
    desk.store.commit_errors = [LOCKED]
    round_ = asyncio.create_task(desk.outbox.deliver_due())
    await settled()
    assert (desk.push.ids, desk.email.tried, round_.done()) == (["a"], 1, False)
    desk.email.gate.set()
    with pytest.raises(StoreUnavailable):
        await round_
    assert (await desk.row("z")).state == "delivered"
    await desk.outbox.deliver_due()
    assert (desk.push.ids, desk.email.ids) == (["a"], ["z"])
    assert (await desk.row("a")).state == "delivered"


async def test_one_message_of_a_channel_is_in_flight() -> None:
    """A message is marked before the next of its channel is begun: a kill repeats one of each at most."""
    desk = Desk()
    desk.push.gate, desk.email.gate = asyncio.Event(), asyncio.Event()
    await desk.enqueue("push", *(f"a{number}" for number in range(40)))
    await desk.enqueue("email", *(f"z{number}" for number in range(40)))
    round_ = asyncio.create_task(desk.outbox.deliver_due())
    await settled()
    assert (desk.push.tried, desk.email.tried) == (1, 1)
    for gate in (desk.push.gate, desk.email.gate):
        gate.set()
    assert await round_ == 80
    assert (len(desk.push.ids), len(desk.email.ids)) == (40, 40)


async def test_a_slow_mail_server_holds_up_no_push() -> None:
    """The channels do not wait for each other's messages within a page of the index."""
    desk = Desk()
    desk.email.gate = asyncio.Event()
    await desk.enqueue("email", "z1")
    await desk.enqueue("push", "a1", "a2")
    round_ = asyncio.create_task(desk.outbox.deliver_due())
    await settled()
    assert desk.push.ids == ["a1", "a2"]
    desk.email.gate.set()
    await round_


async def test_what_is_erased_while_it_waits_is_not_sent() -> None:
    """A row that is removed while the one before it is sent does not go out any more."""
    desk = Desk()
    desk.email.gate = asyncio.Event()
    await desk.enqueue("email", "y", "z")
    round_ = asyncio.create_task(desk.outbox.deliver_due())
    await settled()
    (entry,) = await desk.store.scan(f"{ROW}z")
    await desk.store.inside.commit(removed(entry))
    desk.email.gate.set()
    await round_
    assert desk.email.ids == ["y"]


@pytest.mark.parametrize("ahead", [timedelta(days=1), timedelta(days=4000)])
async def test_what_failed_under_a_clock_far_ahead(ahead: timedelta) -> None:
    """A try that was put off while the clock was wrong is made once the clock is right, not at that date."""
    desk = Desk()
    desk.push.troubles = [BUSY]
    desk.clock.advance(ahead.total_seconds())
    await desk.enqueue("push", "a")
    await desk.outbox.deliver_due()
    desk.clock.advance(-ahead.total_seconds())
    await desk.outbox.deliver_due()
    assert desk.push.ids == ["a"]


async def test_what_a_node_enqueued_whose_clock_is_ahead() -> None:
    """Nodes whose clocks are right send it at once: a buyer waits for the link."""
    desk = Desk()
    desk.clock.advance(LONGEST_RETRY.total_seconds())
    await desk.enqueue("email", "a")
    desk.clock.advance(-LONGEST_RETRY.total_seconds())
    await desk.outbox.deliver_due()
    assert desk.email.ids == ["a"]


async def test_the_longest_wait_is_no_wrong_date() -> None:
    """A row whose next try is an hour away waits for it."""
    desk = Desk()
    desk.push.troubles = [BUSY] * 12
    await desk.enqueue("push", "a")
    for _ in range(12):
        await desk.outbox.deliver_due()
        desk.clock.advance(LONGEST_RETRY.total_seconds())
    desk.clock.advance(-LONGEST_RETRY.total_seconds())
    assert await desk.outbox.deliver_due() == 0


@pytest.mark.parametrize("verb", ["release", "drop"])
async def test_a_change_by_word_is_made_though_another_was_first(verb: str) -> None:
    """A row that changes between the look and the commit is looked at again: success means that it is done."""
    desk = Desk()
    await desk.enqueue("push", "a", held=True)

    async def touched() -> None:
        desk.store.overtaken_by = None
        (entry,) = await desk.store.inside.scan(f"{ROW}a")
        await desk.store.inside.commit([Put(entry.key, entry.value)])

    desk.store.overtaken_by = touched
    assert await (desk.outbox.release("a") if verb == "release" else desk.outbox.drop("a"))
    left = [(row.state, row.dropped) async for row in desk.outbox.rows()]
    assert left == [("waiting", False) if verb == "release" else ("delivered", True)]


async def test_a_change_by_word_of_what_is_gone_meanwhile() -> None:
    """A row that another process dropped meanwhile cannot be released, and that is said."""
    desk = Desk()
    await desk.enqueue("push", "a", held=True)

    async def dropped() -> None:
        desk.store.overtaken_by = None
        (entry,) = await desk.store.inside.scan(f"{ROW}a")
        await desk.store.inside.commit(removed(entry))

    desk.store.overtaken_by = dropped
    assert await desk.outbox.release("a") is False
