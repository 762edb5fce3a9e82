"""The public reads over a store: shared, cheap, and closed to the provider (spec 2; decision 27)."""

import asyncio
import json
from collections.abc import Awaitable, Sequence

import pytest
from anyio.lowlevel import checkpoint

from orrery.adapters.memory import MemoryStore
from orrery.errors import StoreUnavailable
from orrery.live import keys
from orrery.live.answers import CachedAnswer, cosmos, site
from orrery.live.reads import DEADLINE, READ_AGAIN, FirstLevelCache, PublicRead
from orrery.live.records import Active, Snapshot
from orrery.ports.store import Put, StoreEntry
from tests.support.clock import START, ManualClock
from tests.support.hasty_loop import StillLoop
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore


class Reader:
    """Both public reads over a store in memory, which counts how often it is read."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = UnreliableStore(MemoryStore(self.clock))
        self.cache = FirstLevelCache(self.store, self.clock)
        self.site = PublicRead(self.cache, self.clock, site)
        self.cosmos = PublicRead(self.cache, self.clock, cosmos)

    async def fill(self, count: int) -> None:
        """Store a count of now."""
        await self.put(Active(active=count, generated_at=self.clock.now()).model_dump_json().encode())

    async def put(self, value: bytes, key: str = keys.ACTIVE) -> None:
        """Store any value."""
        await self.store.commit([Put(key, value)])

    async def read(self) -> dict[str, object]:
        """Return what the cosmos read says now."""
        return json.loads((self.cosmos.ready() or await self.cosmos.answer()).body)


class SlowStore(MemoryStore):
    """A store each of whose two reads takes half of a time; what it returns is of their beginning."""

    def __init__(self, clock: ManualClock, takes: float) -> None:
        super().__init__(clock)
        self._slow, self._takes = clock, takes

    async def get(self, key: str) -> StoreEntry | None:
        """Answer late."""
        found = await super().get(key)
        await self._slow.sleep(self._takes / 2)
        return found


class HangingStore(MemoryStore):
    """A store whose reads never come back."""

    async def get(self, key: str) -> StoreEntry | None:
        """Wait for ever."""
        await asyncio.Event().wait()
        return await super().get(key)


@pytest.fixture
def reader() -> Reader:
    """Return reads over an empty store."""
    return Reader()


async def test_what_was_stored_is_read(reader: Reader) -> None:
    """A stored count is read."""
    await reader.fill(7)
    assert (await reader.read())["totalUnique"] == 7


def test_ten_thousand_reads_at_once_read_the_store_once(reader: Reader) -> None:
    """Any number of readers of an empty store cause one look into it, and all are told no-data."""

    async def read() -> Sequence[dict[str, object]]:
        return await asyncio.gather(*(reader.read() for _ in range(10_000)))

    with asyncio.Runner(loop_factory=StillLoop) as runner:
        answers = runner.run(read())
    assert {answer["error"] for answer in answers} == {"no-data"}
    assert reader.store.reads.total() == 2


async def test_the_store_is_read_every_five_seconds(reader: Reader) -> None:
    """Meanwhile the node answers from its own memory, and then with what another node has written."""
    for _ in range(4):
        await reader.read()
        reader.clock.advance(1)
    await reader.read()
    reader.clock.advance(0.5)
    assert reader.store.reads.total() == 2
    await reader.fill(7)
    assert (await reader.read())["totalUnique"] == 0
    reader.clock.advance(0.5)
    assert (await reader.read())["totalUnique"] == 7


@pytest.mark.parametrize("takes", [0.0, 1.0, DEADLINE - 0.1])
async def test_no_answer_is_older_than_the_write_before_and_five_seconds(takes: float) -> None:
    """However slow the store is: what another node wrote is in each answer that is asked for 5 s later."""
    clock = ManualClock()
    store = SlowStore(clock, takes)
    cache = FirstLevelCache(store, clock)
    read = PublicRead(cache, clock, cosmos)
    written: list[tuple[float, int]] = []
    for tick in range(200):
        _ = await store.commit(
            [Put(keys.ACTIVE, Active(active=tick, generated_at=clock.now()).model_dump_json().encode())]
        )
        written.append((clock.monotonic(), tick))
        asked = clock.monotonic()
        shown = json.loads((read.ready() or await waited(clock, read.answer())).body)["totalUnique"]
        assert shown >= max((count for at, count in written if at <= asked - READ_AGAIN), default=0)
        clock.advance(0.3)


async def waited(clock: ManualClock, answer: Awaitable[CachedAnswer]) -> CachedAnswer:
    """Return an answer, moving the clock on while it waits."""
    task = asyncio.ensure_future(answer)
    while not task.done():
        for _ in range(10):
            await checkpoint()
        if clock.sleepers:
            clock.advance(0.1)
    return await task


async def test_an_answer_is_composed_once_a_second(reader: Reader) -> None:
    """Within a second the very same answer is sent; in the next one its age has grown."""
    await reader.fill(7)
    first = await reader.cosmos.answer()
    assert reader.cosmos.ready() is first
    reader.clock.advance(1)
    assert reader.cosmos.ready() is None
    assert json.loads((await reader.cosmos.answer()).body)["age_s"] == 1


async def test_a_refresh_on_this_node_shows_at_once(reader: Reader) -> None:
    """What was just written is read within the same second."""
    await reader.fill(7)
    await reader.read()
    await reader.fill(8)
    await reader.cache.reload()
    assert (await reader.read())["totalUnique"] == 8


async def test_both_reads_are_of_one_snapshot(reader: Reader) -> None:
    """The two screens never disagree: both are composed from what was read at once."""
    await reader.fill(7)
    assert json.loads((await reader.site.answer()).body)["active"] == 7
    await reader.fill(8)
    assert (await reader.read())["totalUnique"] == 7


async def test_a_store_that_fails_keeps_what_is_held(reader: Reader) -> None:
    """A count that was read is served while it may be, though the store cannot be read any more."""
    await reader.fill(7)
    await reader.read()
    reader.clock.advance(61)
    reader.store.get_errors = [StoreUnavailable("It is gone.")]
    answer = await reader.read()
    assert (answer["totalUnique"], answer["age_s"], answer.get("error")) == (7, 61, None)


async def test_a_store_that_fails_at_once(reader: Reader) -> None:
    """Without anything held the store is named as the reason, and asked again soon."""
    reader.store.get_errors = [StoreUnavailable("It is gone.")]
    assert (await reader.read())["error"] == "kv-not-bound"
    await reader.fill(7)
    reader.clock.advance(5)
    assert (await reader.read())["totalUnique"] == 7


async def test_a_store_that_hangs_keeps_what_is_held() -> None:
    """A store that does not answer is one that cannot be reached: readers are served what is held."""
    clock = ManualClock()
    cache = FirstLevelCache(HangingStore(clock), clock)
    read = PublicRead(cache, clock, cosmos)
    cache.snapshot = Snapshot(Active(active=7, generated_at=clock.now()))
    assert json.loads((await read.answer()).body)["totalUnique"] == 7
    assert not cache.reachable


@each_case(
    "value",
    [
        b"",
        b"null",
        b"[]",
        b"12",
        b"\xff\xfe",
        b'{"active": 12}',
        b'{"generated_at": "2026-03-01T12:00:00Z"}',
        b'{"active": -1, "generated_at": "2026-03-01T12:00:00Z"}',
        b'{"active": 1.5, "generated_at": "2026-03-01T12:00:00Z"}',
        b'{"active": true, "generated_at": "2026-03-01T12:00:00Z"}',
        b'{"active": "12", "generated_at": "2026-03-01T12:00:00Z"}',
        b'{"active": NaN, "generated_at": "2026-03-01T12:00:00Z"}',
        b'{"active": 1e400, "generated_at": "2026-03-01T12:00:00Z"}',
        b'{"active": 12, "generated_at": "2026-03-01T12:00:00"}',
        b'{"active": 12, "generated_at": "yesterday"}',
        b'{"active": 12, "generated_at": null}',
        b'{"active": 12, "generated_at": "2026-03-01T12:02:00Z"}',
        b'{"active": 12, "generated_at": "0001-01-01T00:00:00+23:59"}',
        b'{"active": 12, "generated_at": "9999-12-31T23:59:59-23:59"}',
        b'{"v": 2, "active": 12, "generated_at": "2026-03-01T12:00:00Z"}',
        b"[" * 100_000,
    ],
)
async def test_foreign_values_are_no_data(reader: Reader, value: bytes) -> None:
    """Whatever lies in the place of a count that is none is no data, and never an error of ours."""
    await reader.put(value)
    await reader.put(value, keys.PAGES)
    assert (await reader.read())["error"] == "no-data"
    assert json.loads((await reader.site.answer()).body)["pages"] == []


async def test_a_value_of_the_scripts_before_is_read(reader: Reader) -> None:
    """The specification's shape is enough: no version of ours is needed."""
    await reader.put(f'{{"active": 5, "generated_at": "{START.isoformat()}"}}'.encode())
    assert (await reader.read())["totalUnique"] == 5
