"""Another store in the place of the one in a database, in one transaction; what was there before is kept."""

import psycopg

from orrery.adapters.postgres.creation import make
from orrery.adapters.postgres.schema import TABLES
from orrery.adapters.postgres.transfer import (
    NOT_THE_OWNER,
    Transfer,
    count_on,
    fill,
    is_there,
    last_version_of,
    require_store,
    seize,
    transfer,
)
from orrery.errors import Invalid, StoreMissing, StoreUnavailable
from orrery.ports.clock import Clock
from orrery.ports.store import StoreContents
from orrery.store_calls import version_floor

_KEPT = "orrery_entries_before_restore, orrery_commits_before_restore"
_KEPT_THERE = "SELECT to_regclass('orrery_entries_before_restore') IS NOT NULL"
_SET_ASIDE = """
ALTER TABLE IF EXISTS orrery_entries RENAME TO orrery_entries_before_restore;
ALTER TABLE IF EXISTS orrery_commits RENAME TO orrery_commits_before_restore
"""
_GRANTED = """
DO $$ DECLARE granted text; BEGIN FOR granted IN
  SELECT format('GRANT %%s ON %%I TO %%s', privilege_type, name,
    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
  FROM unnest(ARRAY['orrery_entries', 'orrery_commits']) AS name
  JOIN pg_class ON pg_class.oid = (name || '_before_restore')::regclass, aclexplode(relacl)
  WHERE grantee <> relowner
LOOP EXECUTE granted; END LOOP; END $$
"""
"""The new tables are for the users of the old ones: a service need not be their owner."""

_TURN = "SELECT epoch FROM orrery_store FOR UPDATE"
_UNKNOWN = (
    "Whether the store was replaced is not known: restore again. "
    "It was, if the tables of an earlier restore are there then."
)
_NEXT_EPOCH = "UPDATE orrery_store SET epoch = epoch + 1"


def last_version(connection_string: str, clock: Clock, at_least: int) -> int | None:
    """Return the newest version that was given out; None without a store that gave out `at_least`.

    Raises `StoreUnavailable` where the database cannot be asked, or has a store of another release.
    """
    with transfer(connection_string, clock) as source:
        try:
            _ = require_store(source)
        except StoreMissing:
            return None
        last = last_version_of(source)
    return last if last >= at_least else None


def replace(connection_string: str, clock: Clock, contents: StoreContents, *, read_at: int | None = None) -> None:
    """See `StorePlace.replace`: the tables of before are renamed, and the epoch is another one."""
    with transfer(connection_string, clock) as target:
        _ = target.execute("BEGIN")
        if is_there(target):
            try:
                _set_aside(target, read_at)
            except psycopg.errors.InsufficientPrivilege:
                raise StoreUnavailable(NOT_THE_OWNER) from None
        else:
            make(target.connection)
        fill(target, contents)
        count_on(target, version_floor(clock.now()))
        target.commit(_UNKNOWN)


def _set_aside(target: Transfer, read_at: int | None) -> None:
    _ = require_store(target)
    seize(target)
    _ = target.execute(_TURN)
    if target.execute(_KEPT_THERE)[0][0]:
        raise Invalid(
            "The tables of the store before an earlier restore are still there: "
            f"when you are sure, type in psql `DROP TABLE {_KEPT}`."
        )
    if read_at is not None and last_version_of(target) != read_at:
        raise Invalid("The store changed while it was restored: stop the service, and restore again.")
    _ = target.execute(_SET_ASIDE)
    _ = target.execute(TABLES)
    _ = target.execute(_GRANTED)
    _ = target.execute(_NEXT_EPOCH)


def remains(connection_string: str, clock: Clock) -> list[str]:
    """Name the tables that `replace` has kept."""
    with transfer(connection_string, clock) as source:
        is_kept = source.execute(_KEPT_THERE)[0][0]
    return [f"a former store in the database (`DROP TABLE {_KEPT}` deletes it)"] if is_kept else []
