"""The store's own key for digests of what must not be read from a key or an index, such as e-mail addresses."""

import secrets

from orrery.ports.store import Absent, Conflict, Put, Store
from orrery.runtime.collection import Changes, commit, compare_and_set

_KEY = "index-key"


async def index_key(store: Store) -> bytes:
    """Return the key, made when the store is new (decision 10); raise the store's errors."""

    async def attempt() -> bytes | Conflict:
        if entry := await store.get(_KEY):
            return entry.value
        made = secrets.token_bytes(32)
        outcome = await commit(store, Changes([Put(_KEY, made)], [Absent(_KEY)]))
        return outcome if isinstance(outcome, Conflict) else made

    return await compare_and_set(attempt, "The store's key changes all the time.")
