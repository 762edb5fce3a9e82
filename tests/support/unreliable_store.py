"""A store that fails, is overtaken and lets others in between, as a test tells it to: an adapter of the port."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from secrets import token_hex

from anyio.lowlevel import checkpoint

from orrery.errors import OutcomeUnknown, StoreError
from orrery.ports.store import Check, Committed, Conflict, Inspection, Store, StoreEntry, Write
from tests.support.killed import Fuse


@dataclass(slots=True)
class UnreliableStore:
    """Passes on; every call lets other tasks run first.

    `get_errors` and `commit_errors` are raised one a call; `lose` is what the next commit loses, itself ("before")
    or its answer ("after"). `overtaken_by` runs before each commit, as another process might, `answered` before
    its answer, and `scanned` after each scan. A commit is two steps of the `fuse`, around what it does. `commits`
    counts them; `reads` counts the other calls and what they returned, by the first part of the key.
    """

    inside: Store
    get_errors: list[Exception] = field(default_factory=list[Exception])
    commit_errors: list[StoreError] = field(default_factory=list[StoreError])
    lose: str | None = None
    overtaken_by: Callable[[], Awaitable[object]] | None = None
    answered: Callable[[], Awaitable[object]] | None = None
    scanned: Callable[[], Awaitable[object]] | None = None
    fuse: Fuse = field(default_factory=Fuse)
    reads: Counter[str] = field(default_factory=Counter[str])
    commits: int = 0
    failed: int = 0

    async def get(self, key: str) -> StoreEntry | None:
        """Pass on, or fail."""
        self._count(key, 1)
        await checkpoint()
        if self.get_errors:
            raise self.get_errors.pop(0)
        return await self.inside.get(key)

    async def scan(
        self, prefix: str, *, after: str | None = None, limit: int = 100, reverse: bool = False
    ) -> list[StoreEntry]:
        """Pass on; then others have their turn."""
        await checkpoint()
        found = await self.inside.scan(prefix, after=after, limit=limit, reverse=reverse)
        self._count(prefix, 1 + len(found))
        if self.scanned is not None:
            await self.scanned()
        return found

    async def commit(
        self, writes: Sequence[Write], checks: Sequence[Check] = (), *, commit_id: str | None = None
    ) -> Committed | Conflict:
        """Pass on, or fail, after others had their turn."""
        self.commits += 1
        commit_id = commit_id or token_hex(16)  # as a store names it that keeps what is lost here
        lost, self.lose = self.lose, None
        self.fuse.burn()
        await checkpoint()
        if self.overtaken_by is not None:
            await self.overtaken_by()
        if self.commit_errors:
            self.failed += 1
            raise self.commit_errors.pop(0)
        outcome = None if lost == "before" else await self.inside.commit(writes, checks, commit_id=commit_id)
        self.fuse.burn()
        if self.answered is not None:
            await self.answered()
        if lost or outcome is None:
            raise OutcomeUnknown("The answer was lost.", commit_id)
        return outcome

    async def scrub(self) -> bool:
        """Pass on."""
        return await self.inside.scrub()

    async def inspect(self) -> Inspection:
        """Pass on, with the commits that failed here."""
        return replace(await self.inside.inspect(), failed=self.failed)

    async def close(self) -> None:
        """Pass on."""
        await self.inside.close()

    def _count(self, key: str, number: int) -> None:
        before, colon, _ = key.partition(":")
        self.reads[before + colon] += number
