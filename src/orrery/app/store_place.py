"""The place of the store, by the settings: a file, or a database."""

from importlib.util import find_spec
from pathlib import Path

from orrery.adapters.clock import SystemClock
from orrery.adapters.movable_clock import MovableClock
from orrery.adapters.sqlite.place import SqliteFile
from orrery.app.settings.reader import Secrets, Settings
from orrery.errors import Invalid
from orrery.ports.clock import Clock
from orrery.ports.store import StorePlace
from orrery.runtime.settings import SandboxSettings, TlsSettings


def clock_of(settings: Settings) -> Clock:
    """Return the machine's clock, or in sandbox mode the one shared with the sandbox."""
    shared = settings[SandboxSettings].clock_file if settings.mode == "sandbox" else None
    return MovableClock(shared) if shared else SystemClock()


def require_file(settings: Settings) -> Path:
    """Return the file of the store; raise `Invalid` where the store is in a database."""
    if settings.store.store_address:
        raise Invalid(
            "The store is in a database, which this command does not reach yet: "
            "save it as a whole with `pg_basebackup`, since a dump gives its versions out again."
        )
    return settings.store.store_file


def store_place(settings: Settings, secrets: Secrets, other: str | None = None) -> StorePlace:
    """Return the place of the store, or of an `other` address; raise `Invalid` for one that cannot be used."""
    clock, address = clock_of(settings), other or settings.store.store_address
    if address is None:
        return SqliteFile(settings.store.store_file, clock)
    if find_spec("psycopg") is None:
        raise Invalid(
            "The client library of PostgreSQL is not installed: type "
            "`.venv/bin/pip install --require-hashes -r requirements-postgres.lock`."
        )
    from orrery.adapters.postgres.place import PostgresDatabase  # noqa: PLC0415  see above

    # The secret is for the server in the settings only; for another one the client library has its own ways.
    password, authorities = None if other else secrets.reveal("store_password"), settings[TlsSettings].ca_file
    return PostgresDatabase.at(address, password, authorities, clock)
