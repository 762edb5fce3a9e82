"""Which queries the analytics provider may get now (decisions 24, 25). Pure.

One rule for the schedule and for the owner's reads: a query waits for the first of three things in its way.

    a block         the provider refused it, and the time of that refusal is not over
    server errors   three an hour are risked, of which queries other than the total risk one
    tokens          they are spread over the time until the refill: first for the total, then for what others took
                    so far, then for the owner, and the rest for the other queries
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Literal

from orrery.live.quota import (
    ALL,
    NEVER,
    SERVER_ERRORS_AN_HOUR,
    TOTAL,
    Obstacle,
    Query,
    QuotaBudget,
    ServerError,
    scopes_of,
)
from orrery.live.tokens import TokenWindow

RESERVE = 100
"""Tokens of each quota that the schedule leaves to the admin's reads: ten of them (decision 24)."""

STAYS_FRESH = timedelta(seconds=120)
"""Totals this far apart are fresh all the time, with a minute to spare (spec 2, Limits: fresh under 3 min)."""

FURTHEST_APART = timedelta(minutes=25)
"""Totals further apart only hide the count (spec 2, Limits: too old over 30 min); an early refill is seen, too."""

ERRORS_OF_OTHERS = 1
"""How many server errors an hour queries other than the total may risk."""

LAST_RISK_AFTER = timedelta(minutes=24)
"""So long after the total's last error its last chance of the hour is taken: a count that was good before two bad
minutes is not yet too old then (spec 2, Limits: 30 min), even if totals are 2 minutes apart."""

Reason = Literal[Obstacle, "server-errors", "pacing"]
"""Why a query is not asked now; `pacing` keeps its tokens for later."""


@dataclass(frozen=True, slots=True)
class TickPlan:
    """What to ask at one tick, and why not the rest."""

    run: tuple[Query, ...]
    skipped: Mapping[Query, Reason]


def plan(budget: QuotaBudget, now: datetime, queries: Sequence[Query], interval: timedelta) -> TickPlan:
    """Return which of the scheduled `queries` may be asked at this tick; `interval` is from tick to tick."""
    tick = _Tick(budget, now, interval)
    # One query beside the total at a time is risked, so that the one asked longest ago has its turn.
    rest = sorted((query for query in queries if query != TOTAL), key=lambda q: budget.asked.get(q, NEVER))
    run: list[Query] = []
    skipped: dict[Query, Reason] = {}
    for query in ([TOTAL] if TOTAL in queries else []) + rest:
        others = len([each for each in run if each != TOTAL])
        if reason := tick.blocked(query) or tick.risky(query, others) or tick.paced(query, rest):
            skipped[query] = reason
        else:
            run.append(query)
    return TickPlan(tuple(run), skipped)


def may_read(budget: QuotaBudget, now: datetime, query: Query, interval: timedelta) -> Reason | None:
    """Return why an admin may not ask `query` now, or None: the totals of the hour and of the day come first."""
    tick = _Tick(budget, now, interval)
    return tick.blocked(query) or tick.risky(query, 0) or tick.costly(query)


@dataclass(frozen=True, slots=True)
class _Tick:
    """The three things that may be in the way at one time: each method returns a reason to wait, or None."""

    budget: QuotaBudget
    now: datetime
    interval: timedelta

    def blocked(self, query: Query) -> Reason | None:
        """Return what the provider refused; the total alone probes what blocks all."""
        blocks = self.budget.blocks
        if ALL in blocks and query != TOTAL:
            return blocks[ALL].reason
        own = [blocks[scope] for scope in scopes_of(query) if scope in blocks and self.now < blocks[scope].until]
        return max(own, key=lambda block: block.until).reason if own else None

    def risky(self, query: Query, others: int) -> Reason | None:
        """Say whether server errors of `query` and of `others` more queries could exhaust the quota."""
        errors, failing = self.budget.errors, self.budget.failing
        if query == TOTAL:
            waits = failing and self._errors_left <= 1 and self.now < _last_of_total(errors) + LAST_RISK_AFTER
            risk = waits or len(errors) >= SERVER_ERRORS_AN_HOUR
        else:
            risked = others + sum(error.query != TOTAL for error in errors)
            risk = failing or risked >= ERRORS_OF_OTHERS or self._errors_left <= 1
        return "server-errors" if risk else None

    def paced(self, query: Query, rest: Sequence[Query]) -> Reason | None:
        """Say whether `query` gives way at this tick; `rest` are the scheduled queries besides the total."""
        if query == TOTAL:
            return None if self._probes() else self._dry(TOTAL) or self._early(TOTAL, self._total_apart())
        batch = sum(map(self.budget.cost, rest))
        if min(self._spare(window) for window in self._windows) < batch:
            return self._dry(query) or "pacing"
        return self._early(query, self._apart(batch, self._spare))

    def costly(self, query: Query) -> Reason | None:
        """Say whether asking `query` besides the schedule would make the totals rarer."""
        after = replace(self, budget=self.budget.charged([query], self.now))
        return self._dry(query) or ("pacing" if after.sure_apart() > self.sure_apart() else None)

    def sure_apart(self) -> int:
        """Return how many ticks apart the totals last without other consumers."""
        return self._apart(self.budget.cost(TOTAL), lambda window: window.remaining)

    def _total_apart(self) -> int:
        """Return how many ticks apart to ask; others' habits count only as far as the total stays fresh."""
        wary = self._apart(self.budget.cost(TOTAL), lambda w: w.remaining - w.for_others(self.now))
        apart = max(self.sure_apart(), min(wary, STAYS_FRESH // self.interval))
        return min(apart, FURTHEST_APART // self.interval)

    def _apart(self, cost: int, tokens: Callable[[TokenWindow], int]) -> int:
        """Return every how many ticks to take `cost`, so that these tokens last; beyond the refill if none do."""
        lasting = [(self._ticks(window), tokens(window) // cost) for window in self._windows]
        return max(-(-ticks // rounds) if rounds > 0 else ticks + 1 for ticks, rounds in lasting)

    def _spare(self, window: TokenWindow) -> int:
        """Return the tokens that neither totals nor other consumers nor admins need until the refill."""
        totals = self._ticks(window) * self.budget.cost(TOTAL)
        return window.remaining - totals - window.for_others(self.now) - RESERVE

    def _ticks(self, window: TokenWindow) -> int:
        """Return how many ticks are left before the refill, and one more if the provider's clock is behind."""
        return ceil((window.refills_at - self.now) / self.interval) + 1

    def _dry(self, query: Query) -> Reason | None:
        return next((w.name for w in reversed(self._windows) if w.remaining < self.budget.cost(query)), None)

    def _early(self, query: Query, apart: int) -> Reason | None:
        """Say whether the last time is fewer than `apart` ticks ago; every process finds it in the budget."""
        asked = self.budget.asked.get(query, NEVER)
        early = apart > 1 and asked <= self.now and round((self.now - asked) / self.interval) < apart
        return "pacing" if early else None

    def _probes(self) -> bool:
        """Return whether the total is the first since a block ended: then our figures are not to be trusted."""
        block = self.budget.blocks.get(ALL)
        return block is not None and self.budget.asked.get(TOTAL, block.since) < block.until

    @property
    def _windows(self) -> tuple[TokenWindow, TokenWindow]:
        return self.budget.hour, self.budget.day

    @property
    def _errors_left(self) -> int:
        """Return how many errors may be risked: at least one when the provider answers."""
        left, reported = SERVER_ERRORS_AN_HOUR - len(self.budget.errors), self.budget.errors_left
        return left if reported is None else min(left, max(1, reported))


def _last_of_total(errors: Sequence[ServerError]) -> datetime:
    return max(error.at for error in errors if error.query == TOTAL)
