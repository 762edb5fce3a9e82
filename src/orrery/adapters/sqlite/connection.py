"""A connection that is opened when it is needed and replaced after an error."""

from contextlib import suppress
from datetime import timedelta

import apsw

from orrery.adapters.sqlite.database import Database
from orrery.adapters.sqlite.file import StoreFile


class SqliteConnection:
    """One connection to a store file, for one thread at a time."""

    def __init__(self, file: StoreFile, busy_timeout: timedelta) -> None:
        self._file = file
        self._busy_timeout = busy_timeout
        self._database: Database | None = None

    def opened(self) -> Database:
        """Return the connection, opened again after `drop`."""
        if self._database is None:
            self._database = self._file.connect(self._busy_timeout)
        return self._database

    def drop(self) -> None:
        """Close it, and with it an open transaction."""
        database, self._database = self._database, None
        if database is not None:
            with suppress(apsw.Error):  # it failed before; the next connection shows it again
                database.close()
