"""The parts of one commit inside a transaction: its checks, its number, its writes."""

from collections.abc import Sequence
from datetime import datetime

from orrery.adapters.sqlite.database import Database
from orrery.ports.store import (
    Absent,
    Check,
    Committed,
    Conflict,
    Delete,
    Put,
    Unchanged,
    Write,
)
from orrery.store_calls import REMEMBERED, Request, microseconds

_EXPIRED_PER_SWEEP = 100
"""How many expired entries one commit removes at most, so that no caller waits long for the removal."""

_KNOWN = "SELECT version FROM commits WHERE id = ?"
_NUMBER = "INSERT INTO commits (id, committed_at) VALUES (?, ?)"
_VERSION = "SELECT key, version FROM entries WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)"
_DELETE = "DELETE FROM entries WHERE key = ?"
_PUT = """
INSERT INTO entries (key, value, version, expires_at) VALUES (?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE
SET value = excluded.value, version = excluded.version, expires_at = excluded.expires_at
"""
_SWEEP_ENTRIES = "DELETE FROM entries WHERE key IN (SELECT key FROM entries WHERE expires_at <= ? LIMIT ?)"
_SWEEP_COMMITS = """
DELETE FROM commits WHERE version < (SELECT min(version) FROM commits) + ? AND abs(committed_at - ?) > ?
"""


def apply(database: Database, request: Request, now: datetime) -> Committed | Conflict:
    """Carry out `request` within the open transaction."""
    known = _known(database, request)
    if known is not None:
        return known
    if failed := _failed(database, request.checks, microseconds(now)):
        return Conflict(failed)
    _ = database.execute(_NUMBER, (request.commit_id.encode(), microseconds(now)))
    version = database.last_insert_rowid()
    _write(database, request.writes, version, now)
    return Committed(version)


def sweep(database: Database, now: datetime, commits: int) -> None:
    """Remove some expired entries, and twice as many old commit ids as the `commits` just made."""
    _ = database.execute(_SWEEP_ENTRIES, (microseconds(now), _EXPIRED_PER_SWEEP))
    # Those of a time to come were noted before the clock was put back, and would stop the sweep until then.
    _ = database.execute(_SWEEP_COMMITS, (2 * commits, microseconds(now), REMEMBERED))


def _known(database: Database, request: Request) -> Committed | None:
    if not request.named:
        return None
    version = database.execute(_KNOWN, (request.commit_id.encode(),)).get
    return Committed(version) if isinstance(version, int) else None


def _failed(database: Database, checks: Sequence[Check], stamp: int) -> tuple[str, ...]:
    """Return the keys whose checks do not hold, in their order."""
    if not checks:
        return ()
    rows = database.executemany(_VERSION, [(check.key.encode(), stamp) for check in checks]).fetchall()
    versions = {key: version for key, version in rows}  # noqa: C416  a row may have any width, by its type
    failed = (check.key for check in checks if versions.get(check.key.encode()) != _expected(check))
    return tuple(dict.fromkeys(failed))


def _expected(check: Check) -> int | None:
    match check:
        case Absent():
            return None
        case Unchanged():
            return check.version


def _write(database: Database, writes: Sequence[Write], version: int, now: datetime) -> None:
    deleted = [(one.key.encode(),) for one in writes if isinstance(one, Delete)]
    put = [
        (one.key.encode(), one.value, version, None if one.ttl is None else microseconds(now + one.ttl))
        for one in writes
        if isinstance(one, Put)
    ]
    _ = database.executemany(_DELETE, deleted)
    _ = database.executemany(_PUT, put)
