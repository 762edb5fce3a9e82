"""The store in one SQLite file: the default, for one machine and any number of its processes."""

from orrery.adapters.sqlite.file import create
from orrery.adapters.sqlite.snapshot import copy_snapshot, reading_snapshot, write_snapshot
from orrery.adapters.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "copy_snapshot", "create", "reading_snapshot", "write_snapshot"]
