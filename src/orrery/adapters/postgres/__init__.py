"""The store in PostgreSQL: for several machines, and for one whose disk may be lost."""

from orrery.adapters.postgres.creation import create
from orrery.adapters.postgres.store import PostgresStore

__all__ = ["PostgresStore", "create"]
