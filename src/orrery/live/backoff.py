"""The queries that the provider's failures block, and until when (decision 25). Pure.

A refusal of the total blocks all queries; a refusal of another query never blocks the total (spec 2, Refresh 2).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime

from orrery.errors import Cause
from orrery.record import Record

PACIFIC = ZoneInfo("America/Los_Angeles")
"""Where the provider's day begins (spec 2, Limits; decision 24)."""

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

TOTAL = "total"
"""The query that always goes first (decision 24)."""

SERVER_ERRORS_AN_HOUR = 3
"""How many are risked in any sixty minutes (decision 25)."""

ERRORS_OF_OTHERS = 1
"""How many of them queries other than the total may risk."""

LAST_RISK_AFTER = timedelta(minutes=24)
"""So long after the total's last error its last chance of the hour is taken: a count that was good before two bad
minutes is not yet too old then (spec 2, Limits: 30 min), even if totals are 2 minutes apart."""

PROBE_AFTER = timedelta(minutes=15)
"""When to try again after an exhausted hour (decision 25)."""

CLOCK_AHEAD = timedelta(minutes=10)
"""A time that is further beyond its longest right value than this was written by a wrong clock."""

Query = str
Obstacle = Literal["concurrent", "hour", "day", "thresholded", "unauthorized", "forbidden", "refused"]
Reason = Literal[Obstacle, "server-errors", "pacing"]
"""Why a query is not asked now; `pacing` keeps its tokens for later."""

WAITS: Mapping[Obstacle, timedelta] = {
    "concurrent": timedelta(seconds=30),
    "hour": PROBE_AFTER,
    "day": PROBE_AFTER,
    "thresholded": PROBE_AFTER,
    "unauthorized": timedelta(minutes=5),
    "forbidden": HOUR,
    "refused": HOUR,
}
"""How long until a probe (decision 25), for the day from midnight on; five minutes notice a key put right."""

OF_ONE_QUERY: frozenset[Obstacle] = frozenset({"thresholded", "forbidden", "refused"})
"""What says nothing about other queries."""

MENDED_BY_THE_OWNER: frozenset[Reason] = frozenset({"unauthorized", "forbidden", "refused"})
"""What ends when a key, a right or a setting is put right: the total's success ends it for the others, too."""


class Block(Record):
    """Nothing is asked before `until`; then one probe, whose success lifts the block."""

    reason: Obstacle
    since: AwareDatetime
    until: AwareDatetime


class ServerError(Record):
    """One server error, and which query met it."""

    query: Query
    at: AwareDatetime


@dataclass(frozen=True, slots=True)
class Wait:
    """Why not now, and until when."""

    reason: Reason
    until: datetime


class Backoff(Record):
    """The blocks: of all queries (`block`), of all but the total (`rest`), of one query (`blocks`).

    `errors` are the server errors of the last hour, `errors_left` how many more the provider permits; `failing` is
    true from the total's server error to its next success.
    """

    block: Block | None = None
    rest: Block | None = None
    blocks: Mapping[Query, Block] = {}
    errors: tuple[ServerError, ...] = ()
    errors_left: int | None = None
    failing: bool = False

    def current(self, now: datetime) -> Self:
        """Return a copy without blocks that are over or were written by a wrong clock."""
        errors = tuple(error for error in self.errors if now - HOUR < error.at <= now)
        return self.change(
            block=_held(self.block, now),
            rest=_held(self.rest, now),
            blocks={query: block for query, block in self.blocks.items() if _held(block, now)},
            errors=errors,
            failing=self.failing and any(error.query == TOTAL for error in errors),
        )

    def blocked(self, query: Query, now: datetime) -> Wait | None:
        """Return what refuses `query`; the total probes what blocks all, each other query what blocks the rest."""
        if self.block and (now < self.block.until or query != TOTAL):
            return _wait(self.block)
        own = self.blocks.get(query)
        found = [block for block in (own, self.rest if query != TOTAL else None) if block and now < block.until]
        return _wait(max(found, key=lambda block: block.until)) if found else None

    def risky(self, query: Query, others: int, now: datetime) -> Wait | None:
        """Return a wait when server errors of `query` and of `others` more queries could exhaust the quota."""
        if query == TOTAL:
            until = self._next_risk(now)
            return Wait("server-errors", until) if now < until else None
        risked = others + sum(error.query != TOTAL for error in self.errors)
        if risked < ERRORS_OF_OTHERS and not self.failing and self._errors_left > 1:
            return None
        return Wait("server-errors", min((error.at for error in self.errors), default=now) + HOUR)

    def failed(self, query: Query, cause: Cause, now: datetime, *, late: bool) -> Self:
        """Return it after a failure; when it is `late` an exhausted day may be yesterday's and is probed soon."""
        if cause == "server":
            errors = (*self.errors, ServerError(query=query, at=now))
            return self.change(errors=errors, failing=self.failing or query == TOTAL)
        if cause in ("unreachable", "not-a-report"):
            return self
        block = Block(reason=cause, since=now, until=now + WAITS[cause] if late else _end(cause, now))
        if cause in OF_ONE_QUERY:
            return self.change(blocks={**self.blocks, query: block})
        if query == TOTAL:
            return self.change(block=_longer(self.block, block))
        return self.change(rest=_longer(self.rest, block))

    def answered(self, query: Query, sent: datetime) -> Self:
        """Return a copy after a report on `query`, without its blocks; another query's since `sent` stay."""
        met = [self.block if query == TOTAL else self.rest, self.blocks.get(query)]
        lifted = {block.reason for block in met if block and block.since < sent}
        mended = lifted & MENDED_BY_THE_OWNER if query == TOTAL else frozenset[Reason]()

        def still(block: Block | None, *, own: bool) -> Block | None:
            return None if block and block.since < sent and (own or block.reason in mended) else block

        return self.change(
            block=still(self.block, own=query == TOTAL),
            rest=still(self.rest, own=query != TOTAL),
            blocks={each: block for each, block in self.blocks.items() if still(block, own=each == query)},
            failing=self.failing and query != TOTAL,
        )

    @property
    def _errors_left(self) -> int:
        """Return how many errors may be risked: at least one when the provider answers."""
        left, reported = SERVER_ERRORS_AN_HOUR - len(self.errors), self.errors_left
        return left if reported is None else min(left, max(1, reported))

    def _next_risk(self, now: datetime) -> datetime:
        """Return when the total may be asked: at once, while good or if the hour bears more than one error."""
        if self._errors_left > int(self.failing):
            return now
        times = sorted(error.at for error in self.errors)
        borne = times[-SERVER_ERRORS_AN_HOUR] + HOUR if len(times) >= SERVER_ERRORS_AN_HOUR else now
        failed = [error.at + LAST_RISK_AFTER for error in self.errors if error.query == TOTAL and self.failing]
        return max(borne, *failed) if failed else borne


def next_pacific_midnight(now: datetime) -> datetime:
    """Return when the day's quota refills next, in UTC: 07:00 in summer, 08:00 in winter."""
    tomorrow = now.astimezone(PACIFIC).date() + DAY
    return datetime.combine(tomorrow, time(), tzinfo=PACIFIC).astimezone(UTC)


def _wait(block: Block) -> Wait:
    return Wait(block.reason, block.until)


def _end(reason: Obstacle, now: datetime) -> datetime:
    return next_pacific_midnight(now) if reason == "day" else now + WAITS[reason]


def _held(block: Block | None, now: datetime) -> Block | None:
    """Return a block that says something: not one open to a probe for an hour, or of a wrong clock."""
    holds = block and now - HOUR < block.until <= _end(block.reason, now) + CLOCK_AHEAD
    return block if holds else None


def _longer(older: Block | None, newer: Block) -> Block:
    return older.change(since=newer.since) if older and older.until > newer.until else newer
