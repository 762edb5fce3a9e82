"""The monitor reads the public counter as a visitor does, and reports lasting faults (spec 2, What it does 5).

    well ──2 bad checks in a row──▶ degraded ──2 good in a row──▶ well

Its observations are stored by compare-and-set. The right state of the tracker follows from the stored state, so
after a failure of the tracker the next check that counts brings it up to date (decision 29).
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pydantic import AwareDatetime, NonNegativeInt

from orrery.errors import NotConfigured
from orrery.live import keys
from orrery.live.freshness import CACHED, TICK, age
from orrery.logs import log
from orrery.ports.clock import Clock
from orrery.ports.counter import Counter, PublicCount
from orrery.ports.store import Check, Committed, Store, Unchanged
from orrery.ports.tracker import Issue, Tracker, TrackerFailed
from orrery.record import Code, Id, Record
from orrery.runtime.collection import FOR_EVER, Changes, Collection, commit
from orrery.runtime.tasks import together

LABEL = "realtime-degraded"
"""Spec 2, What the service does 5."""

EVERY = timedelta(minutes=15)
"""How often the workers check (spec 2, What the service does 5)."""

IN_A_ROW = 2
"""How many equal checks in a row open the issue or close it (decision 29)."""

LOOKED_BACK, MOST_BAD = 6, 3
"""Three bad checks of the last six open the issue, too: for a counter that fails now and then (decision 55)."""

OLD_ABOVE = timedelta(minutes=10)
"""A count older than this is bad (decision 29)."""

APART_AT_MOST = timedelta(seconds=TICK + CACHED)
"""The two reads disagree when their counts were taken further apart than a tick and an edge cache."""

COUNTS_ONCE_IN = timedelta(seconds=CACHED)
"""A check within this time of one that counted does not count: both may have seen the same cached bytes.

It is also the time in which no other check uses the tracker.
"""

GRACE = APART_AT_MOST
"""How long the workers wait before a bad check counts: a tick and an edge cache. After a jump of
the clock, or a standstill, the count is old until the refresher has had its tick."""

JUMP = timedelta(seconds=60)
"""A wait that is off by more than this saw a jump of the clock."""

TRACKER_SECONDS = 45.0
"""How long a check uses the tracker: less than `COUNTS_ONCE_IN`, so that two checks do not both open."""

TITLE = "The live counter is degraded"

TrackerChange = Literal["opened", "found", "commented", "closed"]


@dataclass(frozen=True, slots=True)
class CheckFailure:
    """Why a check is bad. A new `kind` causes a comment on the issue; `text` is one sentence."""

    kind: str
    text: str


class MonitorState(Record):
    """The state after the last check. `tracker` is the issue's state, `told` the kind of failure in it.

    Without a readable state the issue is `unknown`: two good checks close any issue that may be there.
    """

    checked_at: AwareDatetime | None = None
    bad: NonNegativeInt = 0
    good: NonNegativeInt = 0
    kind: Code = ""
    reason: Code = ""
    degraded_since: AwareDatetime | None = None
    tracker: Literal["unknown", "opening", "open", "closing", "closed"] = "unknown"
    issue: Id | None = None
    url: Id = ""
    told: Code = ""
    recently_bad: tuple[bool, ...] = ()
    """Of each of the last `LOOKED_BACK` checks since the issue was last closed, whether it was bad."""

    @property
    def degraded(self) -> str:
        """Why the counter is degraded, or nothing."""
        if self.degraded_since is None:
            return ""
        often = f"{sum(self.recently_bad)} of the last {LOOKED_BACK} checks were bad. Last: "
        return f"{often if 0 < self.bad < IN_A_ROW else ''}{self.reason}"

    def known_issue(self) -> Issue | None:
        """Return the issue that was opened or found."""
        return Issue(self.issue, self.url) if self.issue else None


@dataclass(frozen=True, slots=True)
class MonitorResult:
    """The result of a check.

    `reason` is None when the counter is well. A check that is not `counted` changed nothing. `trouble` is why
    the tracker is not up to date.
    """

    reason: CheckFailure | None
    counted: bool
    bad_in_a_row: int
    good_in_a_row: int
    degraded_since: datetime | None
    issue: Issue | None
    done: tuple[TrackerChange, ...] = ()
    trouble: str | None = None


def judge(site: PublicCount | None, cosmos: PublicCount | None, now: datetime) -> CheckFailure | None:
    """Return why the two public reads are bad, the worst reason first, or None when all is well (decision 29)."""
    if site is None or cosmos is None:
        missing = [name for name, reading in (("site", site), ("cosmos", cosmos)) if reading is None]
        return CheckFailure(
            "unreachable", f"No usable answer came from the {' read and the '.join(missing)} read."
        )
    reads = (("site", site), ("cosmos", cosmos))
    for name, reading in reads:
        if reading.error is not None:
            return CheckFailure(f"error {reading.error}", f"The {name} read reports {reading.error}.")
    aged = (_aged(name, reading, now) for name, reading in reads)
    return next((reason for reason in aged if reason), None) or _disagreement(site, cosmos)


def _aged(name: str, reading: PublicCount, now: datetime) -> CheckFailure | None:
    found = age(reading.generated_at, now) if reading.generated_at else None
    if found is None:
        return CheckFailure("undated", f"The {name} read gives no time of its count that can be believed.")
    # A cached answer gives its age at its creation, and the clock may be wrong on either side.
    found = max(found, timedelta(seconds=reading.age_s or 0))
    if found > OLD_ABOVE:
        return CheckFailure("stale", f"The {name} read is {found // timedelta(minutes=1)} minutes old.")
    return None


def _disagreement(site: PublicCount, cosmos: PublicCount) -> CheckFailure | None:
    if site.generated_at is None or cosmos.generated_at is None:
        return None
    apart = abs(site.generated_at - cosmos.generated_at)
    if apart > APART_AT_MOST:
        return CheckFailure(
            "disagreeing", f"The two reads were counted {apart // timedelta(seconds=1)} seconds apart."
        )
    if not apart and site.count != cosmos.count:
        counts = f"{site.count} and {cosmos.count}"
        return CheckFailure("disagreeing", f"The site and the cosmos read count {counts} at the same moment.")
    return None


def after_check(state: MonitorState, reason: CheckFailure | None, now: datetime) -> MonitorState:
    return _after_bad(state, reason, now) if reason else _after_good(state, now)


def _after_bad(state: MonitorState, reason: CheckFailure, now: datetime) -> MonitorState:
    bad, recent = state.bad + 1, _recent(state, is_bad=True)
    after = state.change(
        checked_at=now, bad=bad, good=0, kind=reason.kind, reason=reason.text, recently_bad=recent
    )
    if state.degraded_since is None and (bad >= IN_A_ROW or sum(recent) >= MOST_BAD):
        return after.change(degraded_since=now, tracker="opening")
    return after


def _after_good(state: MonitorState, now: datetime) -> MonitorState:
    good = state.good + 1
    after = state.change(checked_at=now, bad=0, good=good, recently_bad=_recent(state, is_bad=False))
    if good >= IN_A_ROW and (state.degraded_since or state.tracker == "unknown"):
        return after.change(degraded_since=None, tracker="closing", recently_bad=())
    return after


def _recent(state: MonitorState, *, is_bad: bool) -> tuple[bool, ...]:
    return (*state.recently_bad, is_bad)[-LOOKED_BACK:]


def monitor_state(store: Store, clock: Clock) -> Collection[MonitorState]:
    """Return the collection of the state."""
    return Collection(store, clock, MonitorState, keys.MONITOR, life=FOR_EVER)


class CounterMonitor:
    """Checks the counter, and updates the issue."""

    def __init__(self, store: Store, clock: Clock, counter: Counter, tracker: Tracker) -> None:
        self._store = store
        self._clock = clock
        self._state = monitor_state(store, clock)
        self._counter = counter
        self._tracker = tracker

    async def check_patiently(self) -> MonitorResult:
        """Check as the workers do: a bad check is repeated after `GRACE`, and only the second one counts."""
        while await self._reason():
            began = self._clock.now()
            await self._clock.sleep(GRACE.total_seconds())
            if abs(self._clock.now() - began - GRACE) <= JUMP:
                break
        return await self.check()

    async def check(self) -> MonitorResult:
        """Check once, and return the result.

        Of checks within a minute one counts, also among processes. Raises `StoreError`; the verdict contains an
        error of the tracker.
        """
        reason, now = await self._reason(), self._clock.now()
        found, unmoved = await self._state.replaceable()
        before = found or MonitorState()
        if before.checked_at and abs(now - before.checked_at) < COUNTS_ONCE_IN:
            return _result(reason, before, counted=False)
        after = after_check(before, reason, now)
        version = await self._store_state(after, unmoved)
        if version is None:
            return _result(reason, before, counted=False)
        return await self._synchronize_tracker(reason, after, version)

    async def _reason(self) -> CheckFailure | None:
        site, cosmos = await together(self._counter.read("site"), self._counter.read("cosmos"))
        return judge(site, cosmos, self._clock.now())

    async def _synchronize_tracker(
        self, reason: CheckFailure | None, state: MonitorState, version: int
    ) -> MonitorResult:
        """Bring the tracker up to date, and store how far that went."""
        sync = _TrackerSync(self._tracker, state)
        trouble = await sync.synchronize()
        if sync.state != state:
            # After another check that counted, this is not stored: that check found the issue by its label.
            _ = await self._store_state(sync.state, Unchanged(keys.MONITOR, version))
        result = _result(reason, sync.state, counted=True, done=sync.done, trouble=trouble)
        log.info("live count checked", kind=reason.kind if reason else "good", done=result.done, trouble=trouble)
        return result

    async def _store_state(self, state: MonitorState, unmoved: Check) -> int | None:
        """Store the state; return the version, or None when another process was first."""
        outcome = await commit(self._store, Changes([self._state.put(state)], [unmoved]))
        return outcome.version if isinstance(outcome, Committed) else None


class _TrackerSync:
    """The calls of one check to the tracker. `state` is updated after each call, so that a failure loses none."""

    def __init__(self, tracker: Tracker, state: MonitorState) -> None:
        self._tracker = tracker
        self.state = state
        self.done: list[TrackerChange] = []

    async def synchronize(self) -> str | None:
        """Make the due calls; return why they were not completed, if they were not."""
        try:
            async with asyncio.timeout(TRACKER_SECONDS):
                while call := self._due():
                    await call()
        except (TrackerFailed, NotConfigured) as error:
            trouble = str(error)
        except TimeoutError:
            trouble = f"The tracker did not do it within {TRACKER_SECONDS:g} s."
        else:
            return None
        log.warning("tracker is behind", why=trouble)
        return trouble

    def _due(self) -> Callable[[], Awaitable[None]] | None:
        match self.state.tracker:
            case "opening":
                return self._open
            case "closing":
                return self._close
            case "open" if self.state.told != self.state.kind:
                return self._comment
            case _:
                return None

    async def _open(self) -> None:
        """Open an issue, or use an open one: an answer was lost, or another person opened it."""
        issue = await self._tracker.find_open(LABEL)
        kind, done = ("", "found") if issue else (self.state.kind, "opened")
        issue = issue or await self._tracker.open(LABEL, TITLE, _opening(self.state))
        self._note(done, tracker="open", issue=issue.id, url=issue.url, told=kind)

    async def _comment(self) -> None:
        """Comment the new reason; an issue that the owner closed stays closed."""
        issue = await self._tracker.find_open(LABEL)
        if issue:
            await self._tracker.comment(issue, f"Still degraded: {self.state.reason}")
        self._note("commented" if issue else None, told=self.state.kind)

    async def _close(self) -> None:
        """Close every issue with the label. Ids of before are not trusted: they may be another tracker's."""
        closed = set[str]()
        while (issue := await self._tracker.find_open(LABEL)) and issue.id not in closed:
            await self._tracker.close(issue, f"The counter was well {IN_A_ROW} times in a row.")
            closed.add(issue.id)
        self._note("closed" if closed else None, tracker="closed", issue=None, url="", told="")

    def _note(self, done: TrackerChange | None, **update: str | None) -> None:
        if done:
            self.done.append(done)
        self.state = self.state.change(**update)


def _opening(state: MonitorState) -> str:
    return (
        f"{state.reason}\n\nThe monitor saw it {IN_A_ROW} times in a row, at last at "
        f"{state.checked_at:%Y-%m-%d %H:%M} UTC. It comments when the reason changes, and closes this after "
        f"{IN_A_ROW} good checks in a row."
    )


def _result(
    reason: CheckFailure | None,
    state: MonitorState,
    *,
    counted: bool,
    done: list[TrackerChange] | None = None,
    trouble: str | None = None,
) -> MonitorResult:
    return MonitorResult(
        reason=reason,
        counted=counted,
        bad_in_a_row=state.bad,
        good_in_a_row=state.good,
        degraded_since=state.degraded_since,
        issue=state.known_issue(),
        done=tuple(done or ()),
        trouble=trouble,
    )
