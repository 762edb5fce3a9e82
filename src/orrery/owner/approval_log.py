"""The approval log in the store: appended to in the same commit as what it tells about (decision 15)."""

from collections.abc import AsyncIterator, Sequence

from orrery.errors import StoreUnavailable
from orrery.owner import outbox
from orrery.owner.chain import (
    EntryKind,
    LogEntry,
    LoggedStates,
    SignedStatement,
    broken_at,
    following,
    impersonal,
    last_states,
)
from orrery.owner.intents import Intent
from orrery.owner.stored import readable
from orrery.ports.clock import Clock
from orrery.ports.store import Absent, Check, Conflict, Entry, Put, Store, Unchanged, Write
from orrery.runtime.collection import Changes, commit

LOG = "approval-log:"
HEAD = "approval-log-head"

_ROUNDS = 20
_WITHOUT_PUSH: tuple[EntryKind, ...] = ("proposed", "withdrawn", "started", "closed")
UNSIGNED = SignedStatement()
_DAMAGED = "The approval log is damaged, so nothing was written: see `orrery approvals verify`."


class ApprovalLog:
    """Appends to the chain, and reads it."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def append(  # noqa: PLR0913  what belongs to an entry and to its one commit
        self,
        kind: EntryKind,
        intent: Intent,
        note: str = "",
        *,
        target: str = "",
        signed: SignedStatement = UNSIGNED,
        quiet: bool = False,
        writes: Sequence[Write] = (),
        checks: Sequence[Check] = (),
    ) -> bool:
        """Append in one commit with `writes`; return False, with nothing written, when one of `checks` failed.

        The same commit enqueues a push about the entry, unless `quiet`.
        Raises `StoreUnavailable` rather than write over an entry.
        """
        new = LogEntry(
            number=0,
            at=self._clock.now(),
            kind=kind,
            intent_id=intent.id,
            operation=intent.operation,
            digest=intent.digest(),
            target=target,
            note=impersonal(note),
            statement=signed.statement,
            signature=signed.signature,
            signer=signed.signer,
        )
        for _ in range(_ROUNDS):
            head = await self._head()
            entry = following(head[1] if head else None, new)
            place = Absent(_key(entry))
            stored = [*_stored(entry), *([] if quiet else _pushes(entry))]
            unchanged = Unchanged(HEAD, head[0].version) if head else Absent(HEAD)
            outcome = await commit(self._store, Changes([*stored, *writes], [unchanged, place, *checks]))
            if not isinstance(outcome, Conflict):
                return True
            if set(outcome.keys) - {HEAD, place.key}:
                return False
            if HEAD not in outcome.keys:
                raise StoreUnavailable(_DAMAGED)
        raise StoreUnavailable("The store is too busy to write the approval log; nothing was written.")

    async def entries(self) -> AsyncIterator[LogEntry | None]:
        """Yield the log, the oldest entry first; None stands for one that cannot be read."""
        after = None
        while page := await self._store.scan(LOG, after=after):
            after = page[-1].key
            for entry in page:
                found = readable(LogEntry, entry)
                yield found if found and _key(found) == entry.key else None

    async def newest(self, limit: int) -> list[LogEntry]:
        """Return at most `limit` readable entries, the newest first."""
        page = await self._store.scan(LOG, limit=limit, reverse=True)
        return [found for entry in page if (found := readable(LogEntry, entry))]

    async def head(self) -> LogEntry | None:
        """Return what the store holds for the last entry, or None when there is none or it cannot be read."""
        entry = await self._store.get(HEAD)
        return readable(LogEntry, entry)

    async def broken_at(self) -> int | None:
        """Return the first number at which an entry is missing, altered, or not where it belongs."""
        return broken_at(*await self._whole())

    async def states(self) -> LoggedStates:
        """Return what the log says last of each intent and target; raise `StoreUnavailable` if it is damaged."""
        entries, head = await self._whole()
        if broken_at(entries, head) is not None:
            raise StoreUnavailable(_DAMAGED)
        return last_states(entry for entry in entries if entry)

    async def _whole(self) -> tuple[list[LogEntry | None], LogEntry | None]:
        """Return all entries, and what the store holds for the last of them."""
        for _ in range(_ROUNDS):
            head = await self.head()
            entries = [entry async for entry in self.entries()]
            if head == await self.head():
                return entries, head
        raise StoreUnavailable("The log is being written to all the time; try again.")

    async def _head(self) -> tuple[Entry, LogEntry] | None:
        entry = await self._store.get(HEAD)
        if entry is None:
            return None
        found = readable(LogEntry, entry)
        if found is None:
            raise StoreUnavailable(_DAMAGED)
        return entry, found


def _key(entry: LogEntry) -> str:
    return f"{LOG}{entry.number:012d}"


def _stored(entry: LogEntry) -> list[Write]:
    value = entry.to_bytes()
    return [Put(_key(entry), value), Put(HEAD, value)]


def _pushes(entry: LogEntry) -> list[Write]:
    """Return the writes that enqueue a push with an entry and the head of the log.

    A standing approval causes a push when it is signed and when a target fails, not for each target that succeeds.
    """
    if entry.kind in _WITHOUT_PUSH or (entry.kind == "done" and entry.target):
        return []
    push = outbox.Draft(
        id=f"approval-log-{entry.number}-{entry.hash[:8]}",
        channel="push",
        title=f"{entry.operation}: {entry.kind}",
        body=f"Intent {entry.intent_id}. Log {entry.head}",
        priority="high" if entry.kind in ("refused", "unknown") else "default",
    )
    return outbox.enqueue([push], entry.at)
