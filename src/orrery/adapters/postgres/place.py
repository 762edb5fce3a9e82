"""`StorePlace` for a PostgreSQL database."""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from psycopg.conninfo import conninfo_to_dict

from orrery.adapters.postgres.address import connection_string
from orrery.adapters.postgres.closing import close, closed, remove
from orrery.adapters.postgres.creation import create, new_schema
from orrery.adapters.postgres.migrations import migrate
from orrery.adapters.postgres.replacement import last_version, remains, replace
from orrery.adapters.postgres.store import PostgresStore
from orrery.adapters.postgres.transfer import load, reading
from orrery.ports.clock import Clock
from orrery.ports.store import StoreContents


@dataclass(frozen=True, slots=True)
class PostgresDatabase:
    """A store in the database that `connection_string`, which may hold a password, leads to."""

    connection_string: str = field(repr=False)
    clock: Clock

    @classmethod
    def at(cls, address: str, password: str | None, authorities: Path | None, clock: Clock) -> Self:
        """Return the place that an address of the settings leads to; raise `Invalid`."""
        return cls(connection_string(address, password, authorities), clock)

    def __str__(self) -> str:
        given = conninfo_to_dict(self.connection_string)
        return f"{given.get('dbname')} on {given.get('host', 'this machine')}"

    def create(self) -> None:
        create(self.connection_string)

    @contextmanager
    def scratch(self) -> Generator["PostgresDatabase"]:
        with new_schema(self.connection_string) as connection_string:
            place = PostgresDatabase(connection_string, self.clock)
            place.create()
            yield place

    async def open(self) -> PostgresStore:
        return await PostgresStore.open(self.connection_string, self.clock)

    def closed(self) -> str | None:
        return closed(self.connection_string, self.clock)

    def close(self, why: str | None) -> None:
        close(self.connection_string, self.clock, why)

    def set_aside(self) -> None:
        """Leave it where it is: a process that opens it learns why it is closed."""

    def remove(self) -> None:
        remove(self.connection_string, self.clock)

    def reading(self, after: bytes = b"", *, may_be_closed: bool = False) -> AbstractContextManager[StoreContents]:
        return reading(self.connection_string, self.clock, after, may_be_closed=may_be_closed)

    def migrate(self) -> list[int]:
        return migrate(self.connection_string, self.clock)

    def load(self, contents: StoreContents, *, may_be_closed: bool = False) -> None:
        load(self.connection_string, self.clock, contents, may_be_closed=may_be_closed)

    def last_version(self, at_least: int) -> int | None:
        return last_version(self.connection_string, self.clock, at_least)

    def replace(self, contents: StoreContents, *, read_at: int | None = None) -> None:
        replace(self.connection_string, self.clock, contents, read_at=read_at)

    def remains(self) -> list[str]:
        return remains(self.connection_string, self.clock)

    def beyond_scrub(self, *, is_scrubbed: bool) -> list[str]:
        first = "" if is_scrubbed else ", after the owner of its tables has typed VACUUM"
        return [f"the database's free space, standbys, backups and write-ahead log, until written over{first}."]
