"""What in a database could lose commits that were acknowledged, or stop them; and how far its clock is."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final

from orrery.ports.store import StoreRisk

_SECOND: Final = 1_000_000
MOST_BEHIND: Final = 64 << 20
"""Bytes of log that may wait for a standby: some seconds of its work, which a failover would take longer by."""

MOST_SECONDS_BEHIND: Final = 10
"""The same in time: what a failover may take beside the detection of the fault."""

LONGEST_TRANSACTION: Final = 3600
"""Seconds after which a transaction was forgotten, not slow: a backup of a million sales takes minutes."""

MOST_DEAD_ROWS: Final = 10_000
"""Dead rows that are normal. Beyond them, as many as there are live ones: vacuum begins at a fiftieth."""

_SUPPORTED_YEARS: Final = 5
_FIRST_YEAR: Final = 2007
"""Release 13 is of autumn 2020, and so on: one each year, each repaired until November of the fifth after it."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How the database is: the columns of `statements.INSPECT`. Times are microseconds, lengths of time seconds.

    `sees_all`: whether the user sees more of standbys than their number, and transactions of other users.
    """

    version: int
    user: str
    sees_all: bool
    size: int
    now: int
    flushes: bool
    vacuums: bool
    awaited_standbys: int
    standbys: int
    bytes_behind: int
    seconds_behind: float
    kept_for_slots: int
    oldest_transaction: float
    dead_rows: int
    live_rows: int


def summary(setup: Setup) -> str:
    """Return what is known of the database without a risk, and what the user in the address may not see."""
    known = (
        f"PostgreSQL {_release(setup)}.{setup.version % 10_000}, {setup.size / (1 << 20):.0f} MiB; "
        "no server reports the free room of its disk: watch that on its machine."
    )
    hidden = (
        " How far its standbys are, and old transactions of others, are not visible to this user: "
        f"`GRANT pg_read_all_stats TO {setup.user};` shows them."
    )
    return known if setup.sees_all else known + hidden


def risks(setup: Setup, now: int) -> Iterator[StoreRisk]:
    """Yield each risk, the worst first; `now` is this machine's time in microseconds since 1970."""
    yield from _of_losses(setup)
    yield from _of_replication(setup)
    yield from _of_release(setup, now)
    yield from _of_room(setup)


def _of_losses(setup: Setup) -> Iterator[StoreRisk]:
    if not setup.flushes:
        yield StoreRisk(
            "flush",
            "The store's database does not flush what it commits: a power cut can lose sales.",
            "Set `fsync = on` in its postgresql.conf, and restart it.",
        )
    if not setup.awaited_standbys:
        yield StoreRisk(
            "standby",
            "The store's database waits for no standby: the loss of its machine loses sales.",
            "Set `synchronous_standby_names` in its postgresql.conf and reload it; "
            "where Patroni looks after it, bring the other machine back.",
        )


def _of_replication(setup: Setup) -> Iterator[StoreRisk]:
    if setup.bytes_behind > MOST_BEHIND or setup.seconds_behind > MOST_SECONDS_BEHIND:
        yield StoreRisk(
            "replication",
            f"A standby of the store's database is {setup.bytes_behind / (1 << 20):.0f} MiB or "
            f"{setup.seconds_behind:.0f} s behind: a failover takes longer by what it has not replayed.",
            "See on the standby whether its replay is paused, held up by a query, or its disk slow.",
        )
    if setup.kept_for_slots > MOST_BEHIND:
        yield StoreRisk(
            "slot",
            f"The store's database keeps {setup.kept_for_slots / (1 << 20):.0f} MiB of log for an unused "
            "replication slot: in the end its disk is full, and sales stop.",
            "Start the standby of the slot, or drop it: `SELECT pg_drop_replication_slot('NAME');`, "
            "with a name of `pg_replication_slots`.",
        )


def ahead(answered: int, asked: int, heard: int) -> timedelta:
    """Return how far this machine's clock is for certain before the database's, or below zero behind it.

    All are microseconds since 1970: what the database answered, and this machine's time before and after.
    """
    return timedelta(microseconds=max(asked - answered, 0) or min(heard - answered, 0))


def _of_release(setup: Setup, now: int) -> Iterator[StoreRisk]:
    until = date(_FIRST_YEAR + _SUPPORTED_YEARS + _release(setup), 11, 30)
    if datetime.fromtimestamp(now / _SECOND, UTC).date() > until:
        yield StoreRisk(
            "release",
            f"The store's database is PostgreSQL {_release(setup)}, which has had no repairs since {until:%B %Y}.",
            "Upgrade it with `pg_upgrade` to a release that is maintained.",
        )


def _of_room(setup: Setup) -> Iterator[StoreRisk]:
    if not setup.vacuums:
        yield StoreRisk(
            "vacuum",
            "The store's database does not vacuum by itself: its tables grow until its disk is full.",
            "Set `autovacuum = on` in its postgresql.conf, and reload it.",
        )
    elif setup.dead_rows > max(MOST_DEAD_ROWS, setup.live_rows):
        yield StoreRisk(
            "vacuum",
            f"The store's tables hold {setup.dead_rows} dead rows beside {setup.live_rows} live ones: "
            "vacuum does not come, or may not remove them.",
            "Type `VACUUM (VERBOSE) orrery_entries, orrery_commits;`, which names what keeps them.",
        )
    if setup.oldest_transaction > LONGEST_TRANSACTION:
        yield StoreRisk(
            "transaction",
            f"A transaction in the store's database is {setup.oldest_transaction / 3600:.0f} h old: "
            "until it ends, no dead row is removed.",
            "Find it in `pg_stat_activity` or `pg_prepared_xacts`, and end it.",
        )


def _release(setup: Setup) -> int:
    return setup.version // 10_000
