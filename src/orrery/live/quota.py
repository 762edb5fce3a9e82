"""What is known of the provider's quota: tokens, server errors, refusals (decisions 24, 25). Pure.

A refresh takes the expected cost with `charged` before the calls, and records each outcome with `reported` or
`failed`; the provider's own figures always win. `plan.py` decides by it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, Self

from pydantic import AwareDatetime, NonNegativeInt

from orrery.live.tokens import HOUR, TokenWindow, next_pacific_midnight
from orrery.ports.analytics import Cause, Quotas
from orrery.record import Code, Id, Record, RecordPart

NEVER = datetime.min.replace(tzinfo=UTC)

TOTAL = "total"
"""The query that always goes first (decision 24)."""

EXPECTED_COST = 10
"""Tokens of a query that has not reported yet: 1,750 tokens are about 175 reports (spec 2, Limits)."""

SERVER_ERRORS_AN_HOUR = 3
"""How many are risked in any sixty minutes (decision 25)."""

LATE_REFILL = timedelta(hours=2)
"""So soon after midnight, and before any report, an exhausted day may be yesterday's."""

PROBE_AT_START_APART = timedelta(minutes=5)
"""A process that crashes and starts again and again asks no more often than this in spite of a refusal."""

CLOCK_AHEAD = timedelta(minutes=10)
"""A time that is further beyond its longest right value than this was written by a wrong clock."""

Query = Code
Obstacle = Literal["concurrent", "hour", "day", "thresholded", "unauthorized", "forbidden", "refused"]
Scope = Code
"""What a refusal blocks: `ALL`, the `REST` beside the total, or the query of this name."""

ALL, REST = "all", "rest"


@dataclass(frozen=True, slots=True)
class Pause:
    """How long a refusal blocks, until one probe. `of_one`: it concerns no other query.

    `by_owner`: it ends when a key, a right or a setting is put right, so that the total's success ends it for the
    other queries, and a process that starts looks again.
    """

    time: timedelta
    of_one: bool = False
    by_owner: bool = False


PAUSES: Mapping[str, Pause] = {
    "concurrent": Pause(timedelta(seconds=30)),
    "hour": Pause(timedelta(minutes=15)),
    "day": Pause(timedelta(minutes=15)),
    "thresholded": Pause(timedelta(minutes=15), of_one=True),
    "unauthorized": Pause(timedelta(minutes=5), by_owner=True),
    "forbidden": Pause(HOUR, of_one=True, by_owner=True),
    "refused": Pause(HOUR, of_one=True, by_owner=True),
}
"""The refusals (decision 25). A day's lasts until the next Pacific midnight, but right after one for its pause;
five minutes notice a key put right."""


class Block(RecordPart):
    """Nothing is asked before `until`; then one probe, whose success lifts the block."""

    reason: Obstacle
    since: AwareDatetime
    until: AwareDatetime


class ServerError(RecordPart):
    """One server error, and the query that got it."""

    query: Query
    at: AwareDatetime


class QuotaBudget(Record):
    """The quotas of the provider, and what it refused; stored as JSON.

    `source` identifies property and account: figures of one say nothing about another. `costs` are tokens, learned
    from reports; `asked` is when each query was last asked. `errors` are the server errors of the last hour,
    `errors_left` how many more the provider permits; `failing` is true from the total's server error to its next
    success.
    """

    source: Id = ""
    hour: TokenWindow
    day: TokenWindow
    costs: Mapping[Query, NonNegativeInt] = {}
    asked: Mapping[Query, AwareDatetime] = {}
    blocks: Mapping[Scope, Block] = {}
    errors: tuple[ServerError, ...] = ()
    errors_left: int | None = None
    failing: bool = False

    @classmethod
    def new(cls, limits: "TokenLimits", now: datetime, source: str = "") -> Self:
        """Return a budget that assumes full quotas; the first report puts it right."""
        return cls(
            source=source,
            hour=TokenWindow.full("hour", limits.tokens_per_hour, now),
            day=TokenWindow.full("day", limits.tokens_per_day, now),
        )

    def at(self, now: datetime) -> Self:
        """Return the budget of `now`: refilled, and without what is over or was written by a wrong clock."""
        errors = tuple(error for error in self.errors if now - HOUR < error.at <= now)
        return self.change(
            hour=self.hour.at(now),
            day=self.day.at(now),
            blocks={scope: block for scope, block in self.blocks.items() if _holds(block, now)},
            errors=errors,
            failing=self.failing and any(error.query == TOTAL for error in errors),
        )

    def restarted(self, now: datetime) -> Self:
        """Return it for a process that starts: the total probes what the owner may have put right."""
        if timedelta(0) <= now - self.asked.get(TOTAL, NEVER) < PROBE_AT_START_APART:
            return self
        probed = {
            scope: block.change(until=min(now, block.until))
            for scope, block in self.blocks.items()
            if scope in scopes_of(TOTAL) and PAUSES[block.reason].by_owner
        }
        return self.change(blocks={**self.blocks, **probed})

    def cost(self, query: Query) -> int:
        """Return the tokens that `query` should cost: not more than a full quota, or it would never be asked."""
        known = max(1, self.costs.get(query, EXPECTED_COST))
        return min(known, self.hour.size, self.day.size)

    def charged(self, queries: Sequence[Query], now: datetime) -> Self:
        """Return it after taking what `queries` should cost: a process killed amid the calls has paid."""
        cost = sum(map(self.cost, queries))
        asked = {**self.asked, **dict.fromkeys(queries, now)}
        return self.change(hour=self.hour.charged(cost), day=self.day.charged(cost), asked=asked)

    def reported(self, query: Query, quotas: Quotas | None, now: datetime) -> Self:
        """Return it after a report: with the provider's figures, and without the blocks that it lifts."""
        corrected = self._corrected(query, quotas, now) if quotas else self
        sent = self.asked.get(query, now)
        # What was refused since this query was sent stays.
        earlier = {scope: block for scope, block in self.blocks.items() if block.since < sent}
        own = scopes_of(query)
        past = {earlier[scope].reason for scope in own if query == TOTAL and scope in earlier}
        fixed = {reason for reason in past if PAUSES[reason].by_owner}
        lifted = {scope for scope, block in earlier.items() if scope in own or block.reason in fixed}
        return corrected.change(
            blocks={scope: block for scope, block in self.blocks.items() if scope not in lifted},
            failing=self.failing and query != TOTAL,
        )

    def failed(self, query: Query, cause: Cause, now: datetime) -> Self:
        """Return it after a failure, with the block of its cause (decision 25)."""
        if cause == "server":
            errors = (*self.errors, ServerError(query=query, at=now))
            return self.change(errors=errors, failing=self.failing or query == TOTAL)
        if cause in ("unreachable", "not-a-report"):
            return self
        late = self.day.told is None and next_pacific_midnight(now - LATE_REFILL) <= now
        until = now + PAUSES[cause].time if late else _end(cause, now)
        scope = query if PAUSES[cause].of_one else ALL if query == TOTAL else REST
        older, newer = self.blocks.get(scope), Block(reason=cause, since=now, until=until)
        longer = older.change(since=now) if older and older.until > until else newer
        return self.change(blocks={**self.blocks, scope: longer})

    def _corrected(self, query: Query, quotas: Quotas, now: datetime) -> Self:
        """Return it with the provider's figures; of the two quotas of an hour the scarcer one counts."""
        hours = [bucket for bucket in (quotas.hour, quotas.project_hour) if bucket]
        hour, day, errors = min(hours, key=lambda b: b.remaining, default=None), quotas.day, quotas.server_errors
        charged = self.cost(query)
        consumed = max((bucket.consumed for bucket in (*hours, day) if bucket), default=charged)
        return self.change(
            hour=self.hour.corrected(hour, charged, now) if hour else self.hour,
            day=self.day.corrected(day, charged, now) if day else self.day,
            costs={**self.costs, query: max(0, consumed, (charged + consumed) // 2)},
            errors_left=errors.remaining if errors else self.errors_left,
        )


@dataclass(frozen=True, slots=True)
class TokenLimits:
    """The assumed quotas until the provider gives its figures, in tokens (spec 2, Limits)."""

    tokens_per_hour: int = 1750
    tokens_per_day: int = 25_000


def scopes_of(query: Query) -> tuple[Scope, Scope]:
    """Return the scopes whose blocks `query` may probe, and lifts by its success."""
    return (ALL if query == TOTAL else REST), query


def _end(reason: Obstacle, now: datetime) -> datetime:
    return next_pacific_midnight(now) if reason == "day" else now + PAUSES[reason].time


def _holds(block: Block, now: datetime) -> bool:
    """Return whether a block still counts: not one open to a probe for an hour, or of a wrong clock."""
    return now - HOUR < block.until <= _end(block.reason, now) + CLOCK_AHEAD
