"""The parts of one commit inside a transaction: its checks, its number, its writes."""

from datetime import datetime

from orrery.adapters.sqlite.database import Database
from orrery.ports.store import (
    Absent,
    Check,
    Committed,
    Conflict,
    Delete,
    Unchanged,
    Write,
    encode_key,
)
from orrery.store_calls import REMEMBERED, Request, microseconds

_EXPIRED_PER_SWEEP = 100
"""How many expired entries one commit removes at most, so that no caller waits long for the removal."""

_KNOWN = "SELECT version FROM commits WHERE id = ?"
_NUMBER = "INSERT INTO commits (id, committed_at) VALUES (?, ?)"
_VERSION = "SELECT version FROM entries WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)"
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
    stamp = microseconds(now)
    failed = dict.fromkeys(check.key for check in request.checks if not _holds(database, check, stamp))
    if failed:
        return Conflict(tuple(failed))
    _ = database.execute(_NUMBER, (encode_key(request.commit_id), stamp))
    version = database.last_insert_rowid()
    for write in request.writes:
        _write(database, write, version, now)
    return Committed(version)


def sweep(database: Database, now: datetime, commits: int) -> None:
    """Remove some expired entries, and twice as many old commit ids as the `commits` just made."""
    _ = database.execute(_SWEEP_ENTRIES, (microseconds(now), _EXPIRED_PER_SWEEP))
    # Those of a time to come were noted before the clock was put back, and would stop the sweep until then.
    _ = database.execute(_SWEEP_COMMITS, (2 * commits, microseconds(now), REMEMBERED))


def _known(database: Database, request: Request) -> Committed | None:
    if not request.named:
        return None
    version = database.execute(_KNOWN, (encode_key(request.commit_id),)).get
    return Committed(version) if isinstance(version, int) else None


def _holds(database: Database, check: Check, stamp: int) -> bool:
    version = database.execute(_VERSION, (encode_key(check.key), stamp)).get
    match check:
        case Absent():
            return version is None
        case Unchanged():
            return version == check.version


def _write(database: Database, write: Write, version: int, now: datetime) -> None:
    key = encode_key(write.key)
    if isinstance(write, Delete):
        _ = database.execute(_DELETE, (key,))
        return
    expires_at = None if write.ttl is None else microseconds(now + write.ttl)
    _ = database.execute(_PUT, (key, write.value, version, expires_at))
