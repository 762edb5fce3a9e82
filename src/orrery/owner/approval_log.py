"""The approval log in the store: appended to in the same commit as what it tells about (decision 15)."""

import secrets
from collections.abc import AsyncIterator, Sequence

from orrery.errors import OutcomeUnknown, StoreUnavailable
from orrery.owner import outbox
from orrery.owner.chain import Kind, LogEntry, following
from orrery.owner.intents import Intent
from orrery.ports.clock import Clock
from orrery.ports.store import Absent, Check, Committed, Conflict, Entry, Put, Store, Unchanged, Write

LOG = "approval-log:"
HEAD = "approval-log-head"

_ROUNDS = 20
_TOLD: tuple[Kind, ...] = ("refused", "approved", "done", "failed", "unknown", "happened", "did not happen")


class ApprovalLog:
    """Appends to the chain, and reads it."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def append(
        self,
        kind: Kind,
        intent: Intent,
        note: str = "",
        *,
        target: str = "",
        signer: str = "",
        writes: Sequence[Write] = (),
        checks: Sequence[Check] = (),
    ) -> bool:
        """Append in one commit with `writes`; return False, with nothing written, when one of `checks` failed."""
        new = LogEntry(
            number=0,
            at=self._clock.now(),
            kind=kind,
            intent_id=intent.id,
            operation=intent.operation,
            digest=intent.digest(),
            target=target,
            note=note,
            signer=signer,
        )
        for _ in range(_ROUNDS):
            head = await self._head()
            entry = following(head[1] if head else None, new)
            unchanged = Unchanged(HEAD, head[0].version) if head else Absent(HEAD)
            outcome = await self._commit([*_stored(entry), *writes], [unchanged, *checks])
            if not isinstance(outcome, Conflict):
                return True
            if set(outcome.keys) - {HEAD}:
                return False
        raise StoreUnavailable("The store is too busy to write the approval log; nothing was written.")

    async def entries(self) -> AsyncIterator[LogEntry]:
        """Yield the log, the oldest entry first."""
        after = None
        while page := await self._store.scan(LOG, after=after):
            after = page[-1].key
            for entry in page:
                yield LogEntry.model_validate_json(entry.value)

    async def missing_after(self, last: LogEntry | None) -> int | None:
        """Return the number that should follow `last`, when the head tells that more was written; else None."""
        head = await self._head()
        if (head[1] if head else None) == last:
            return None
        return last.number + 1 if last else 1

    async def _head(self) -> tuple[Entry, LogEntry] | None:
        entry = await self._store.get(HEAD)
        return (entry, LogEntry.model_validate_json(entry.value)) if entry else None

    async def _commit(self, writes: Sequence[Write], checks: Sequence[Check]) -> Committed | Conflict:
        try:
            return await self._store.commit(writes, checks, commit_id=secrets.token_hex(16))
        except OutcomeUnknown as error:
            return await self._store.commit(writes, checks, commit_id=error.commit_id)


def _stored(entry: LogEntry) -> list[Write]:
    """Return the writes that store an entry and tell the owner of it, and with it the head of the log."""
    value = entry.model_dump_json().encode()
    writes: list[Write] = [Put(f"{LOG}{entry.number:012d}", value), Put(HEAD, value)]
    return writes + (outbox.enqueue([_letter(entry)], entry.at) if entry.kind in _TOLD else [])


def _letter(entry: LogEntry) -> outbox.Draft:
    return outbox.Draft(
        id=f"approval-log-{entry.number}-{entry.hash[:8]}",
        channel="push",
        title=f"{entry.operation}: {entry.kind}",
        body=f"Intent {entry.intent_id}. Log {entry.number}:{entry.hash[:16]}",
        priority="high" if entry.kind in ("refused", "unknown") else "default",
    )
