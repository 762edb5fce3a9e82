"""A commit whose answer was lost is sent again under its id, until the store answers."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain, repeat

from orrery.errors import OutcomeUnknown, StoreError
from orrery.ports.store import Check, Committed, Conflict, Store, Write

_SECONDS = 30
"""How long all repeats may take, with what the store itself waits in each: a failover is over by then."""


async def repeated(
    store: Store, writes: Sequence[Write], checks: Sequence[Check], lost: OutcomeUnknown
) -> Committed | Conflict:
    """Return what became of the commit; raise `lost` when the store has not answered after 30 s.

    A store that refuses meanwhile, as one does that fails over, has said nothing of the first attempt. A repeat
    that is under way when the time is over is given up.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(_SECONDS):
            for pause in chain((0, 0.5, 1, 2), repeat(4)):
                await asyncio.sleep(pause)
                with suppress(StoreError):
                    return await store.commit(writes, checks, commit_id=lost.commit_id)
    raise lost
