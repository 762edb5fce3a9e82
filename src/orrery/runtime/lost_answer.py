"""A commit whose answer was lost is sent again under its id, until the store answers."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from orrery.errors import OutcomeUnknown, StoreError
from orrery.ports.store import Check, Committed, Conflict, Store, Write

_PAUSES = (0, 0.5, 1, 2, 4, 8, 14.5)
"""Seconds before each repeat: 30 s, in which a failover is over."""


async def repeated(
    store: Store, writes: Sequence[Write], checks: Sequence[Check], lost: OutcomeUnknown
) -> Committed | Conflict:
    """Return what became of the commit; raise `lost` when the store has not answered in the end.

    A store that refuses meanwhile, as one does that fails over, has said nothing of the first attempt.
    """
    for pause in _PAUSES:
        await asyncio.sleep(pause)
        with suppress(StoreError):
            return await store.commit(writes, checks, commit_id=lost.commit_id)
    raise lost
