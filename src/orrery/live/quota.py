"""Which queries the analytics provider may get, and when (decisions 24, 25). Pure.

A refresh takes from the `Budget` with `charged` before the calls, and records each outcome with `reported` or
`failed`; the provider's own figures always win. The schedule slows down before the quota is exhausted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Literal

from pydantic import AwareDatetime, NonNegativeInt

from orrery.errors import Cause
from orrery.live.backoff import (
    DAY,
    HOUR,
    MENDED_BY_THE_OWNER,
    TOTAL,
    Backoff,
    Query,
    Reason,
    Wait,
    next_pacific_midnight,
)
from orrery.ports.analytics import Bucket, Quotas
from orrery.record import Record

SECOND = timedelta(seconds=1)

NEVER = datetime.min.replace(tzinfo=UTC)

EXPECTED_COST = 10
"""Tokens of a query that has not reported yet: 1,750 tokens are about 175 reports (spec 2, Limits)."""

RESERVE = 100
"""Tokens of each quota that the schedule leaves to the admin's reads: ten of them (decision 24)."""

STAYS_FRESH = timedelta(seconds=120)
"""Totals this far apart are fresh all the time, with a minute to spare (spec 2, Limits: fresh under 3 min)."""

FURTHEST_APART = timedelta(minutes=25)
"""Totals further apart only hide the count (spec 2, Limits: too old over 30 min); an early refill is seen, too."""

LATE_REFILL = timedelta(hours=2)
"""So soon after midnight, and before any report, an exhausted day may be yesterday's."""

PROBE_AT_START_APART = timedelta(minutes=5)
"""A process that crashes and starts again and again asks no more often than this in spite of a refusal."""


class Window(Record):
    """One of the provider's token quotas, between two refills.

    `remaining` is how much Orrery may use, `told` the provider's last figure, `most` its highest. Since its first
    figure (at `since`, when `at_first` were left) Orrery used `ours`; the rest of the difference, others used.
    """

    name: Literal["hour", "day"]
    refills_at: AwareDatetime
    remaining: NonNegativeInt
    since: AwareDatetime
    at_first: NonNegativeInt
    ours: NonNegativeInt = 0
    told: NonNegativeInt | None = None
    most: NonNegativeInt = 0


class Budget(Record):
    """The remaining quotas of the provider, and the blocks; stored as JSON.

    `source` identifies property and account: figures of one say nothing about another. `costs` are tokens, learned
    from reports; `asked` is when each query was last asked.
    """

    v: Literal[1] = 1
    source: str = ""
    hour: Window
    day: Window
    costs: Mapping[Query, NonNegativeInt] = {}
    asked: Mapping[Query, AwareDatetime] = {}
    backoff: Backoff = Backoff()

    @classmethod
    def new(cls, limits: "Limits", now: datetime, source: str = "") -> "Budget":
        """Return a budget that assumes full quotas; the first report puts it right."""
        return cls(
            source=source,
            hour=_full("hour", limits.tokens_per_hour, now),
            day=_full("day", limits.tokens_per_day, now),
        )

    def cost(self, query: Query, limits: "Limits") -> int:
        """Return the tokens that `query` should cost: not more than a full quota, or it would never be asked."""
        known = max(1, self.costs.get(query, EXPECTED_COST))
        return min(known, limits.tokens_per_hour, limits.tokens_per_day)


@dataclass(frozen=True, slots=True)
class Limits:
    """The assumed quotas until the provider gives its figures, in tokens (spec 2, Limits)."""

    tokens_per_hour: int = 1750
    tokens_per_day: int = 25_000


@dataclass(frozen=True, slots=True)
class TickPlan:
    """What to ask at one tick. `until` is when the total may run again, where it is skipped."""

    run: tuple[Query, ...]
    skipped: Mapping[Query, Reason]
    until: datetime | None = None


def plan(
    budget: Budget,
    limits: Limits,
    now: datetime,
    queries: Sequence[Query],
    interval: timedelta,
    *,
    starting: bool = False,
) -> TickPlan:
    """Return which of the scheduled `queries` may be asked at this tick; `interval` is from tick to tick.

    A process that is `starting` may query the total in spite of a block: the owner may have fixed its cause.
    """
    tick = _Tick(_current(budget, limits, now), limits, now, interval, starting)
    # One query beside the total at a time is risked, so that the one asked longest ago has its turn.
    rest = sorted((query for query in queries if query != TOTAL), key=lambda q: budget.asked.get(q, NEVER))
    run: list[Query] = []
    waits: dict[Query, Wait] = {}
    for query in ([TOTAL] if TOTAL in queries else []) + rest:
        others = len([each for each in run if each != TOTAL])
        if wait := tick.blocked(query) or tick.risky(query, others) or tick.paced(query, rest):
            waits[query] = wait
        else:
            run.append(query)
    until = waits[TOTAL].until if TOTAL in waits else None
    return TickPlan(tuple(run), {query: wait.reason for query, wait in waits.items()}, until)


def may_read(budget: Budget, limits: Limits, now: datetime, query: Query, interval: timedelta) -> Reason | None:
    """Return why an admin may not ask `query` now, or None: the totals of the hour and of the day come first."""
    tick = _Tick(_current(budget, limits, now), limits, now, interval)
    wait = tick.blocked(query) or tick.risky(query, 0) or tick.costly(query)
    return wait.reason if wait else None


def left(budget: Budget, limits: Limits, now: datetime) -> tuple[int, int]:
    """Return the tokens that we may count on in this hour and on this day."""
    current = _current(budget, limits, now)
    return current.hour.remaining, current.day.remaining


def charged(budget: Budget, limits: Limits, queries: Sequence[Query], now: datetime) -> Budget:
    """Return the budget after taking what `queries` should cost: a process killed amid the calls has paid."""
    current = _current(budget, limits, now)
    cost = sum(current.cost(query, limits) for query in queries)
    return current.change(
        hour=_charged(current.hour, cost),
        day=_charged(current.day, cost),
        asked={**current.asked, **dict.fromkeys(queries, now)},
    )


def reported(budget: Budget, limits: Limits, query: Query, quotas: Quotas | None, now: datetime) -> Budget:
    """Return the budget after a report: with the provider's figures, and without the blocks that it lifts."""
    current = _current(budget, limits, now)
    corrected = _corrected(current, limits, query, quotas, now) if quotas else current
    return corrected.change(backoff=corrected.backoff.answered(query, current.asked.get(query, now)))


def failed(budget: Budget, limits: Limits, query: Query, cause: Cause, now: datetime) -> Budget:
    """Return the budget after a failure, with the back-off of its cause (decision 25)."""
    current = _current(budget, limits, now)
    late = current.day.told is None and next_pacific_midnight(now - LATE_REFILL) <= now
    return current.change(backoff=current.backoff.failed(query, cause, now, late=late))


@dataclass(frozen=True, slots=True)
class _Tick:
    """The rules at one time: each method returns a reason to wait and its end, or None."""

    budget: Budget
    limits: Limits
    now: datetime
    interval: timedelta
    starting: bool = False

    def blocked(self, query: Query) -> Wait | None:
        """Say what refuses `query`, unless it is the probe of a process that is starting."""
        wait = self.budget.backoff.blocked(query, self.now)
        return None if wait and self.starting and query == TOTAL and self._may_be_mended(wait.reason) else wait

    def risky(self, query: Query, others: int) -> Wait | None:
        """Return a wait when server errors of `query` and of `others` more queries could exhaust the quota."""
        return self.budget.backoff.risky(query, others, self.now)

    def paced(self, query: Query, rest: Sequence[Query]) -> Wait | None:
        """Say whether `query` gives way at this tick; `rest` are the scheduled queries besides the total."""
        if query == TOTAL:
            return None if self._probes() else self._dry(TOTAL) or self._due(TOTAL, self._total_apart())
        batch = sum(map(self._cost, rest))
        rounds = [(self._ticks(window), self._spare(window) // batch) for window in self._windows]
        if min(lasting for _, lasting in rounds) <= 0:
            return self._dry(query) or Wait("pacing", self.now)
        return self._due(query, max(_apart(ticks, lasting) for ticks, lasting in rounds))

    def costly(self, query: Query) -> Wait | None:
        """Say whether asking `query` besides the schedule would make the totals rarer."""
        after = replace(self, budget=charged(self.budget, self.limits, [query], self.now))
        rarer = Wait("pacing", self.now) if after.sure_apart() > self.sure_apart() else None
        return self._dry(query) or rarer

    def sure_apart(self) -> int:
        """Return how many ticks apart the totals last if nobody else takes any."""
        return max(_apart(self._ticks(w), w.remaining // self._cost(TOTAL)) for w in self._windows)

    @property
    def _windows(self) -> tuple[Window, Window]:
        return self.budget.hour, self.budget.day

    def _cost(self, query: Query) -> int:
        return self.budget.cost(query, self.limits)

    def _ticks(self, window: Window) -> int:
        """Return how many ticks are left before the refill, and one more if the provider's clock is behind."""
        return ceil((window.refills_at - self.now) / self.interval) + 1

    def _may_be_mended(self, reason: Reason) -> bool:
        asked = self.budget.asked.get(TOTAL, NEVER)
        recently = timedelta(0) <= self.now - asked < PROBE_AT_START_APART
        return reason in MENDED_BY_THE_OWNER and not recently

    def _probes(self) -> bool:
        """Return whether the total is the first since a block ended: then our figures are not to be trusted."""
        block = self.budget.backoff.block
        return block is not None and self.budget.asked.get(TOTAL, block.since) < block.until

    def _dry(self, query: Query) -> Wait | None:
        dry = [Wait(w.name, w.refills_at) for w in self._windows if w.remaining < self._cost(query)]
        return max(dry, key=lambda wait: wait.until, default=None)

    def _due(self, query: Query, apart: int) -> Wait | None:
        """Say whether the last time is fewer than `apart` ticks ago; every process finds it in the budget."""
        asked = self.budget.asked.get(query)
        if apart <= 1 or asked is None or asked > self.now:
            return None
        enough = round((self.now - asked) / self.interval) >= apart
        return None if enough else Wait("pacing", asked + apart * self.interval)

    def _total_apart(self) -> int:
        """Return how many ticks apart to ask; others' habits count only as far as the total stays fresh."""
        left = [(self._ticks(window), window.remaining - _others(window, self.now)) for window in self._windows]
        wary = max(_apart(ticks, tokens // self._cost(TOTAL)) for ticks, tokens in left)
        apart = max(self.sure_apart(), min(wary, STAYS_FRESH // self.interval))
        return min(apart, FURTHEST_APART // self.interval)

    def _spare(self, window: Window) -> int:
        """Return the tokens that nobody else needs until the refill: no total, no other consumer and no admin."""
        totals = self._ticks(window) * self._cost(TOTAL)
        return window.remaining - totals - _others(window, self.now) - RESERVE


def _apart(ticks: int, rounds: int) -> int:
    """Return every how many of `ticks` to ask so that `rounds` last; beyond them all if none does."""
    return -(-ticks // rounds) if rounds > 0 else ticks + 1


def _others(window: Window, now: datetime) -> int:
    """Return how much others will use until the refill at their pace; a burst counts as a quarter window's use."""
    if window.told is None:
        return 0
    taken = max(0, window.at_first - window.told - window.ours)
    watched = max(now - window.since, _length(window) / 4)
    return taken * ((window.refills_at - now) // SECOND) // (watched // SECOND)


def _length(window: Window) -> timedelta:
    return HOUR if window.name == "hour" else DAY


def _full(name: Literal["hour", "day"], tokens: int, now: datetime) -> Window:
    next_hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + HOUR
    refills_at = next_pacific_midnight(now) if name == "day" else next_hour
    return Window(name=name, refills_at=refills_at, remaining=tokens, since=now, at_first=tokens)


def _current(budget: Budget, limits: Limits, now: datetime) -> Budget:
    """Return the budget of `now`: refilled, and without blocks that are over or were written by a wrong clock."""
    return budget.change(
        hour=_refilled(budget.hour, limits.tokens_per_hour, now),
        day=_refilled(budget.day, limits.tokens_per_day, now),
        backoff=budget.backoff.current(now),
    )


def _refilled(window: Window, tokens: int, now: datetime) -> Window:
    """Return the window, or a full one once its refill has come or cannot be; an hour keeps its minute."""
    if now < window.refills_at <= now + _length(window) + HOUR:
        return window
    full = _full(window.name, max(tokens, window.most), now)
    if window.name == "day" or window.refills_at > now:
        return full
    return full.change(refills_at=now + HOUR - (now - window.refills_at) % HOUR)


def _charged(window: Window, cost: int) -> Window:
    return window.change(remaining=max(0, window.remaining - cost), ours=window.ours + cost)


def _corrected(budget: Budget, limits: Limits, query: Query, quotas: Quotas, now: datetime) -> Budget:
    """Return the budget with the provider's figures; of the two quotas of an hour the scarcer one counts."""
    hours = [bucket for bucket in (quotas.hour, quotas.project_hour) if bucket]
    hour, day, errors = min(hours, key=lambda b: b.remaining, default=None), quotas.day, quotas.server_errors
    expected = budget.cost(query, limits)
    consumed = max((bucket.consumed for bucket in (*hours, day) if bucket), default=expected)
    return budget.change(
        hour=_window_from(budget.hour, hour, expected, now) if hour else budget.hour,
        day=_window_from(budget.day, day, expected, now) if day else budget.day,
        costs={**budget.costs, query: max(0, consumed, (expected + consumed) // 2)},
        backoff=budget.backoff.change(errors_left=errors.remaining) if errors else budget.backoff,
    )


def _window_from(window: Window, bucket: Bucket, expected: int, now: datetime) -> Window:
    """Return the window with the provider's figures; a tenth more than before means a refill since."""
    left, consumed = max(0, bucket.remaining), max(0, bucket.consumed)
    most = max(window.most, left + consumed)
    if window.told is not None and left > window.told + most // 10:
        refills_at = now + HOUR if window.name == "hour" else window.refills_at
        return _full(window.name, left, now).change(refills_at=refills_at, told=left, most=left + consumed)
    ours = max(0, window.ours + consumed - expected)
    first = {"at_first": left + ours, "since": now} if window.told is None else {}
    return window.change(remaining=left, told=left, most=most, ours=ours, **first)
