"""`StorePlace` for a SQLite file."""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from orrery.adapters.sqlite.closing import close, closed, remove, set_aside
from orrery.adapters.sqlite.contents import load, reading
from orrery.adapters.sqlite.file import create
from orrery.adapters.sqlite.snapshot import copies_beside, last_version, replace
from orrery.adapters.sqlite.store import SqliteStore
from orrery.ports.clock import Clock
from orrery.ports.store import StoreContents


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """A store in the file at `path`."""

    path: Path
    clock: Clock

    def __str__(self) -> str:
        return str(self.path)

    def create(self) -> None:
        create(self.path)

    @contextmanager
    def scratch(self) -> Generator["SqliteFile"]:
        with TemporaryDirectory(dir=self.path.parent, prefix=f".{self.path.name}.") as folder:
            place = SqliteFile(Path(folder, "store.db"), self.clock)
            place.create()
            yield place

    async def open(self) -> SqliteStore:
        return await SqliteStore.open(self.path, self.clock)

    def closed(self) -> str | None:
        return closed(self.path)

    def close(self, why: str | None) -> None:
        close(self.path, why)

    def set_aside(self) -> None:
        set_aside(self.path)

    def remove(self) -> None:
        remove(self.path)

    def reading(self, after: bytes = b"", *, may_be_closed: bool = False) -> AbstractContextManager[StoreContents]:
        return reading(self.path, after, may_be_closed=may_be_closed)

    def migrate(self) -> list[int]:
        with self.reading():  # there has been one schema so far
            return []

    def load(self, contents: StoreContents, *, may_be_closed: bool = False) -> None:
        load(self.path, contents, may_be_closed=may_be_closed)

    def last_version(self, at_least: int) -> int | None:
        return last_version(self.path, at_least)

    def replace(self, contents: StoreContents, *, read_at: int | None = None) -> None:
        replace(self.path, contents, self.clock, read_at=read_at)

    def remains(self) -> list[str]:
        return [str(one) for one in copies_beside(self.path)]

    def beyond_scrub(self, *, is_scrubbed: bool) -> list[str]:
        if is_scrubbed:
            return []
        return [f"{self.path.name}-wal, which something else reads just now. Erase again when that is over."]
