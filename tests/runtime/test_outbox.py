"""Notifications that are never lost (decision 12)."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise

import pytest
from anyio.lowlevel import checkpoint

from orrery.adapters.memory import MemoryStore
from orrery.errors import StoreUnavailable
from orrery.ports.notifier import DeliveryFailed, Notifier, OutgoingMessage
from orrery.ports.store import Absent, Committed, Conflict, Put, Store
from orrery.runtime import outbox
from orrery.runtime.collection import Changes
from orrery.runtime.outbox import Notification, Outbox, OutboxDraft
from orrery.runtime.outbox_lanes import Channel
from orrery.runtime.outbox_privacy import removed
from tests.support.clock import START, ManualClock
from tests.support.hasty_loop import run_ahead
from tests.support.notifiers import ScriptedNotifier
from tests.support.unreliable_store import UnreliableStore

BUSY = DeliveryFailed("The service answered 503.", permanent=False)
GONE = DeliveryFailed("The service answered 550.", permanent=True)
PUSH = OutboxDraft("note-1", "push", "A title", "A body", priority="high", tags=("tada",))
MAIL = OutboxDraft("mail-1", "email", "A title", "A body", to="ann@example.org")


@dataclass
class Desk:
    """An outbox with a notifier for each channel."""

    clock: ManualClock = field(default_factory=ManualClock)
    push: ScriptedNotifier = field(default_factory=ScriptedNotifier)
    email: ScriptedNotifier = field(default_factory=ScriptedNotifier)
    over: Store | None = None

    def __post_init__(self) -> None:
        self.store: Store = self.over or MemoryStore(self.clock)
        both: dict[Channel, Notifier] = {"push": self.push, "email": self.email}
        self.outbox = Outbox(self.store, self.clock, both)

    async def enqueue(self, *drafts: OutboxDraft, held: bool = False) -> None:
        """Enqueue, as part of a commit."""
        because = "It may have been sent." if held else ""
        await self.store.commit(outbox.enqueue(drafts, self.clock.now(), held_because=because))

    async def row(self, row_id: str = "note-1") -> Notification:
        """Return a row that must be there."""
        (row,) = [row async for row in self.outbox.rows() if row.id == row_id]
        return row

    async def keys(self, prefix: str = "") -> list[str]:
        """Return the keys of the store."""
        return [entry.key for entry in await self.store.scan(prefix, limit=10_000)]


async def test_what_is_enqueued_is_delivered() -> None:
    """A row is sent with all that was said, and kept as delivered for 30 days."""
    desk = Desk()
    await desk.enqueue(PUSH)
    assert await desk.outbox.deliver_due() == 1
    sequence = f"note-1 {START:%Y%m%dT%H%M%S.%fZ}"
    assert desk.push.accepted == [OutgoingMessage("note-1", "A title", "A body", "", "high", ("tada",), sequence)]
    row = await desk.row()
    assert (row.state, row.attempts, row.last_error) == ("delivered", 1, None)
    desk.clock.advance(timedelta(days=30).total_seconds())
    assert await desk.keys() == []


async def test_delivered_is_delivered() -> None:
    """What was accepted is not sent again."""
    desk = Desk()
    await desk.enqueue(PUSH, MAIL)
    assert [await desk.outbox.deliver_due() for _ in range(3)] == [2, 0, 0]
    assert (desk.push.tried, desk.email.tried) == (1, 1)
    assert await desk.keys("outbox-") == []


async def test_each_channel_has_its_notifier() -> None:
    """A push goes to the push service and a mail to the mail server, with the buyer's address."""
    desk = Desk()
    await desk.enqueue(PUSH, MAIL)
    await desk.outbox.deliver_due()
    assert (desk.push.ids, desk.email.ids) == (["note-1"], ["mail-1"])
    assert desk.email.accepted[0].to == "ann@example.org"


async def test_back_off() -> None:
    """A refusal for now is tried again after 5 s, then twice as long each time, at most an hour, for ever."""
    desk = Desk(push=ScriptedNotifier([BUSY] * 15))
    await desk.enqueue(PUSH)
    moments = [desk.clock.now()]
    while (await desk.row()).state == "waiting":
        desk.clock.advance(((await desk.row()).due_at - desk.clock.now()).total_seconds())
        moments.append(desk.clock.now())
        assert await desk.outbox.deliver_due() == 1
    waits = [(later - earlier).total_seconds() for earlier, later in pairwise(moments)]
    assert waits == [0, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600, 3600, 3600]
    assert desk.push.ids == ["note-1"]


async def test_not_before_it_is_due() -> None:
    """Until its time has come a row is left alone."""
    desk = Desk(push=ScriptedNotifier([BUSY]))
    await desk.enqueue(PUSH)
    await desk.outbox.deliver_due()
    desk.clock.advance(4.999)
    assert await desk.outbox.deliver_due() == 0
    desk.clock.advance(0.001)
    assert await desk.outbox.deliver_due() == 1


async def test_a_very_long_outage() -> None:
    """After hundreds of attempts the wait is still an hour."""
    desk = Desk(push=ScriptedNotifier([BUSY] * 400))
    await desk.enqueue(PUSH)
    for _ in range(400):
        await desk.outbox.deliver_due()
        desk.clock.advance(3600)
    await desk.outbox.deliver_due()
    assert desk.push.ids == ["note-1"]


async def test_the_reason_is_kept() -> None:
    """The last refusal and the number of attempts can be read from the row."""
    desk = Desk(push=ScriptedNotifier([BUSY]))
    await desk.enqueue(PUSH)
    await desk.outbox.deliver_due()
    row = await desk.row()
    assert (row.state, row.attempts, row.last_error) == ("waiting", 1, "The service answered 503.")


async def test_no_answer_in_time() -> None:
    """A notifier that runs out of time is tried again."""
    desk = Desk(push=ScriptedNotifier([TimeoutError()]))
    await desk.enqueue(PUSH)
    await desk.outbox.deliver_due()
    row = await desk.row()
    assert (row.state, row.last_error) == ("waiting", "No answer within 20 s.")


def test_silence_is_cut_off() -> None:
    """A notifier that does not answer within 20 s is given up, and tried again later."""
    desk = Desk(push=ScriptedNotifier(gate=asyncio.Event()))

    async def deliver() -> Notification:
        await desk.enqueue(PUSH)
        await desk.outbox.deliver_due()
        return await desk.row()

    row = run_ahead(deliver(), outbox.SEND_DEADLINE)
    assert (row.state, row.last_error) == ("waiting", "No answer within 20 s.")


async def test_a_refusal_for_good() -> None:
    """A permanently refused mail is dead, and is not tried again."""
    desk = Desk(email=ScriptedNotifier([GONE]))
    await desk.enqueue(MAIL)
    await desk.outbox.deliver_due()
    await desk.outbox.deliver_due()
    assert (await desk.row("mail-1")).state == "dead"
    desk.clock.advance(timedelta(days=400).total_seconds())
    assert await desk.outbox.deliver_due() == 0
    assert (await desk.row("mail-1")).state == "dead"


async def test_a_dead_push_is_not_told_by_push() -> None:
    """A push that is refused permanently tells nobody: it would be a push again."""
    desk = Desk(push=ScriptedNotifier([GONE]))
    await desk.enqueue(PUSH)
    await desk.outbox.deliver_due()
    assert [row.id async for row in desk.outbox.rows()] == ["note-1"]
    assert await desk.outbox.count("dead") == 1


async def test_releasing_the_dead() -> None:
    """A dead row that the owner releases is due at once, and counted no longer."""
    desk = Desk(push=ScriptedNotifier([GONE]))
    await desk.enqueue(PUSH)
    await desk.outbox.deliver_due()
    assert await desk.outbox.release("note-1")
    assert (await desk.outbox.count("dead"), await desk.outbox.count("waiting")) == (0, 1)
    assert await desk.outbox.deliver_due() == 1
    assert desk.push.ids == ["note-1"]


async def test_what_is_held_waits_for_the_owner() -> None:
    """A held row is not delivered, however long; once released it is."""
    desk = Desk()
    await desk.enqueue(PUSH, held=True)
    desk.clock.advance(timedelta(days=30).total_seconds())
    assert await desk.outbox.deliver_due() == 0
    assert await desk.outbox.count("held") == 1
    assert await desk.outbox.release("note-1")
    assert await desk.outbox.deliver_due() == 1
    assert await desk.keys("outbox-") == []


@pytest.mark.parametrize("state", ["held", "dead"])
async def test_dropping(state: str) -> None:
    """A held or dead row that is dropped is not sent, and is remembered for 30 days: a restore asks for it."""
    desk = Desk(push=ScriptedNotifier([GONE]))
    await desk.enqueue(PUSH, held=state == "held")
    await desk.outbox.deliver_due()
    tried = len(desk.push.ids)
    assert (await desk.row()).state == state
    assert await desk.outbox.drop("note-1")
    assert ((await desk.row()).state, (await desk.row()).dropped) == ("delivered", True)
    assert await desk.keys() == ["outbox:note-1"]
    assert not await desk.outbox.release("note-1")
    assert (await desk.outbox.deliver_due(), len(desk.push.ids)) == (0, tried)
    desk.clock.advance(timedelta(days=30).total_seconds())
    assert await desk.keys() == []


@pytest.mark.parametrize("state", ["waiting", "held", "dead", "delivered"])
async def test_an_id_that_is_kept_is_not_enqueued_again(state: str) -> None:
    """Whatever became of a row, a change that reports the same under its id is stored, and the row stays."""
    desk = Desk(push=ScriptedNotifier([GONE] if state == "dead" else []))
    await desk.enqueue(PUSH, held=state == "held")
    if state in {"dead", "delivered"}:
        await desk.outbox.deliver_due()
    before = await desk.row()
    assert before.state == state
    other, change = OutboxDraft("note-2", "push", "t", "b"), Changes([Put("sale", b"1")], [Absent("sale")])
    outcome = await outbox.commit_with(desk.store, change, [PUSH, other], desk.clock.now())
    assert isinstance(outcome, Committed)
    assert await desk.row() == before
    assert (await desk.row("note-2")).state == "waiting"
    again = await outbox.commit_with(desk.store, change, [PUSH, other], desk.clock.now())
    assert isinstance(again, Conflict)
    assert "sale" in again.keys


async def test_only_held_or_dead_rows_can_be_changed() -> None:
    """What waits, was delivered, or is not there can be neither released nor dropped."""
    desk = Desk()
    await desk.enqueue(PUSH)
    for _ in range(2):
        before = await desk.keys()
        for row_id in ("note-1", "note-9"):
            assert not await desk.outbox.release(row_id)
            assert not await desk.outbox.drop(row_id)
        assert await desk.keys() == before
        await desk.outbox.deliver_due()


async def test_rows_by_state() -> None:
    """Rows are listed whole, page after page, or by their state."""
    desk = Desk()
    await desk.enqueue(*(OutboxDraft(f"n{number:03}", "push", "t", "b") for number in range(230)))
    await desk.enqueue(PUSH, held=True)
    assert len([row async for row in desk.outbox.rows()]) == 231
    assert [row.id async for row in desk.outbox.rows("held")] == ["note-1"]


async def test_more_than_a_batch() -> None:
    """However many are due, one call delivers them all, the oldest first."""
    desk = Desk()
    for number in range(40):
        await desk.enqueue(OutboxDraft(f"n{39 - number:02}", "push", "t", "b"))
        desk.clock.advance(1)
    assert await desk.outbox.deliver_due() == 40
    assert desk.push.ids == [f"n{39 - number:02}" for number in range(40)]


async def test_a_channel_that_is_down_does_not_stop_the_other() -> None:
    """While the mail server is down it is asked once a call, and every push is delivered."""
    desk = Desk(email=ScriptedNotifier([BUSY] * 1000))
    await desk.enqueue(*(OutboxDraft(f"a{n:03}", "email", "t", "b", to="a@b.example") for n in range(100)))
    await desk.enqueue(*(OutboxDraft(f"b{number:03}", "push", "t", "b") for number in range(100)))
    await desk.outbox.deliver_due()
    assert len(desk.push.accepted) == 100
    assert desk.email.tried == 1


async def test_no_notifier_is_configured() -> None:
    """Messages of a channel that nobody configured wait untried, and go out at once when somebody does."""
    desk = Desk()
    await desk.enqueue(MAIL)
    only_push = Outbox(desk.store, desk.clock, {"push": desk.push})
    await only_push.deliver_due()
    row = await desk.row("mail-1")
    assert (row.state, row.attempts, row.last_error) == ("waiting", 0, None)
    await desk.outbox.deliver_due()
    assert desk.email.ids == ["mail-1"]


async def test_a_mark_that_cannot_be_stored() -> None:
    """When the mark cannot be stored the message does not go out again, and is marked as soon as it can be."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    desk = Desk(clock, over=store)
    await desk.enqueue(PUSH)
    store.commit_errors = [StoreUnavailable("killed")]
    with pytest.raises(StoreUnavailable):
        await desk.outbox.deliver_due()
    for _ in range(3):
        await desk.outbox.deliver_due()
    assert desk.push.ids == ["note-1"]
    assert (await desk.row()).state == "delivered"


async def test_each_row_has_a_sequence_of_its_own() -> None:
    """No message takes another's place at the receiver, nor that of the same id a month before."""
    desk, drafts = Desk(), [OutboxDraft(n, "push", "t", "b") for n in ("note-1", "note-10", "dead-note-1")]
    for _ in range(2):
        await desk.enqueue(*drafts)
        await desk.outbox.deliver_due()
        desk.clock.advance(timedelta(days=31).total_seconds())
    sequences = [one.sequence for one in desk.push.accepted]
    assert len(set(sequences)) == 6


async def test_each_attempt_has_the_same_sequence() -> None:
    """What is tried again is known by it, whatever became of the row in between."""
    desk = Desk(push=ScriptedNotifier([BUSY, GONE]))
    await desk.enqueue(PUSH)
    first = (await desk.row()).message().sequence
    await desk.outbox.deliver_due()
    desk.clock.advance(3600)
    await desk.outbox.deliver_due()
    assert await desk.outbox.release("note-1")
    await desk.outbox.deliver_due()
    assert [one.sequence for one in desk.push.accepted] == [first]


async def test_an_index_without_a_row_is_cleaned() -> None:
    """An index that points to nothing, or to a row that moved on, is removed and stops nobody."""
    desk = Desk()
    stamp = f"{START:%Y%m%dT%H%M%S.%fZ}"
    places = {f"outbox-next:push:{stamp}:{stamp}:": "gone", f"outbox-due:{stamp}:": "old"}
    orphans = [Put(f"{at}{one}-{n}", f"{one}-{n}".encode()) for at, one in places.items() for n in range(40)]
    await desk.store.commit([*orphans, Put("outbox-next:push:20200101T000000.000000Z::note-1", b"note-1")])
    await desk.enqueue(PUSH)
    await desk.outbox.deliver_due(since=7)
    assert desk.push.ids == ["note-1"]
    assert await desk.keys("outbox-") == []


async def test_dropped_while_it_is_sent() -> None:
    """A row that was removed while its message was under way stays removed."""
    desk = Desk(push=ScriptedNotifier([BUSY], gate=asyncio.Event()))
    await desk.enqueue(PUSH)
    delivery = asyncio.create_task(desk.outbox.deliver_due())
    while not desk.push.tried:
        await checkpoint()
    entry = await desk.store.get("outbox:note-1")
    assert entry is not None
    await desk.store.commit(removed(entry))
    assert desk.push.gate is not None
    desk.push.gate.set()
    await delivery
    assert await desk.keys() == []


async def test_enqueued_once() -> None:
    """With the check that comes with it, a draft that was seen before is not enqueued again."""
    desk = Desk()
    writes, checks = outbox.enqueue([PUSH], START), outbox.unseen([PUSH])
    assert isinstance(await desk.store.commit(writes, checks), Committed)
    await desk.outbox.deliver_due()
    assert isinstance(await desk.store.commit(writes, checks), Conflict)
    assert await desk.outbox.deliver_due() == 0


async def test_a_second_death() -> None:
    """A mail that was released and refused again is dropped, and its index is left nowhere."""
    desk = Desk(email=ScriptedNotifier([GONE, GONE]))
    await desk.enqueue(MAIL)
    for _ in range(2):
        await desk.outbox.release("mail-1")
        await desk.outbox.deliver_due()
    assert (await desk.row("mail-1")).state == "dead"
    await desk.outbox.drop("mail-1")
    assert await desk.keys("outbox-") == []


async def test_a_fault_that_lasts_is_told_once() -> None:
    """What is seen each day is told once, however long; what is seen again after a pause is told again."""
    desk = Desk()
    for _ in range(100):
        await outbox.notify_once(desk.store, desk.clock, PUSH)
        await desk.outbox.deliver_due()
        desk.clock.advance(timedelta(days=1).total_seconds())
    assert len(desk.push.accepted) == 1
    desk.clock.advance(timedelta(days=31).total_seconds())
    await outbox.notify_once(desk.store, desk.clock, PUSH)
    await desk.outbox.deliver_due()
    assert len(desk.push.accepted) == 2
