"""Commits without a pause over the store of the settings, and prints each wait of seconds for an acknowledgement.

Run on the machine of the shop: python -m tests.rehearsal.selling CONFIG. It ends with its standard input.
In the end it prints how much of what was acknowledged is not there.
"""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path
from threading import Thread

from anyio.lowlevel import checkpoint

from orrery.adapters.clock import SystemClock
from orrery.app.cli.services import configured
from orrery.app.store_place import store_place
from orrery.app.store_races import entries
from orrery.errors import StoreError
from orrery.ports.store import Put

_LONG = timedelta(seconds=5)


async def sell(config: Path) -> None:
    """Sell until the input ends."""
    settings, secrets = configured(config, quiet=True)
    store = await store_place(settings, secrets).open()
    ending = Thread(target=sys.stdin.read, daemon=True)
    ending.start()
    clock = SystemClock()
    kept, last, start = set[str](), clock.now(), f"sold:{clock.now():%H%M%S}:"
    _say("selling")
    while ending.is_alive():
        key = f"{start}{len(kept):06}"
        try:
            _ = await store.commit([Put(key, b"")], commit_id=key)
        except StoreError:
            await checkpoint()
            continue
        kept.add(key)
        silence, last = clock.now() - last, clock.now()
        if silence > _LONG:
            _say(f"again after {silence.total_seconds():.1f} s")
    lost = kept - {entry.key for entry in await entries(store, start)}
    _say(f"{len(lost)} lost of {len(kept)}")
    await store.close()


def _say(text: str) -> None:
    _ = sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


asyncio.run(sell(Path(sys.argv[1])))
