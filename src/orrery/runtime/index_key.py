"""The store's own key for digests of what must not be read from a key or an index, such as e-mail addresses."""

import secrets

from orrery.errors import StoreUnavailable
from orrery.ports.store import Absent, Conflict, Put, Store, StoreEntry
from orrery.runtime.collection import Changes, commit, compare_and_set

INDEX_KEY = "index-key"
"""It is the first that a store is given, and is never deleted."""


def emptied() -> StoreUnavailable:
    """Return the error for a store that was in use and has no key: it must not be taken for a new one."""
    return StoreUnavailable(
        "The store was emptied by another program: "
        "stop the service, and bring a snapshot back with `orrery restore`."
    )


async def index_key(store: Store) -> bytes:
    """Return the key, made when the store is new (decision 10); raise the store's errors."""

    async def attempt() -> bytes | Conflict:
        if entry := await _found(store):
            return entry.value
        made = secrets.token_bytes(32)
        outcome = await commit(store, Changes([Put(INDEX_KEY, made)], [Absent(INDEX_KEY)]))
        return outcome if isinstance(outcome, Conflict) else made

    return await compare_and_set(attempt, "The store's key changes all the time.")


async def have_one_origin(one: Store, other: Store) -> bool:
    """Return whether two stores come from the same `orrery store create`, as a snapshot and its store do."""
    keys = [await store.get(INDEX_KEY) for store in (one, other)]
    return len({entry and entry.value for entry in keys}) == 1


async def stored_key(store: Store) -> bytes:
    """Return the key, or in a new store any key, which is not stored; raise the store's errors."""
    entry = await _found(store)
    return entry.value if entry else secrets.token_bytes(32)


async def _found(store: Store) -> StoreEntry | None:
    """Return the key's entry; None in a new store."""
    found = await store.inspect()  # asked first: another process may make the key at this moment
    entry = await store.get(INDEX_KEY)
    if entry is None and found.last_version:
        raise emptied()
    return entry
