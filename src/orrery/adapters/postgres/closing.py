"""A store in a database that no process may open: it is copied elsewhere, or is not yet a whole copy."""

import psycopg

from orrery.adapters.postgres.transfer import require_store, transfer
from orrery.errors import Invalid
from orrery.ports.clock import Clock

_CLOSE = "UPDATE orrery_store SET closed = %s, epoch = epoch + 1"
_REMOVE = "DROP TABLE orrery_store, orrery_entries, orrery_commits; DROP SEQUENCE orrery_versions"


def closed(connection_string: str, clock: Clock) -> str | None:
    """See `StorePlace.closed`."""
    with transfer(connection_string, clock) as source:
        return require_store(source, may_be_closed=True)


def close(connection_string: str, clock: Clock, why: str | None) -> None:
    """See `StorePlace.close`: the next commit of what has it open is refused, because the epoch is another one."""
    with transfer(connection_string, clock) as target:
        _ = target.execute("BEGIN")
        _ = require_store(target, may_be_closed=True)
        try:
            _ = target.execute(_CLOSE, (why,))
        except psycopg.errors.UndefinedColumn:
            raise Invalid(
                "The store has the schema of the release before: type `orrery store migrate` first."
            ) from None
        target.commit("Whether the store was closed or opened is not known: type the same again.")


def remove(connection_string: str, clock: Clock) -> None:
    """See `StorePlace.remove`."""
    with transfer(connection_string, clock) as target:
        _ = target.execute("BEGIN")
        if require_store(target, may_be_closed=True) is None:
            raise Invalid("The store in this database is open: it was not removed.")
        _ = target.execute(_REMOVE)
        target.commit("Whether the store was removed is not known: type the same again.")
