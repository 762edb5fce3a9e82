"""Each message of a restored store has the state that it had in the replaced one (decision 63)."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import product
from typing import get_args

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.errors import StoreUnavailable
from orrery.ports.store import Put, StoreEntry
from orrery.runtime.index_key import INDEX_KEY
from orrery.runtime.outbox import DeliveryState, Notification, Outbox, rows_of
from orrery.runtime.replaced import ReplacedStore
from orrery.runtime.restored import (
    NO_STORE,
    NOT_THERE,
    NOT_WHOLE,
    Restoration,
    RestoreResult,
    last_restore,
)
from tests.support.clock import START, ManualClock
from tests.support.tables import each_case

STATES: tuple[DeliveryState, ...] = get_args(DeliveryState)
HOUR = timedelta(hours=1)


def row(row_id: str, state: DeliveryState, *, at: datetime = START) -> Notification:
    """Return an e-mail in a state."""
    return Notification(
        id=row_id, channel="email", to="a@b.example", title="t", body="b", state=state, created_at=at, due_at=at
    )


@dataclass
class Stores:
    """A snapshot and the store that it replaces."""

    clock: ManualClock = field(default_factory=ManualClock)

    def __post_init__(self) -> None:
        self.ours, self.theirs = MemoryStore(self.clock), MemoryStore(self.clock)

    async def hold(self, store: MemoryStore, *rows: Notification) -> None:
        """Store messages."""
        for one in rows:
            await store.commit(rows_of(store, self.clock).changes(one.id, None, one).writes)

    async def restore(self, *, went_on: bool = True) -> RestoreResult:
        """Settle the snapshot beside the store that it replaces."""
        return await Restoration(self.ours, self.clock).settle(ReplacedStore(self.theirs, went_on=went_on))

    async def states(self) -> dict[str, str]:
        """Return what became of each message."""
        return {one.id: one.state async for one in Outbox(self.ours, self.clock, {}).rows()}

    async def counted(self) -> int:
        """Return how many messages the indexes name."""
        outbox = Outbox(self.ours, self.clock, {})
        return sum([await outbox.count(state) for state in ("waiting", "held", "dead")])


def expected(ours: DeliveryState, theirs: DeliveryState | None, *, went_on: bool) -> DeliveryState:
    """Return what must become of a message, in a table of its own."""
    if ours == "delivered" or theirs == "delivered":
        return "delivered"
    if theirs and went_on:
        return theirs
    return "held" if ours == "waiting" else ours


@each_case("went_on", [True, False])
@each_case(("ours", "theirs"), list(product(STATES, [*STATES, None])))
async def test_every_pair_of_states(ours: DeliveryState, theirs: DeliveryState | None, *, went_on: bool) -> None:
    """Delivered stays delivered, a store that went on decides the rest, and only what it does not know is held."""
    stores = Stores()
    await stores.hold(stores.ours, row("m", ours))
    if theirs:
        await stores.hold(stores.theirs, row("m", theirs))
    done = await stores.restore(went_on=went_on)
    after = expected(ours, theirs, went_on=went_on)
    assert await stores.states() == {"m": after}
    assert await stores.counted() == (after != "delivered")
    held_now = ours == "waiting" and after == "held" and theirs != "held"
    assert sum(done.held.values()) == (held_now or (ours == "waiting" and after == "held" and not went_on))


@pytest.mark.parametrize("theirs", STATES)
async def test_messages_since_the_snapshot(theirs: DeliveryState) -> None:
    """What was sent since is remembered; what waits reports what the restore took back, and is not taken over."""
    stores = Stores()
    await stores.hold(stores.theirs, row("m", theirs))
    await stores.restore()
    assert await stores.states() == ({} if theirs == "waiting" else {"m": theirs})


async def test_without_a_store_to_replace() -> None:
    """All that waits is held, with its reason, and nothing is known of any session before."""
    stores = Stores()
    await stores.hold(
        stores.ours, row("a", "waiting"), row("b", "waiting"), row("c", "delivered"), row("d", "dead")
    )
    done = await Restoration(stores.ours, stores.clock).settle(None)
    assert await stores.states() == {"a": "held", "b": "held", "c": "delivered", "d": "dead"}
    assert (done.held, done.known) == ({NO_STORE: 2}, 0)
    assert {one.held_because async for one in Outbox(stores.ours, stores.clock, {}).rows("held")} == {NO_STORE}
    restored = await last_restore(stores.ours, stores.clock)
    assert restored
    assert restored.may_have_notified(START)


class BrokenHalfWay(MemoryStore):
    """A store of which the second page cannot be read."""

    async def scan(
        self, prefix: str, *, after: str | None = None, limit: int = 100, reverse: bool = False
    ) -> list[StoreEntry]:
        """Return the first page only."""
        if after is not None:
            raise StoreUnavailable("damaged")
        return await super().scan(prefix, after=after, limit=limit, reverse=reverse)


async def test_a_store_that_breaks_off() -> None:
    """What could be read of it counts; of the rest nothing is known, nor of any session before."""
    stores = Stores()
    stores.theirs = BrokenHalfWay(stores.clock)
    rows = [row(f"m{number:03}", "waiting", at=START - 40 * HOUR) for number in range(250)]
    await stores.hold(stores.ours, *rows)
    await stores.hold(stores.theirs, *(one.change(state="delivered") for one in rows))
    done = await stores.restore()
    assert (done.known, done.held) == (200, {NO_STORE: 50})
    restored = await last_restore(stores.ours, stores.clock)
    assert restored
    assert restored.messages_known_since is None


async def test_reasons() -> None:
    """A message is held because the replaced store does not have it, or is not as new as the snapshot."""
    for went_on, because in ((True, NOT_THERE), (False, NOT_WHOLE)):
        stores = Stores()
        await stores.hold(stores.ours, row("m", "waiting"))
        assert (await stores.restore(went_on=went_on)).held == {because: 1}


async def test_an_unreadable_message() -> None:
    """One that cannot be read there is not known; one that cannot be read here stays as it is."""
    stores = Stores()
    await stores.hold(stores.ours, row("a", "waiting"))
    await stores.hold(stores.theirs, row("b", "delivered", at=START - HOUR))
    await stores.theirs.commit([Put("outbox:a", b"{")])
    await stores.ours.commit([Put("outbox:b", b'{"v": 2}')])
    assert (await stores.restore()).held == {NOT_WHOLE: 1}
    found = await stores.ours.get("outbox:b")
    assert found
    assert found.value == b'{"v": 2}'
    restored = await last_restore(stores.ours, stores.clock)
    assert restored
    assert restored.messages_known_since is None


@pytest.mark.parametrize(("days", "may"), [(-29, False), (-31, True), (0, False)])
async def test_sessions_whose_messages_are_known(days: int, *, may: bool) -> None:
    """A session's message that is not here was never sent, as far back as what was delivered is kept."""
    stores = Stores()
    await stores.restore()
    restored = await last_restore(stores.ours, stores.clock)
    assert restored
    assert restored.may_have_notified(START + timedelta(days=days)) is may


async def test_another_store_knows_nothing() -> None:
    """A store with another key is another one: what it does not have may have been sent by a store before it."""
    stores = Stores()
    await stores.ours.commit([Put(INDEX_KEY, b"1")])
    await stores.theirs.commit([Put(INDEX_KEY, b"2")])
    await stores.hold(stores.ours, row("a", "waiting"), row("b", "waiting"))
    await stores.hold(stores.theirs, row("b", "delivered"))
    assert (await stores.restore()).held == {NOT_WHOLE: 1}
    restored = await last_restore(stores.ours, stores.clock)
    assert restored
    assert restored.may_have_notified(START)


async def test_twice_over() -> None:
    """What the first restore did not know, the second does not know either; what it knew, the second knows."""
    for first_knew in (False, True):
        stores = Stores()
        if first_knew:
            await stores.restore()
        else:
            await Restoration(stores.ours, stores.clock).settle(None)
        second = Stores(stores.clock)
        second.theirs = stores.ours
        stores.clock.advance(HOUR.total_seconds())
        await second.restore()
        restored = await last_restore(second.ours, second.clock)
        assert restored
        assert restored.may_have_notified(START - 5 * HOUR) is not first_knew
