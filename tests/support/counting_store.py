"""A store that counts what is read of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from orrery.ports.store import Check, Committed, Conflict, Inspection, Store, StoreEntry, Write


@dataclass(slots=True)
class CountingStore:
    """The store `inside`; `reads` are its calls and what they returned, by the first part of the key."""

    inside: Store
    reads: Counter[str] = field(default_factory=Counter[str])

    async def get(self, key: str) -> StoreEntry | None:
        """Read one entry."""
        self._count(key, 1)
        return await self.inside.get(key)

    async def scan(
        self, prefix: str, *, after: str | None = None, limit: int = 100, reverse: bool = False
    ) -> list[StoreEntry]:
        """Read a page."""
        page = await self.inside.scan(prefix, after=after, limit=limit, reverse=reverse)
        self._count(prefix, 1 + len(page))
        return page

    async def commit(
        self, writes: Sequence[Write], checks: Sequence[Check] = (), *, commit_id: str | None = None
    ) -> Committed | Conflict:
        """Write."""
        return await self.inside.commit(writes, checks, commit_id=commit_id)

    async def inspect(self) -> Inspection:
        """Inspect."""
        return await self.inside.inspect()

    async def scrub(self) -> bool:
        """Scrub."""
        return await self.inside.scrub()

    async def close(self) -> None:
        """Close."""
        await self.inside.close()

    def _count(self, key: str, number: int) -> None:
        before, colon, _ = key.partition(":")
        self.reads[before + colon] += number
