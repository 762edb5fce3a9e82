"""A message that may have been sent before is asked for, and not sent a second time (decision record 76)."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.errors import StoreUnavailable
from orrery.ports.notifier import DeliveryFailed, Notifier
from orrery.runtime import outbox
from orrery.runtime.deduplication import ASK_DEADLINE, FURTHEST, SLACK
from orrery.runtime.lease import Lease
from orrery.runtime.outbox import Outbox, OutboxDraft
from orrery.runtime.outbox_lanes import Channel
from tests.support.clock import ManualClock, settled
from tests.support.hasty_loop import run_ahead
from tests.support.notifiers import ScriptedNotifier
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

LOST = DeliveryFailed("The push service cannot be reached.", permanent=False, refused=False)
LIMITED = DeliveryFailed("The push service answered 429.", permanent=False)
FORBIDDEN = DeliveryFailed("The push service answered 403.", permanent=True)
KILLED = StoreUnavailable("killed")


@dataclass
class House:
    """A store and a receiver, and processes that come and go."""

    clock: ManualClock = field(default_factory=ManualClock)
    phone: ScriptedNotifier = field(default_factory=ScriptedNotifier)

    def __post_init__(self) -> None:
        self.store = UnreliableStore(MemoryStore(self.clock))

    async def enqueue(self, *ids: str, channel: Channel = "push", held: bool = False) -> None:
        """Enqueue messages with these ids."""
        drafts = [OutboxDraft(one, channel, "t", "b") for one in ids]
        await self.store.inside.commit(
            outbox.enqueue(drafts, self.clock.now(), held_because="It may have been sent." if held else "")
        )

    async def kill(self, process: "Process") -> None:
        """Kill a process between the sending of its first message and its mark."""
        self.store.commit_errors = [KILLED]
        with pytest.raises(StoreUnavailable):
            await process.deliver()
        self.phone.asked.clear()

    async def waiting(self) -> int:
        """Return how many messages are not delivered."""
        return await Process(self, "looks on").outbox.count("waiting")


class Process:
    """One process, which delivers while it has the lease."""

    def __init__(self, house: House, name: str) -> None:
        receivers: dict[Channel, Notifier] = {"push": house.phone, "email": house.phone}
        self.outbox = Outbox(house.store, house.clock, receivers)
        self.lease = Lease(house.store.inside, house.clock, "deliver", name, timedelta(seconds=30))

    async def deliver(self) -> int | None:
        """Do what the job does once a second."""
        taken = await self.lease.take()
        return None if taken is None else await self.outbox.deliver_due(since=taken.token)


async def killed_before_the_start(house: House) -> Process:
    """The row was there before the process began."""
    await house.enqueue("a")
    await house.kill(Process(house, "one"))
    house.clock.advance(31)
    return Process(house, "two")


async def killed_beside_a_standby(house: House) -> Process:
    """The process ran before the row was made: another had the lease, made it, sent it and was killed."""
    first, standby = Process(house, "one"), Process(house, "two")
    await first.deliver()
    assert await standby.deliver() is None
    await house.enqueue("a")
    await house.kill(first)
    house.clock.advance(31)
    return standby


async def killed_while_another_slept(house: House) -> Process:
    """The process had the lease before and after; in between another had it, and was killed."""
    sleeper, other = Process(house, "one"), Process(house, "two")
    await sleeper.deliver()
    house.clock.advance(31)
    await other.deliver()
    await house.enqueue("a")
    await house.kill(other)
    house.clock.advance(31)
    return sleeper


async def killed_while_one_slept_who_had_asked(house: House) -> Process:
    """The same, and the sleeper had asked what had arrived: that answer is too old now."""
    await house.enqueue("z")
    sleeper = await killed_while_another_slept(house)
    house.phone.accepted = [one for one in house.phone.accepted if one.id == "a"]
    return sleeper


async def killed_while_one_slept_who_was_refused(house: House) -> Process:
    """The sleeper's own attempt was refused; another's was not, and it was killed."""
    sleeper, other = Process(house, "one"), Process(house, "two")
    await sleeper.deliver()
    await house.enqueue("a")
    house.phone.troubles = [LIMITED]
    await sleeper.deliver()
    house.clock.advance(31)
    await house.kill(other)
    house.clock.advance(31)
    return sleeper


async def no_answer_after_a_question(house: House) -> Process:
    """It was asked for and was not there; then an attempt ended without an answer, and the receiver had it."""
    await house.enqueue("a")
    process = Process(house, "one")
    house.phone.troubles = [LOST]
    await process.deliver()
    (row,) = [row async for row in process.outbox.rows()]
    house.phone.accepted.append(row.message())
    house.phone.asked.clear()
    house.clock.advance(6)
    return process


async def no_answer(house: House) -> Process:
    """The last attempt ended without an answer, and the receiver had the message."""
    process = Process(house, "one")
    await process.deliver()
    await house.enqueue("a")
    (row,) = [row async for row in process.outbox.rows()]
    house.phone.accepted.append(row.message())
    house.phone.troubles = [LOST]
    await process.deliver()
    house.clock.advance(6)
    return process


async def cut_off(house: House) -> Process:
    """The job was cancelled in the middle of an attempt, and its process goes on."""
    process = Process(house, "one")
    await process.deliver()
    await house.enqueue("a")
    (row,) = [row async for row in process.outbox.rows()]
    house.phone.accepted.append(row.message())
    house.phone.gate = asyncio.Event()
    job = asyncio.create_task(process.deliver())
    await settled()
    job.cancel()
    await asyncio.wait([job])
    house.phone.gate = None
    return process


async def put_off_before_the_start(house: House) -> Process:
    """The row failed some time ago and was then sent by a process that was killed; it is due later."""
    await house.enqueue("a")
    house.phone.troubles = [LIMITED]
    first = Process(house, "one")
    await first.deliver()
    house.clock.advance(6)
    await house.kill(first)
    house.clock.advance(31)
    return Process(house, "two")


async def released_after_a_restore(house: House) -> Process:
    """A restore held the row back, the process began, and then the owner released it."""
    await house.enqueue("a", held=True)
    process = Process(house, "one")
    await process.deliver()
    (row,) = [row async for row in process.outbox.rows()]
    house.phone.accepted.append(row.message())
    house.clock.advance(1)
    assert await process.outbox.release("a")
    return process


SENT_BEFORE: dict[str, Callable[[House], Awaitable[Process]]] = {
    one.__name__: one
    for one in (
        killed_before_the_start,
        killed_beside_a_standby,
        killed_while_another_slept,
        killed_while_one_slept_who_had_asked,
        killed_while_one_slept_who_was_refused,
        no_answer,
        no_answer_after_a_question,
        cut_off,
        put_off_before_the_start,
        released_after_a_restore,
    )
}


@each_case("what", SENT_BEFORE)
async def test_what_the_receiver_has_is_delivered(what: str) -> None:
    """However it came that nobody marked it: it is asked for, marked, and not sent again."""
    house = House()
    process = await SENT_BEFORE[what](house)
    await process.deliver()
    assert (house.phone.ids, len(house.phone.asked), await house.waiting()) == (["a"], 1, 0)


@each_case("trouble", [LOST, LIMITED, FORBIDDEN, TimeoutError(), ValueError("a bug")])
@each_case("what", SENT_BEFORE)
async def test_a_receiver_that_cannot_be_asked_stops_no_message(what: str, trouble: Exception) -> None:
    """Twice is better than never: whatever comes of the question, the message goes out."""
    house = House(phone=ScriptedNotifier(deaf=trouble))
    process = await SENT_BEFORE[what](house)
    await process.deliver()
    assert (house.phone.ids, await house.waiting()) == (["a", "a"], 0)


@each_case("what", SENT_BEFORE)
async def test_what_the_receiver_does_not_have_is_sent(what: str) -> None:
    """The receiver never had it, or has forgotten it."""
    house = House()
    process = await SENT_BEFORE[what](house)
    house.phone.accepted.clear()
    await process.deliver()
    assert (house.phone.ids, await house.waiting()) == (["a"], 0)


def test_a_receiver_that_is_silent_stops_no_message() -> None:
    """A question that gets no answer is given up early enough for the message to go out."""
    house = House()

    async def deliver() -> int:
        process = await killed_before_the_start(house)
        house.phone.silent = True
        await process.deliver()
        return await house.waiting()

    def asked() -> None:
        assert house.phone.silent
        assert house.phone.asked

    assert run_ahead(deliver(), ASK_DEADLINE, asked) == 0
    assert house.phone.ids == ["a", "a"]


async def test_nobody_is_asked_about_what_is_new() -> None:
    """A message that was made since this process has the lease is sent at once, in however many batches."""
    house = House()
    process = Process(house, "one")
    await process.deliver()
    for number in range(20):
        await house.enqueue(f"a{number}")
        await process.deliver()
        house.clock.advance(10)
    assert (len(house.phone.ids), house.phone.asked) == (20, [])


async def test_nobody_is_asked_about_what_was_refused() -> None:
    """A limit that asks for fewer requests does not get more: a refusal says that the message was not taken."""
    house = House(phone=ScriptedNotifier(troubles=[LIMITED] * 5))
    process = Process(house, "one")
    await process.deliver()
    await house.enqueue("a")
    while await house.waiting():
        await process.deliver()
        house.clock.advance(3600)
    assert (house.phone.tried, house.phone.asked) == (6, [])


async def queued_before_the_start(house: House, count: int) -> Process:
    """Let a queue wait whose last message is the first to be due, as attempts put them off."""
    for number in range(count):
        await house.enqueue(f"a{number}", held=True)
        house.clock.advance(30)
    process = Process(house, "one")
    for number in reversed(range(count)):
        await process.outbox.release(f"a{number}")
        house.clock.advance(0.001)
    return process


async def test_a_queue_is_asked_about_in_few_questions() -> None:
    """In the worst order each message is older than the one before; the questions reach back ever further."""
    house = House()
    process = await queued_before_the_start(house, 300)
    assert await process.deliver() == 300
    assert len(house.phone.asked) < 10
    assert min(house.phone.asked) >= house.clock.now() - FURTHEST


async def test_a_batch_asks_once_though_the_answer_fails() -> None:
    """A receiver that does not say what it has is asked once a batch, and after a refusal for good never again."""
    for trouble, questions in ((LOST, 2), (FORBIDDEN, 1)):
        house = House(phone=ScriptedNotifier(deaf=trouble))
        process = await queued_before_the_start(house, 30)
        await process.deliver()
        await house.enqueue("late", held=True)
        house.clock.advance(1)
        await process.outbox.release("late")
        await process.deliver()
        assert (len(house.phone.ids), len(house.phone.asked)) == (31, questions)


@pytest.mark.parametrize("days", [-400, -1, 1, 400])
async def test_a_clock_that_was_wrong(days: int) -> None:
    """The clock of the killed process was behind or ahead: the question reaches back to the sending."""
    house, ahead = House(), timedelta(days=days)
    sent_at = house.clock.now()
    house.clock.advance(ahead.total_seconds())
    await house.enqueue("a")
    await house.kill(Process(house, "one"))
    house.clock.advance(31 - ahead.total_seconds())
    await Process(house, "two").deliver()
    (asked,) = house.phone.asked
    assert sent_at - FURTHEST <= asked <= sent_at
    assert house.phone.ids == ["a"]


async def test_no_further_back_than_the_receiver_remembers() -> None:
    """A message that waited for a year is asked for within what ntfy keeps, and one of now a little behind it."""
    for age, reach in ((timedelta(days=365), FURTHEST), (timedelta(0), 2 * (SLACK + timedelta(seconds=31)))):
        house = House()
        await house.enqueue("a")
        house.clock.advance(age.total_seconds())
        await house.kill(Process(house, "one"))
        house.clock.advance(31)
        await Process(house, "two").deliver()
        (asked,) = house.phone.asked
        assert SLACK <= house.clock.now() - asked <= reach


@pytest.mark.parametrize("channel", ["push", "email"])
async def test_what_was_taken_is_not_repeated_while_the_store_is_broken(channel: Channel) -> None:
    """With a full disk nothing can be marked: the process remembers what was taken, and sends it once."""
    house = House()
    process = Process(house, "one")
    await process.deliver()
    await house.enqueue("a", channel=channel)
    for _ in range(5):
        await house.kill(process)
    await process.deliver()
    assert (house.phone.ids, house.phone.asked, await house.waiting()) == (["a"], [], 0)
