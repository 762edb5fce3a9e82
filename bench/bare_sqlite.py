"""SQLite and nothing else, which the store is measured beside."""

import time
from pathlib import Path

import apsw

VALUE = b"x" * 300


class Bare:
    """SQLite and nothing else: put-if-absent with the store's durability."""

    def __init__(self, path: Path) -> None:
        self._database = apsw.Connection(str(path))
        self._run("PRAGMA journal_mode = wal")
        self._run("PRAGMA synchronous = full")
        self._run("CREATE TABLE entries (key BLOB PRIMARY KEY, value BLOB NOT NULL, version INTEGER NOT NULL)")

    def put_if_absent(self, keys: list[str]) -> None:
        """Put `keys` in one transaction, each only if it is not there."""
        self._run("BEGIN IMMEDIATE")
        for key in keys:
            self._run("INSERT INTO entries VALUES (?, ?, 1) ON CONFLICT DO NOTHING", (key.encode(), VALUE))
        self._run("COMMIT")

    def measure(self, word: str, keys: int, commits: int) -> float:
        """Return transactions of `keys` keys a second."""
        begin = time.perf_counter()
        for number in range(commits):
            self.put_if_absent([f"{word}:{number}:{key}" for key in range(keys)])
        return commits / (time.perf_counter() - begin)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def _run(self, statement: str, bindings: tuple[bytes, ...] = ()) -> None:
        self._database.execute(statement, bindings)  # pyright: ignore[reportUnknownMemberType]  apsw's stubs, 3.11
