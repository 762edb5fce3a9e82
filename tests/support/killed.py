"""A process that is killed at one of its steps: what it would do from there on, it does not do."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from anyio.lowlevel import checkpoint

from orrery.errors import StoreError
from orrery.ports.store import Check, Committed, Conflict, Inspection, Store, StoreEntry, Write

NEVER = 1_000_000


class Killed(BaseException):
    """The process is gone: nothing after this runs."""


@dataclass(slots=True)
class Fuse:
    """Counts the steps of a process that can be seen from outside, and kills it at one of them."""

    at: int = NEVER
    steps: int = 0

    @property
    def survived(self) -> bool:
        """Tell whether its end came before its kill."""
        return self.steps < self.at

    def burn(self) -> None:
        """Take a step, or be killed here."""
        self.steps += 1
        if self.steps == self.at:
            raise Killed


@dataclass(slots=True)
class FusedStore:
    """A store whose every commit is a step before and a step after: an adapter of the port.

    It counts reads, fails them with the `errors` that are next, and lets other tasks run at every call.
    """

    inside: Store
    fuse: Fuse
    reads: int = 0
    errors: list[StoreError] = field(default_factory=list[StoreError])

    async def get(self, key: str) -> StoreEntry | None:
        """Pass on, or fail with the error that is next."""
        self.reads += 1
        await checkpoint()
        if self.errors:
            raise self.errors.pop(0)
        return await self.inside.get(key)

    async def scan(
        self, prefix: str, *, after: str | None = None, limit: int = 100, reverse: bool = False
    ) -> list[StoreEntry]:
        """Pass on."""
        return await self.inside.scan(prefix, after=after, limit=limit, reverse=reverse)

    async def commit(
        self, writes: Sequence[Write], checks: Sequence[Check] = (), *, commit_id: str | None = None
    ) -> Committed | Conflict:
        """Pass on, between two steps."""
        self.fuse.burn()
        await checkpoint()
        outcome = await self.inside.commit(writes, checks, commit_id=commit_id)
        self.fuse.burn()
        return outcome

    async def scrub(self) -> bool:
        """Pass on."""
        return await self.inside.scrub()

    async def inspect(self) -> Inspection:
        """Pass on."""
        return await self.inside.inspect()

    async def close(self) -> None:
        """Pass on."""
        await self.inside.close()
