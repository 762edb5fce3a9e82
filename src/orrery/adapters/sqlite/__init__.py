"""The store in one SQLite file: the default, for one machine and any number of its processes."""

from orrery.adapters.sqlite.file import create
from orrery.adapters.sqlite.snapshot import backup, copies_beside, is_as_new_as, last_version, restore
from orrery.adapters.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "backup", "copies_beside", "create", "is_as_new_as", "last_version", "restore"]
