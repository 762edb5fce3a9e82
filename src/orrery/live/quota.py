"""What may be asked of the analytics provider, and when (decisions 24, 25): pure.

A token quota is a `Window` between two refills. Whoever asks takes from the `Budget` with `charged` before the
calls, and brings each outcome back with `reported` or `failed`; the provider's own figures always win.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from math import ceil
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, BaseModel, ConfigDict, NonNegativeInt, PositiveInt

from orrery.errors import Cause
from orrery.ports.analytics import Bucket, Quotas

PACIFIC = ZoneInfo("America/Los_Angeles")
"""Where the provider's day begins (spec 2, Limits; decision 24)."""

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

TOTAL = "total"
"""The query that always goes first (decision 24)."""

EXPECTED_COST = 10
"""Tokens of a query that has not reported yet: 1,750 tokens are about 175 reports (spec 2, Limits)."""

RESERVE = 100
"""Tokens of every window that the schedule leaves to the admin's reads: ten of them (decision 24)."""

SERVER_ERRORS_AN_HOUR = 3
"""How many are risked in any sixty minutes (decision 25)."""

STAYS_FRESH = timedelta(seconds=120)
"""A total asked this often is fresh until the next one came (spec 2: fresh under 3 min)."""

FURTHEST_APART = timedelta(minutes=25)
"""Totals further apart hide the count (spec 2: too old over 30 min) and save nothing; and a refill is noticed."""

PROBE_AFTER = timedelta(minutes=15)
LATE_REFILL = timedelta(hours=2)
"""An exhausted day this soon after midnight, before any report, may be a refill that is late."""

Reason = Literal[
    "pacing", "concurrent", "hour", "day", "thresholded", "forbidden", "refused", "unauthorized", "server-errors"
]
"""Why a query is not asked now. `pacing`: its tokens are kept for later."""

Obstacle = Literal["concurrent", "hour", "day", "thresholded", "forbidden", "refused", "unauthorized"]
Query = str

WAITS: Mapping[Obstacle, timedelta] = {
    "concurrent": timedelta(seconds=30),
    "hour": PROBE_AFTER,
    "day": PROBE_AFTER,
    "thresholded": PROBE_AFTER,
    "unauthorized": timedelta(minutes=5),
    "forbidden": HOUR,
    "refused": HOUR,
}
"""How long until one probe (decision 25); an exhausted day waits for midnight first. A key that was put right is
noticed within five minutes."""

FOR_ALL: frozenset[Cause] = frozenset({"concurrent", "hour", "day", "unauthorized"})
"""What one query meets, every other one would meet too."""

FORGOTTEN_AFTER = HOUR
"""A block that nobody probed for so long says nothing about now."""

CLOCK_AHEAD = timedelta(minutes=10)
"""What lies further in the future than it can was written by a clock that was wrong."""

LONGEST_DAY = timedelta(hours=25)


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Window(_Stored):
    """A token quota between two refills.

    `remaining` is what we may count on; `told` is what the provider last said was left, `most` the most that it
    said, `ours` what we took since it first said so (at `since`, when `at_first` were left). What is gone beyond
    `ours` was taken by others who share the property.
    """

    refills_at: AwareDatetime
    remaining: NonNegativeInt
    since: AwareDatetime
    at_first: NonNegativeInt
    ours: NonNegativeInt = 0
    told: NonNegativeInt | None = None
    most: NonNegativeInt = 0


class Block(_Stored):
    """Nothing is asked until `until`; then one probe, whose success lifts the block."""

    reason: Obstacle
    since: AwareDatetime
    until: AwareDatetime


class Budget(_Stored):
    """What is left of the provider's quotas, and what stands in the way; stored as JSON.

    `costs` are tokens, learned from reports; `asked` is when each query was last asked; `errors` are the server
    errors of the last hour and `errors_left` is how many more the provider would bear.
    """

    v: Literal[1] = 1
    hour: Window
    day: Window
    costs: Mapping[Query, PositiveInt] = {}
    asked: Mapping[Query, AwareDatetime] = {}
    errors: tuple[AwareDatetime, ...] = ()
    errors_left: NonNegativeInt | None = None
    block: Block | None = None
    blocks: Mapping[Query, Block] = {}

    @classmethod
    def new(cls, limits: "Limits", now: datetime) -> "Budget":
        """Return a budget that assumes full quotas; the first report puts it right."""
        return cls(
            hour=_full(limits.tokens_per_hour, _next_hour(now), now),
            day=_full(limits.tokens_per_day, next_pacific_midnight(now), now),
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """What the quotas are taken to be until the provider says otherwise, in tokens (spec 2, Limits)."""

    tokens_per_hour: int = 1750
    tokens_per_day: int = 25_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What to ask at one tick. `until` is when the total may run again, where it is skipped."""

    run: tuple[Query, ...]
    skipped: Mapping[Query, Reason]
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Wait:
    reason: Reason
    until: datetime


def next_pacific_midnight(now: datetime) -> datetime:
    """Return when the day's quota refills next, in UTC: 07:00 in summer, 08:00 in winter."""
    tomorrow = now.astimezone(PACIFIC).date() + DAY
    return datetime.combine(tomorrow, time(), tzinfo=PACIFIC).astimezone(UTC)


def plan(budget: Budget, limits: Limits, now: datetime, queries: Sequence[Query], interval: timedelta) -> Plan:
    """Return which of the scheduled `queries` may be asked at this tick; `interval` is from tick to tick."""
    tick = _Tick(_current(budget, limits, now), limits, now, interval)
    rest = [query for query in queries if query != TOTAL]
    run: list[Query] = []
    waits: dict[Query, _Wait] = {}
    for query in ([TOTAL] if TOTAL in queries else []) + rest:
        if wait := tick.blocked(query) or tick.too_risky(len(run)) or tick.paced(query, rest):
            waits[query] = wait
        else:
            run.append(query)
    until = waits[TOTAL].until if TOTAL in waits else None
    return Plan(tuple(run), {query: wait.reason for query, wait in waits.items()}, until)


def may_read(budget: Budget, limits: Limits, now: datetime, query: Query, interval: timedelta) -> Reason | None:
    """Return why an admin may not ask `query` now, or None: the totals of the hour and the day come first."""
    tick = _Tick(_current(budget, limits, now), limits, now, interval)
    others = 0 if query == TOTAL else 1
    wait = tick.blocked(query) or tick.too_risky(others) or tick.unaffordable(query)
    return wait.reason if wait else None


def charged(budget: Budget, limits: Limits, queries: Sequence[Query], now: datetime) -> Budget:
    """Return the budget after taking what `queries` should cost: a process killed amid the calls has paid."""
    current = _current(budget, limits, now)
    cost = sum(_cost(current, limits, query) for query in queries)
    block = current.block and (_probing(current.block, now) if TOTAL in queries else current.block)
    return current.model_copy(
        update={
            "hour": _taken(current.hour, cost),
            "day": _taken(current.day, cost),
            "asked": {**current.asked, **dict.fromkeys(queries, now)},
            "block": block,
            "blocks": {q: _probing(b, now) if q in queries else b for q, b in current.blocks.items()},
        }
    )


def reported(budget: Budget, limits: Limits, query: Query, quotas: Quotas | None, now: datetime) -> Budget:
    """Return the budget after a report: put right by the provider's figures, and no longer blocked.

    A report of the total lifts what blocks all queries, any other one what blocks it alone; but not a block that a
    query sent at the same time has just met.
    """
    current = _current(budget, limits, now)
    asked = current.asked.get(query, now)
    blocks = {q: b for q, b in current.blocks.items() if q != query or b.since >= asked}
    lifted = query == TOTAL and current.block is not None and current.block.since < asked
    return _corrected(current, limits, query, quotas or Quotas(), now).model_copy(
        update={"blocks": blocks, "block": None if lifted else current.block}
    )


def failed(budget: Budget, limits: Limits, query: Query, cause: Cause, now: datetime) -> Budget:
    """Return the budget after a failure, with the back-off of its cause (decision 25).

    Without an answer (`unreachable`, `not-a-report`) nothing is known: a probe may be repeated at the next tick.
    """
    current = _current(budget, limits, now)
    if cause == "server":
        return current.model_copy(update={"errors": (*current.errors, now)})
    if cause == "unreachable" or cause == "not-a-report":  # noqa: PLR1714 - narrows the type
        return _reopened(current, query, now)
    return _blocked(current, query, cause, now)


@dataclass(frozen=True, slots=True)
class _Tick:
    """What one moment allows."""

    budget: Budget
    limits: Limits
    now: datetime
    interval: timedelta

    @property
    def windows(self) -> tuple[tuple[Reason, Window, timedelta], ...]:
        return ("hour", self.budget.hour, HOUR), ("day", self.budget.day, DAY)

    @property
    def errors_left(self) -> int:
        """A provider that reports is not refused one query at a time, whatever it says is left."""
        told = self.budget.errors_left
        ours = SERVER_ERRORS_AN_HOUR - len(self.budget.errors)
        return ours if told is None else min(ours, max(told, 1))

    def cost(self, query: Query) -> int:
        return _cost(self.budget, self.limits, query)

    def ticks(self, window: Window) -> int:
        """Return how many ticks are left before the refill, and one for a provider whose clock is behind ours."""
        return ceil((window.refills_at - self.now) / self.interval) + 1

    def within(self, span: timedelta) -> int:
        return max(1, span // self.interval)

    def blocked(self, query: Query) -> _Wait | None:
        """Only the total probes what blocks all queries; a query probes for itself what blocks it alone."""
        block, own = self.budget.block, self.budget.blocks.get(query)
        if block and (self.now < block.until or query != TOTAL):
            return _Wait(block.reason, block.until)
        return _Wait(own.reason, own.until) if own and self.now < own.until else None

    def too_risky(self, beside: int) -> _Wait | None:
        """Return why one more query `beside` others could meet more server errors than are risked."""
        if beside < self.errors_left:
            return None
        free = min(self.budget.errors, default=self.now) + HOUR
        return _Wait("server-errors", free)

    def paced(self, query: Query, rest: Sequence[Query]) -> _Wait | None:
        """Return why `query` gives way at this tick; a probe does not."""
        if query == TOTAL:
            return None if self.budget.block else self._dry(query) or self._due(query, self._apart())
        batch = sum(self.cost(each) for each in rest)
        return self._dry(query) or self._due(
            query, max(self._rest_apart(window, batch) for window in self.windows)
        )

    def unaffordable(self, query: Query) -> _Wait | None:
        """Return why asking `query` besides the schedule would be at the cost of a total."""
        for _, window, _ in self.windows:
            if window.remaining < self.cost(query) + self.ticks(window) * self.cost(TOTAL):
                return self._dry(query) or _Wait("pacing", window.refills_at)
        return None

    def _dry(self, query: Query) -> _Wait | None:
        dry = [_Wait(name, w.refills_at) for name, w, _ in self.windows if w.remaining < self.cost(query)]
        return max(dry, key=lambda wait: wait.until, default=None)

    def _due(self, query: Query, apart: int) -> _Wait | None:
        asked = self.budget.asked.get(query)
        if apart == 1 or asked is None or asked > self.now:
            return None
        passed = round((self.now - asked) / self.interval)
        return None if passed >= apart else _Wait("pacing", asked + apart * self.interval)

    def _apart(self) -> int:
        apart = max(self._total_apart(window, length) for _, window, length in self.windows)
        return min(apart, self.within(FURTHEST_APART))

    def _total_apart(self, window: Window, length: timedelta) -> int:
        """Return how many ticks apart totals last; what others may take counts only as far as they stay fresh."""
        ticks, cost = self.ticks(window), self.cost(TOTAL)
        wary = _apart(ticks, (window.remaining - _others(window, length, self.now)) // cost)
        return max(_apart(ticks, window.remaining // cost), min(wary, self.within(STAYS_FRESH)))

    def _rest_apart(self, named: tuple[Reason, Window, timedelta], batch: int) -> int:
        """Return how many ticks apart the other queries last after all totals and the reserve; see `_apart`."""
        _, window, length = named
        ticks = self.ticks(window)
        spare = window.remaining - _others(window, length, self.now) - ticks * self.cost(TOTAL) - RESERVE
        return _apart(ticks, spare // batch)


def _apart(ticks: int, rounds: int) -> int:
    """Return every how many of `ticks` to ask so that `rounds` last; beyond all of them when there is none."""
    return max(1, ceil(ticks / rounds)) if rounds > 0 else ticks + 1


def _others(window: Window, length: timedelta, now: datetime) -> int:
    """Return the tokens that others will take until the refill if they go on as since the first report.

    A burst is spread over a quarter of the window at least, so that it is not taken for a habit.
    """
    if window.told is None:
        return 0
    taken = max(0, window.at_first - window.told - window.ours)
    watched = max(now - window.since, length / 4)
    return ceil(taken * ((window.refills_at - now) / watched))


def _cost(budget: Budget, limits: Limits, query: Query) -> int:
    """Return the tokens that `query` should cost; never more than a full quota, or it would not be asked again."""
    return min(budget.costs.get(query, EXPECTED_COST), limits.tokens_per_hour, limits.tokens_per_day)


def _next_hour(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + HOUR


def _full(tokens: int, refills_at: datetime, now: datetime) -> Window:
    return Window(refills_at=refills_at, remaining=tokens, since=now, at_first=tokens)


def _current(budget: Budget, limits: Limits, now: datetime) -> Budget:
    """Return the budget of `now`: windows refilled, and without what is over or was written by a wrong clock."""
    block = budget.block if budget.block and _matters(budget.block, now) else None
    return budget.model_copy(
        update={
            "hour": _hour(budget.hour, limits, now),
            "day": _day(budget.day, limits, now),
            "errors": tuple(at for at in budget.errors if now - HOUR < at <= now),
            "block": block,
            "blocks": {query: b for query, b in budget.blocks.items() if _matters(b, now)},
        }
    )


def _hour(window: Window, limits: Limits, now: datetime) -> Window:
    """Return the hour's window; its refills keep the minute at which one was seen."""
    ahead = window.refills_at - now
    if timedelta(0) < ahead <= HOUR + CLOCK_AHEAD:
        return window
    refills_at = _next_hour(now) if ahead > HOUR else window.refills_at + (-ahead // HOUR + 1) * HOUR
    return _full(max(limits.tokens_per_hour, window.most), refills_at, now)


def _day(window: Window, limits: Limits, now: datetime) -> Window:
    if timedelta(0) < window.refills_at - now <= LONGEST_DAY + CLOCK_AHEAD:
        return window
    return _full(max(limits.tokens_per_day, window.most), next_pacific_midnight(now), now)


def _taken(window: Window, cost: int) -> Window:
    return window.model_copy(update={"remaining": max(0, window.remaining - cost), "ours": window.ours + cost})


def _corrected(budget: Budget, limits: Limits, query: Query, quotas: Quotas, now: datetime) -> Budget:
    hours = [bucket for bucket in (quotas.hour, quotas.project_hour) if bucket]
    hour = min(hours, key=lambda bucket: bucket.remaining, default=None)
    told = [bucket.consumed for bucket in (*hours, quotas.day) if bucket]
    expected = _cost(budget, limits, query)
    errors = quotas.server_errors
    return budget.model_copy(
        update={
            "hour": _told(budget.hour, hour, expected, now, now + HOUR) if hour else budget.hour,
            "day": _told(budget.day, quotas.day, expected, now, next_pacific_midnight(now))
            if quotas.day
            else budget.day,
            "costs": {**budget.costs, query: _learned(expected, max(told))} if told else budget.costs,
            "errors_left": max(0, errors.remaining) if errors else budget.errors_left,
        }
    )


def _learned(expected: int, consumed: int) -> int:
    """Return the cost to expect next: up at once, down by halves."""
    return max(1, consumed, (expected + consumed) // 2)


def _told(window: Window, bucket: Bucket, expected: int, now: datetime, refills_at: datetime) -> Window:
    """Return the window as the provider tells it; more than a tenth above the last time, it was refilled since."""
    left, consumed = max(0, bucket.remaining), max(0, bucket.consumed)
    most = max(window.most, left + consumed)
    if window.told is not None and left > window.told + most // 10:
        fresh = _full(left, refills_at, now)
        return fresh.model_copy(update={"told": left, "most": left + consumed})
    ours = max(0, window.ours + consumed - expected)
    first = {"at_first": left + ours, "since": now} if window.told is None else {}
    return window.model_copy(update={"remaining": left, "told": left, "most": most, "ours": ours, **first})


def _matters(block: Block, now: datetime) -> bool:
    longest = LONGEST_DAY if block.reason == "day" else WAITS[block.reason]
    return now - FORGOTTEN_AFTER < block.until <= now + longest + CLOCK_AHEAD


def _probing(block: Block, now: datetime) -> Block:
    """Return the block while its probe runs: closed again, unless the probe succeeds."""
    return block.model_copy(update={"until": max(block.until, now + WAITS[block.reason])})


def _reopened(budget: Budget, query: Query, now: datetime) -> Budget:
    """Return the budget after a probe without an answer: the next tick may probe again."""
    asked = budget.asked.get(query, now)
    block, own = budget.block, budget.blocks.get(query)
    update: dict[str, object] = {}
    if block and query == TOTAL and block.since < asked:
        update["block"] = block.model_copy(update={"until": now})
    if own and own.since < asked:
        update["blocks"] = {**budget.blocks, query: own.model_copy(update={"until": now})}
    return budget.model_copy(update=update)


def _blocked(budget: Budget, query: Query, reason: Obstacle, now: datetime) -> Budget:
    block = Block(reason=reason, since=now, until=_until(budget, reason, now))
    if reason not in FOR_ALL:
        return budget.model_copy(update={"blocks": {**budget.blocks, query: block}})
    older = budget.block
    longer = older if older and older.until > block.until else block
    return budget.model_copy(update={"block": longer.model_copy(update={"since": now})})


def _until(budget: Budget, reason: Obstacle, now: datetime) -> datetime:
    late = budget.day.told is None and next_pacific_midnight(now - LATE_REFILL) <= now
    return next_pacific_midnight(now) if reason == "day" and not late else now + WAITS[reason]
