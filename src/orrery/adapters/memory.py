"""A store in the process's own memory: for tests and demonstrations, gone when the process ends."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice, takewhile

from orrery.errors import StoreUnavailable
from orrery.ports.clock import Clock
from orrery.ports.store import (
    Absent,
    Check,
    Committed,
    Conflict,
    Delete,
    Inspection,
    StoreEntry,
    Unchanged,
    Write,
    encode_key,
    refuse_invalid,
)

_REMEMBERED = timedelta(hours=24)


class MemoryStore:
    """A `Store` that keeps nothing: the same answers as the durable ones, without the disk."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[bytes, StoreEntry] = {}
        self._commits: dict[str, tuple[Committed, datetime]] = {}
        self._version = 0
        self._closed = False

    async def get(self, key: str) -> StoreEntry | None:
        """Return the live entry under `key`."""
        await self._give_way()
        return self._live(encode_key(key))

    async def scan(
        self, prefix: str, *, after: str | None = None, limit: int = 100, reverse: bool = False
    ) -> list[StoreEntry]:
        """Return a page of the live entries under `prefix`."""
        await self._give_way()
        start, beyond = encode_key(prefix), None if after is None else encode_key(after)
        keys = sorted((key for key in self._entries if key.startswith(start)), reverse=reverse)
        if beyond is not None:
            keys = [key for key in keys if (key < beyond if reverse else key > beyond)]
        live = (entry for key in keys if (entry := self._live(key)))
        return list(islice(live, max(limit, 0)))

    async def commit(
        self, writes: Sequence[Write], checks: Sequence[Check] = (), *, commit_id: str | None = None
    ) -> Committed | Conflict:
        """Apply `writes` if every check holds."""
        await self._give_way()
        refuse_invalid(writes, checks, commit_id)
        self._forget()
        if commit_id in self._commits:
            return self._commits[commit_id][0]
        failed = dict.fromkeys(check.key for check in checks if not self._holds(check))
        return Conflict(tuple(failed)) if failed else self._apply(writes, commit_id)

    async def scrub(self) -> bool:
        """Nothing lingers."""
        await self._give_way()
        return True

    async def inspect(self) -> Inspection:
        """Nothing limits it, and no commit fails."""
        await self._give_way()
        return Inspection(self._version, None, 0)

    async def close(self) -> None:
        """Refuse whatever comes after."""
        self._closed = True

    async def _give_way(self) -> None:
        """Let others go first, as every store does that has a disk to ask."""
        self._refuse_when_closed()
        await asyncio.sleep(0)

    def _apply(self, writes: Sequence[Write], commit_id: str | None) -> Committed:
        self._version += 1
        for write in writes:
            self._write(write)
        committed = Committed(self._version)
        if commit_id is not None:
            self._commits[commit_id] = (committed, self._clock.now())
        return committed

    def _write(self, write: Write) -> None:
        if isinstance(write, Delete):
            _ = self._entries.pop(encode_key(write.key), None)
            return
        expires_at = None if write.ttl is None else self._clock.now() + write.ttl
        entry = StoreEntry(write.key, bytes(write.value), self._version, expires_at)
        self._entries[encode_key(write.key)] = entry

    def _holds(self, check: Check) -> bool:
        entry = self._live(encode_key(check.key))
        match check:
            case Absent():
                return entry is None
            case Unchanged():
                return entry is not None and entry.version == check.version

    def _live(self, key: bytes) -> StoreEntry | None:
        entry = self._entries.get(key)
        if entry and entry.expires_at is not None and entry.expires_at <= self._clock.now():
            del self._entries[key]
            return None
        return entry

    def _forget(self) -> None:
        now = self._clock.now()
        old = list(takewhile(lambda seen: abs(now - seen[1][1]) > _REMEMBERED, self._commits.items()))
        for commit_id, _ in old:
            del self._commits[commit_id]

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("The store is closed.")
