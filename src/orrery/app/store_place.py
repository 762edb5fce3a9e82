"""The place of the store, by the settings: a file, or a database. A snapshot of either is a file."""

from importlib.util import find_spec
from pathlib import Path

from orrery.adapters.clock import SystemClock
from orrery.adapters.movable_clock import MovableClock
from orrery.adapters.sqlite import copy_snapshot, reading_snapshot, write_snapshot
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


def file_place(path: Path) -> StorePlace:
    """Return the place of a store in a file, whatever the settings are."""
    return SqliteFile(path, SystemClock())


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


def named_place(settings: Settings, secrets: Secrets, name: str) -> StorePlace:
    """Return the place that an owner names by an address or a path; raise as `store_place` does."""
    if name.startswith(("postgresql://", "postgres://")):
        return store_place(settings, secrets, None if name == settings.store.store_address else name)
    return SqliteFile(Path(name).absolute(), clock_of(settings))


def back_up(place: StorePlace, target: Path) -> None:
    """Write a consistent, checked snapshot of the store, which may be in use, to a file; raise as `reading` does.

    Raises `Invalid` when the store is empty or `target` exists; then nothing is left.
    """
    if isinstance(place, SqliteFile):
        copy_snapshot(place.path, target)  # in half the processor time: row by row is for other engines
        return
    with place.reading() as contents:
        write_snapshot(contents, target, place)


def put_in_place(snapshot: Path, place: StorePlace, *, read_at: int | None = None) -> int:
    """Replace the store by a snapshot, and return the last version in that; raise as `StorePlace.replace` does."""
    with reading_snapshot(snapshot) as contents:
        place.replace(contents, read_at=read_at)
        return contents.last_version


def remains_of(place: StorePlace, store_file: Path) -> list[str]:
    """Name what restores and killed runs have left, in the place and beside the file where they make a copy."""
    return list(dict.fromkeys([*place.remains(), *file_place(store_file).remains()]))
