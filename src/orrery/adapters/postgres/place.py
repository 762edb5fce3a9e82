"""`StorePlace` for a PostgreSQL database."""

from dataclasses import dataclass, field

from orrery.adapters.postgres.schema import create
from orrery.adapters.postgres.store import PostgresStore
from orrery.ports.clock import Clock


@dataclass(frozen=True, slots=True)
class PostgresDatabase:
    """A store in the database that `connection_string`, which may hold a password, leads to."""

    connection_string: str = field(repr=False)
    clock: Clock

    def create(self) -> None:
        create(self.connection_string)

    async def open(self) -> PostgresStore:
        return await PostgresStore.open(self.connection_string, self.clock)
