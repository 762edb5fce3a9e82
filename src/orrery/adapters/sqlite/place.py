"""`StorePlace` for a SQLite file."""

from dataclasses import dataclass
from pathlib import Path

from orrery.adapters.sqlite.file import create
from orrery.adapters.sqlite.store import SqliteStore
from orrery.ports.clock import Clock


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """A store in the file at `path`."""

    path: Path
    clock: Clock

    def __str__(self) -> str:
        return str(self.path)

    def create(self) -> None:
        create(self.path)

    async def open(self) -> SqliteStore:
        return await SqliteStore.open(self.path, self.clock)
