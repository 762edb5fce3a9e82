"""Every record of a store, read by the code that lies beside this file: `python -m tests.support.reading FILE`.

It prints the keys that cannot be read, one a line, and exits with 1 when there is one. An earlier release runs it
over what today's code wrote.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from pydantic import ValidationError

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore
from orrery.approvals.chain import LogEntry
from orrery.approvals.intents import Erased
from orrery.approvals.progress import IntentProgress
from orrery.checkout import records as checkout
from orrery.checkout.records import DriftResult, JournalEntry, OwnSession, PreflightTrial, Receipt
from orrery.fraud.records import LastSearch
from orrery.gateway.records import LastPing
from orrery.live import records as live
from orrery.live.monitor import MonitorState
from orrery.live.quota import QuotaBudget
from orrery.ports.clock import Clock
from orrery.ports.store import StoreEntry
from orrery.record import Record
from orrery.runtime import lease, restored
from orrery.runtime.operations import Intent
from orrery.runtime.outbox import Notification
from orrery.secrets.baseline import Announcement, Baseline

Reader = Callable[[bytes], Record]


def either(*kinds: type[Record]) -> Reader:
    """Return a reader of a record of one of these kinds."""

    def read(value: bytes) -> Record:
        for kind in kinds[:-1]:
            try:
                return kind.from_bytes(value)
            except ValidationError:
                continue
        return kinds[-1].from_bytes(value)

    return read


READERS: dict[str, Reader] = {
    "access:": checkout.AccessRecord.from_bytes,
    "access-end:": checkout.AccessEnd.from_bytes,
    "approval:": IntentProgress.from_bytes,
    "approval-log:": LogEntry.from_bytes,
    "approval-log-head": LogEntry.from_bytes,
    "attempt:": checkout.Attempt.from_bytes,
    "checkout-drift": DriftResult.from_bytes,
    "fraud:found": LastSearch.from_bytes,
    "gateway:ping": LastPing.from_bytes,
    "intent:": either(Intent, Erased),
    "journal:": JournalEntry.from_bytes,
    "lease:": lease.Holder.from_bytes,
    "offer:": checkout.Offer.from_bytes,
    "outbox:": Notification.from_bytes,
    "own-session:": OwnSession.from_bytes,
    "pending:": checkout.WithheldSession.from_bytes,
    "preflight:": PreflightTrial.from_bytes,
    "realtime:active": live.Active.from_bytes,
    "realtime:last_error": live.LastError.from_bytes,
    "realtime:monitor": MonitorState.from_bytes,
    "realtime:outcome": live.RefreshOutcome.from_bytes,
    "realtime:pages": live.Pages.from_bytes,
    "realtime:quota": QuotaBudget.from_bytes,
    "receipt:": Receipt.from_bytes,
    "reconciled": checkout.LastReconciliation.from_bytes,
    "restored-at": restored.Restored.from_bytes,
    "secret:": Baseline.from_bytes,
    "secret-announced:": Announcement.from_bytes,
}
"""How the value under each prefix is read."""

BYTES = (
    "access-by-email:",
    "access-by-time:",
    "event:",
    "imported:",
    "index-key",
    "offer-address:",
    "outbox-dead:",
    "outbox-due:",
    "outbox-held:",
    "outbox-next:",
    "outbox-unreadable:",
    "preflight-left:",
    "realtime:budget",
    "verifying:",
    "written",
)
"""The prefixes of values that are no records: indexes, raw events, keys, and what only earlier releases read."""


def prefix_of(key: str) -> str:
    """Return the longest prefix of `READERS` and `BYTES` that a key has, or an empty text."""
    return max((prefix for prefix in (*READERS, *BYTES) if key.startswith(prefix)), key=len, default="")


async def entries(path: Path, clock: Clock) -> AsyncIterator[StoreEntry]:
    """Yield everything in a store that has not expired by this clock."""
    store = await SqliteStore.open(path, clock)
    try:
        after = None
        while page := await store.scan("", after=after, limit=1000):
            after = page[-1].key
            for entry in page:
                yield entry
    finally:
        await store.close()


async def unreadable(path: Path, clock: Clock) -> list[str]:
    """Return the keys of a store whose records cannot be read; a key that nobody knows here is not looked at."""
    found: list[str] = []
    async for entry in entries(path, clock):
        reader = READERS.get(prefix_of(entry.key))
        try:
            if reader:
                reader(entry.value)
        except ValidationError:
            found.append(entry.key)
    return found


def main() -> int:
    """Print the keys that cannot be read."""
    found = asyncio.run(unreadable(Path(sys.argv[1]), SystemClock()))
    print("\n".join(found))  # noqa: T201  a program of its own
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
