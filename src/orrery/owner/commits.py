"""Commits: one that cannot conflict, and one whose outcome the caller has to know."""

import secrets
from collections.abc import Sequence

from orrery.errors import OutcomeUnknown
from orrery.ports.store import Check, Committed, Conflict, Store, Write


async def write(store: Store, writes: Sequence[Write]) -> None:
    """Commit without a check: nothing can conflict with it. Raises the store's errors."""
    _ = await store.commit(writes)


async def commit_once(store: Store, writes: Sequence[Write], checks: Sequence[Check]) -> Committed | Conflict:
    """Commit, and when the answer is lost ask once more under the same id, which writes nothing twice.

    Raises the store's errors.
    """
    try:
        return await store.commit(writes, checks, commit_id=secrets.token_hex(16))
    except OutcomeUnknown as error:
        return await store.commit(writes, checks, commit_id=error.commit_id)
