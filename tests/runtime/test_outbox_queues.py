"""However much waits: a dead server is noticed, what is urgent goes first, and no channel slows the other."""

from datetime import timedelta
from typing import Literal

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.ports.notifier import DeliveryFailed, Priority
from orrery.ports.store import Delete, Put
from orrery.runtime import outbox, outbox_lanes
from orrery.runtime.collection import sortable
from orrery.runtime.outbox import MOST_COUNTED, UNDELIVERABLE, Outbox, OutboxDraft
from orrery.runtime.outbox_lanes import Channel
from tests.support.clock import ManualClock
from tests.support.notifiers import ScriptedNotifier
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

BUSY = DeliveryFailed("The service answered 503.", permanent=False)
STEP = timedelta(minutes=1)


class Queue:
    """An outbox over a store that counts; the clock moves by `STEP` with each delivery."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = UnreliableStore(MemoryStore(self.clock))
        self.push, self.email = ScriptedNotifier(), ScriptedNotifier()
        self.outbox = Outbox(self.store, self.clock, {"push": self.push, "email": self.email})

    async def enqueue(self, channel: Channel, *ids: str, priority: Priority = "default") -> None:
        """Enqueue one message for each id."""
        drafts = [OutboxDraft(one, channel, "A title", "A body", priority=priority) for one in ids]
        await self.store.commit(outbox.enqueue(drafts, self.clock.now()))

    async def waits_until_stuck(self) -> timedelta:
        """Return how long it takes until something counts as undeliverable, while nothing is accepted."""
        began = self.clock.now()
        while not await self.outbox.stuck():
            assert self.clock.now() - began < timedelta(days=1), "it is never noticed"
            self.email.troubles = [BUSY]
            await self.outbox.deliver_due("email", since=1)
            self.clock.advance(STEP.total_seconds())
        return self.clock.now() - began


@pytest.mark.parametrize("count", [1, 100, 1000])
async def test_a_dead_server_is_noticed(count: int) -> None:
    """After 85 minutes, whether one letter waits or a thousand, of which each is tried once in a long time."""
    queue = Queue()
    await queue.enqueue("email", *(f"mail-{number}" for number in range(count)))
    assert await queue.waits_until_stuck() == UNDELIVERABLE


async def test_a_letter_that_is_always_refused_for_now() -> None:
    """It is noticed as soon, though each letter before and behind it is accepted."""
    queue = Queue()
    await queue.enqueue("email", "mail-0")
    began, number = queue.clock.now(), 0
    while not await queue.outbox.stuck():
        assert queue.clock.now() - began <= UNDELIVERABLE
        number += 1
        queue.email.troubles = [BUSY]
        await queue.outbox.deliver_due("email")
        await queue.enqueue("email", f"mail-{number}")
        queue.email.troubles = []
        queue.clock.advance(STEP.total_seconds())
        if number % 5 == 0:
            await queue.enqueue("email", f"late-{number}")
    assert queue.clock.now() - began == UNDELIVERABLE


async def test_what_was_not_tried_is_not_stuck() -> None:
    """What waits because the service was stopped for hours is no trouble of the server."""
    queue = Queue()
    await queue.enqueue("email", "mail-0", "mail-1")
    queue.clock.advance(timedelta(hours=10).total_seconds())
    assert await queue.outbox.stuck() == 0
    queue.email.troubles = [BUSY]
    await queue.outbox.deliver_due("email")
    assert await queue.outbox.stuck() == 1


async def test_counting_what_is_stuck_ends() -> None:
    """A health round does not walk over all that waits: it counts to a limit."""
    queue, old = Queue(), timedelta(days=1)
    due, came = queue.clock.now(), queue.clock.now() - old
    waiting = [outbox_lanes.key("email", "default", due, came, f"mail-{one}") for one in range(MOST_COUNTED + 1)]
    await queue.store.commit([Put(key, b"") for key in waiting])
    assert await queue.outbox.stuck() == MOST_COUNTED


async def test_an_urgent_push_goes_first() -> None:
    """It does not wait behind pushes that were enqueued before it."""
    queue = Queue()
    await queue.enqueue("push", *(f"sale-{number}" for number in range(30)))
    queue.clock.advance(1)
    await queue.enqueue("push", "gateway", priority="urgent")
    await queue.outbox.deliver_due("push")
    assert queue.push.ids[0] == "gateway"
    assert len(queue.push.ids) == 31


async def test_one_channel_reads_nothing_of_the_other() -> None:
    """A walk of the pushes costs the same, whether no letter waits or a thousand."""
    costs: list[int] = []
    for count in (0, 1000):
        queue = Queue()
        await queue.enqueue("email", *(f"mail-{number}" for number in range(count)))
        await queue.enqueue("push", "note-1")
        await queue.outbox.deliver_due("push")
        costs.append(queue.store.reads.total())
    assert costs[0] == costs[1]


async def indexed_as_before(queue: Queue) -> None:
    """Give what waits the index of a release without lanes, in place of its lane."""
    lanes, due = await queue.store.scan("outbox-next:"), sortable(queue.clock.now())
    written = [Put(f"outbox-due:{due}:{one.value.decode()}", one.value) for one in lanes]
    await queue.store.commit([*written, *(Delete(one.key) for one in lanes)])


async def test_what_an_earlier_release_has_enqueued() -> None:
    """Its rows have no lane; whoever takes the job puts them there, and sends them once."""
    queue = Queue()
    await queue.enqueue("email", "mail-1")
    await queue.enqueue("push", "note-1")
    await indexed_as_before(queue)
    for channel in ("push", "email"):
        await queue.outbox.deliver_due(channel, since=7)
    assert (queue.push.ids, queue.email.ids) == (["note-1"], ["mail-1"])
    assert [one.key for one in await queue.store.scan("outbox-")] == []


async def test_what_an_earlier_release_has_put_off() -> None:
    """A row that it tried in between is due when it says, and not when the lane says."""
    queue = Queue()
    await queue.enqueue("email", "mail-1")
    [row] = [one async for one in queue.outbox.rows()]
    [lane] = await queue.store.scan("outbox-next:")
    later = row.change(attempts=1, due_at=queue.clock.now() + timedelta(minutes=5))
    put = Put(f"outbox-due:{sortable(later.due_at)}:mail-1", b"mail-1")
    await queue.store.commit([Put("outbox:mail-1", later.to_bytes()), put])
    await queue.outbox.deliver_due("email", since=7)
    assert queue.email.ids == []
    assert await queue.store.get(lane.key) is None
    queue.clock.advance(300)
    await queue.outbox.deliver_due("email", since=7)
    assert queue.email.ids == ["mail-1"]


async def test_a_list_reads_what_is_left_alone() -> None:
    """What is not delivered is listed by its index: up to a limit for each state, whatever else is stored."""
    queue = Queue()
    await queue.enqueue("push", "sent")
    await queue.outbox.deliver_due()
    await queue.enqueue("push", "n0", "n1", "n2")
    await queue.store.commit([Put("outbox:sent", b"{}")])
    page = await queue.outbox.undelivered(2)
    assert ([row.id for row in page.records], page.unreadable) == (["n0", "n1"], [])
    await queue.store.commit([Put("outbox:n0", b"{}")])
    page = await queue.outbox.undelivered(None, "waiting")
    assert [row.id for row in page.records] == ["n1", "n2"]
    assert [error.name for error in page.unreadable] == ["outbox:n0"]


async def test_a_list_shows_what_is_put_off_meanwhile() -> None:
    """What the service tries between each look at an index and that at the row is listed."""
    queue = Queue()
    await queue.enqueue("email", "mail-1")

    async def tried() -> None:
        queue.store.scanned, queue.email.troubles = None, [BUSY]
        queue.clock.advance(3600)
        assert await queue.outbox.deliver_due("email") == 1
        queue.store.scanned = tried

    queue.store.scanned = tried
    page = await queue.outbox.undelivered(9, "waiting")
    assert [row.id for row in page.records] == ["mail-1"]


async def test_a_list_shows_what_a_release_without_lanes_has_enqueued() -> None:
    """Also before a service has put it into the lanes; the list itself writes nothing."""
    queue = Queue()
    await queue.enqueue("push", "note-1")
    await indexed_as_before(queue)
    before = queue.store.commits
    assert [row.id for row in (await queue.outbox.undelivered(9, "waiting")).records] == ["note-1"]
    assert (queue.store.commits, await queue.store.scan("outbox-next:")) == (before, [])


@each_case("state", ["waiting", "held", "dead", "delivered", "gone"])
async def test_a_row_that_can_be_read_again(state: outbox.DeliveryState | Literal["gone"]) -> None:
    """What an older release could not read is listed as what it is, and gets its index again from the service."""
    queue = Queue()
    await queue.enqueue("push", "note-1")
    [row] = [one async for one in queue.outbox.rows()]
    written = await queue.store.scan("outbox-")
    put = Put(f"{outbox.UNREADABLE}note-1", b"note-1")
    await queue.store.commit([Put("outbox:note-1", b"{}"), put, *(Delete(one.key) for one in written)])
    page = await queue.outbox.undelivered(9)
    assert ([*page.records], [one.name for one in page.unreadable]) == ([], ["outbox:note-1"])

    again = row.change(state=state) if state != "gone" else None
    await queue.store.commit([Put("outbox:note-1", again.to_bytes()) if again else Delete("outbox:note-1")])
    page = await queue.outbox.undelivered(9)
    assert page.unreadable == []
    assert [one.state for one in page.values()] == [one for one in ("waiting", "held", "dead") if one == state]
    await queue.outbox.deliver_due("email", since=7)
    keys = {one.key for one in await queue.store.scan("outbox-")}
    assert keys == set(outbox.index_of(again) if again else [])
    assert await queue.outbox.deliver_due("push", since=7) == (state == "waiting")
