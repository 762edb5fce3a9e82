"""The approval log in the store: an entry is appended in the commit of the change it describes (decision 15)."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

from orrery.approvals.chain import (
    EntryKind,
    LogEntry,
    SignedStatement,
    broken_at,
    following,
    impersonal,
)
from orrery.approvals.progress import IntentProgress, fold
from orrery.errors import RecordUnreadable, StoreUnavailable
from orrery.ports.clock import Clock
from orrery.ports.store import Conflict, Store, Write
from orrery.runtime import outbox
from orrery.runtime.collection import FOR_EVER, Changes, Collection, StoredRecord, commit, compare_and_set, parse
from orrery.runtime.operations import Intent

LOG = "approval-log:"
HEAD = "approval-log-head"

_WITHOUT_PUSH: tuple[EntryKind, ...] = ("proposed", "withdrawn", "started", "closed")
UNSIGNED = SignedStatement()
NOTHING = Changes()
TOO_BUSY = "The log is being written to all the time; try again."
_DAMAGED = "The approval log is damaged, so nothing was written: see `orrery approvals verify`."


class ApprovalLog:
    """Appends to the chain, and reads it."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._entries = Collection(store, clock, LogEntry, LOG, life=FOR_EVER)
        self._head = Collection(store, clock, LogEntry, HEAD, life=FOR_EVER)
        self._folded: tuple[LogEntry | None, Mapping[str, IntentProgress]] = None, {}

    async def append(
        self,
        kind: EntryKind,
        intent: Intent,
        note: str = "",
        *,
        target: str = "",
        signed: SignedStatement = UNSIGNED,
        quiet: bool = False,
        changes: Callable[[LogEntry], Awaitable[Changes | None]] | None = None,
    ) -> None:
        """Append an entry in one commit with the changes that belong to it; None of them leaves all as it is.

        `changes` is asked again when another process was first: what it reads is from after the last entry.
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

        async def attempt() -> Conflict | None:
            head = await self._sound_head()
            entry = following(head.record if head else None, new)
            more = await changes(entry) if changes else NOTHING
            if more is None:
                return None
            stored = self._head.changes("", head, entry) + self._entries.changes(_number(entry), None, entry)
            enqueued = Changes([] if quiet else _pushes(entry))
            outcome = await commit(self._store, stored + enqueued + more)
            if not isinstance(outcome, Conflict):
                return None
            if HEAD not in outcome.keys and self._entries.key(_number(entry)) in outcome.keys:
                raise StoreUnavailable(_DAMAGED)
            return outcome

        await compare_and_set(attempt, "The store is too busy to write the approval log; nothing was written.")

    async def entries(self) -> AsyncIterator[LogEntry | None]:
        """Yield the log, the oldest entry first; None for one that cannot be read."""
        async for entry in self._entries.entries():
            found = parse(LogEntry, entry.value)
            yield found if found and self._entries.key(_number(found)) == entry.key else None

    async def newest(self, limit: int) -> list[LogEntry]:
        """Return at most `limit` readable entries, the newest first."""
        pages = self._entries.pages(limit=limit, newest_first=True)
        return [one.record async for page in pages for one in page.records]

    async def head(self) -> LogEntry | None:
        """Return the stored copy of the last entry, or None when it is missing or cannot be read."""
        found = await self._head.find()
        return found.record if found else None

    async def broken_at(self) -> int | None:
        """Return the first number at which an entry is missing, altered, or not where it belongs."""
        return broken_at(*await self.whole())

    async def proven(self) -> Mapping[str, IntentProgress]:
        """Return how far each intent has come by the whole log; raise `StoreUnavailable` if it is damaged."""
        entries, head = await self.whole()
        if broken_at(entries, head) is not None:
            raise StoreUnavailable(_DAMAGED)
        return fold(filter(None, entries), {})

    async def logged(self) -> Mapping[str, IntentProgress]:
        """Return how far each intent has come, by the entries that can be read.

        What was read once is read again only where the head does not follow it: whether all of it still holds is
        for `proven` and `broken_at`.
        """
        head, (last, logged) = await self.head(), self._folded
        if head is None or head != last:
            new = (await self.newest(head.number - last.number))[::-1] if head and last else []
            if not new or not last or new[0].previous != last.hash:
                new, logged = [entry async for entry in self.entries() if entry], dict[str, IntentProgress]()
            logged = fold(new, logged)
            self._folded = head, logged
        return logged

    async def whole(self) -> tuple[list[LogEntry | None], LogEntry | None]:
        """Return all entries, and the stored copy of the last one."""

        async def attempt() -> tuple[list[LogEntry | None], LogEntry | None] | Conflict:
            head = await self.head()
            entries = [entry async for entry in self.entries()]
            return (entries, head) if head == await self.head() else Conflict((HEAD,))

        return await compare_and_set(attempt, TOO_BUSY)

    async def _sound_head(self) -> StoredRecord[LogEntry] | None:
        try:
            return await self._head.get()
        except RecordUnreadable:
            raise StoreUnavailable(_DAMAGED) from None


def _number(entry: LogEntry) -> str:
    return f"{entry.number:012d}"


def _pushes(entry: LogEntry) -> list[Write]:
    """Return the writes that enqueue a push with an entry and the head of the log.

    A standing approval causes a push when it is signed and when a target fails, not for each target that succeeds.
    """
    if entry.kind in _WITHOUT_PUSH or (entry.kind == "done" and entry.target):
        return []
    push = outbox.OutboxDraft(
        id=f"approval-log-{entry.number}-{entry.hash[:8]}",
        channel="push",
        title=f"{entry.operation}: {entry.kind}",
        body=f"Intent {entry.intent_id}. Log {entry.head}",
        priority="high" if entry.kind in ("refused", "unknown") else "default",
    )
    return outbox.enqueue([push], entry.at)
