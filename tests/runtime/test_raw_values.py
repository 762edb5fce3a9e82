"""Bytes that are no records, and the store's own key."""

from datetime import timedelta

from orrery.adapters.memory import MemoryStore
from orrery.ports.store import Committed, Conflict
from orrery.runtime.collection import FOR_EVER, commit
from orrery.runtime.index_key import index_key
from orrery.runtime.raw_values import RawValues
from tests.support.clock import START, ManualClock
from tests.support.unreliable_store import UnreliableStore


async def test_a_value_is_added_once() -> None:
    """A second value of the same id conflicts, and the first stays with its bytes."""
    store = MemoryStore(ManualClock())
    values = RawValues(store, "event:", FOR_EVER)
    assert isinstance(await commit(store, values.added("1", b"first")), Committed)
    assert await commit(store, values.added("1", b"second")) == Conflict(("event:1",))
    entry = await values.get("1")
    assert entry is not None
    assert (entry.key, entry.value, entry.expires_at) == ("event:1", b"first", None)
    assert await values.get("2") is None


async def test_a_value_lives_as_long_as_its_kind() -> None:
    """Both ways to store a value give it the life of its kind."""
    store, life = MemoryStore(ManualClock()), timedelta(days=90)
    values = RawValues(store, "event:", life)
    await store.commit([values.put("1", b"a"), *values.added("2", b"b").writes])
    assert [one.expires_at for one in await store.scan("event:")] == [START + life] * 2


async def test_the_key_of_a_store_is_made_once() -> None:
    """Each store has its own key, which stays."""
    store = MemoryStore(ManualClock())
    key = await index_key(store)
    assert (len(key), await index_key(store)) == (32, key)
    assert await index_key(MemoryStore(ManualClock())) != key


async def test_two_processes_make_one_key() -> None:
    """The key of the process that was first is the key of both."""
    inside = MemoryStore(ManualClock())
    keys = list[bytes]()

    async def overtake() -> None:
        keys.append(await index_key(inside))

    assert await index_key(UnreliableStore(inside, overtaken_by=overtake)) == keys[0]
