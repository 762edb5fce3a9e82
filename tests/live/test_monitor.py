"""The monitor: what is bad, when an issue opens and closes, and that nothing of it is lost (decision 29)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.adapters.memory import MemoryStore
from orrery.errors import NotConfigured, OutcomeUnknown, StoreUnavailable, TrackerFailed
from orrery.live import keys
from orrery.live.monitor import COUNTS_ONCE_IN, EVERY, LABEL, TRACKER_SECONDS, Monitor, Verdict, judge
from orrery.owner.outbox import Outbox, Row
from orrery.ports.counter import Reading
from orrery.ports.store import Check, Committed, Conflict, Put, Store, Write
from orrery.ports.tracker import Issue
from tests.support.clock import START, ManualClock
from tests.support.hasty_loop import run_ahead
from tests.support.stores import LossyStore
from tests.support.trackers import Kept, MemoryTracker, ScriptedCounter
from tests.support.unreliable_store import UnreliableStore

pytestmark = pytest.mark.anyio

SECOND = timedelta(seconds=1)
WELL = Reading(5, START, 0.0, stale=False, error=None)
REFUSED = TrackerFailed("GitHub answered 500.")


def kind(site: Reading | None, cosmos: Reading | None) -> str | None:
    """Return the kind of what is bad at `START`."""
    reason = judge(site, cosmos, START)
    return reason.kind if reason else None


def aged(age: timedelta, **changes: object) -> Reading:
    """Return a read whose count is so old."""
    told = max(age.total_seconds(), 0)
    return replace(WELL, generated_at=START - age, age_s=told, **changes)  # pyright: ignore[reportArgumentType] fields by name


def test_what_is_well() -> None:
    """Two reads of the same fresh count are well."""
    assert kind(WELL, WELL) is None


@pytest.mark.parametrize(("site", "cosmos"), [(None, WELL), (WELL, None), (None, None)])
def test_unreachable(site: Reading | None, cosmos: Reading | None) -> None:
    """A read that can not be reached is bad, whichever it is."""
    assert kind(site, cosmos) == "unreachable"


@pytest.mark.parametrize("error", ["no-data", "data-too-stale", "kv-not-bound", "quota-exhausted"])
def test_an_error(error: str) -> None:
    """A read with an error is bad, and each error is a kind of its own."""
    bad = Reading(0, None, None, stale=True, error=error)
    assert kind(bad, WELL) == kind(WELL, bad) == f"error {error}"


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (timedelta(0), None),
        (timedelta(seconds=180), None),
        (timedelta(seconds=600), None),
        (timedelta(seconds=600, microseconds=1), "stale"),
        (timedelta(seconds=1800), "stale"),
        (timedelta(seconds=-60), None),
        (timedelta(seconds=-61), "undated"),
    ],
)
def test_the_age(age: timedelta, expected: str | None) -> None:
    """A count over ten minutes old is bad, ten minutes are not; one from beyond the next minute has no age."""
    assert kind(aged(age), aged(age)) == expected


def test_an_old_answer_that_calls_itself_young() -> None:
    """An answer that was kept on the way tells its age of then: what counts is the time of its count."""
    kept = replace(aged(timedelta(minutes=11)), age_s=3.0)
    assert kind(kept, kept) == "stale"


def test_an_answer_that_calls_itself_old() -> None:
    """An age over ten minutes is bad too when our own clock makes the count look younger."""
    assert kind(replace(WELL, age_s=601.0), WELL) == "stale"


def test_the_flag_alone() -> None:
    """A read that is stale for less than ten minutes is no trouble yet."""
    stale = aged(timedelta(minutes=5), stale=True)
    assert kind(stale, stale) is None


def test_a_read_without_a_time() -> None:
    """A count without a time can not be said to be fresh."""
    assert kind(replace(WELL, generated_at=None, age_s=None), WELL) == "undated"


@pytest.mark.parametrize(
    ("cosmos", "expected"),
    [
        (replace(WELL, count=6), "disagreeing"),
        (aged(timedelta(seconds=1), count=6), None),
        (aged(timedelta(seconds=120)), None),
        (aged(timedelta(seconds=120, microseconds=1)), "disagreeing"),
    ],
)
def test_disagreement(cosmos: Reading, expected: str | None) -> None:
    """Other counts of one moment, or counts more than two minutes apart, are bad; a newer count may differ."""
    assert kind(WELL, cosmos) == kind(cosmos, WELL) == expected


class Post:
    """A monitor with all that it needs, and what came of it."""

    def __init__(self, store: Store | None = None, clock: ManualClock | None = None) -> None:
        self.clock = clock or ManualClock()
        self.store = store or MemoryStore(self.clock)
        self.counter = ScriptedCounter(self.clock)
        self.tracker = MemoryTracker()
        self.monitor = self.another()

    def another(self) -> Monitor:
        """Return the monitor of another process on the same store."""
        return Monitor(self.store, self.clock, self.counter, self.tracker)

    async def check(self, *, well: bool) -> Verdict:
        """Check once, a quarter of an hour after the last time."""
        self.counter.well = well
        verdict = await self.monitor.check()
        self.clock.advance(EVERY.total_seconds())
        return verdict

    async def checks(self, pattern: str) -> Verdict:
        """Check once a letter: `b` is bad, `g` is good."""
        return [await self.check(well=letter == "g") for letter in pattern][-1]

    async def pushes(self) -> list[str]:
        """Return what the owner was told, oldest first."""
        rows = [row async for row in Outbox(self.store, self.clock, {}).rows()]
        return [row.title for row in sorted(rows, key=lambda row: row.created_at)]

    async def push(self) -> Row:
        """Return the one push."""
        (row,) = [row async for row in Outbox(self.store, self.clock, {}).rows()]
        return row


DEGRADED, WELL_AGAIN = "The live counter is degraded", "The live counter is well again"


async def test_one_bad_check_opens_nothing() -> None:
    """A single bad check is seen and counted, and tells nobody."""
    post = Post()
    verdict = await post.checks("b")
    assert (verdict.reason is not None, verdict.bad_in_a_row, verdict.done) == (True, 1, ())
    assert (post.tracker.calls, await post.pushes()) == ([], [])


async def test_two_bad_checks_open_an_issue() -> None:
    """The second bad check in a row opens one issue with the label and the reason, and tells the owner."""
    post = Post()
    verdict = await post.checks("bb")
    (issue,) = post.tracker.issues
    assert (issue.label, issue.title, verdict.done) == ("realtime-degraded", DEGRADED, ("opened",))
    assert "No usable answer came from the site read and the cosmos read." in issue.body
    assert "at last at 2026-03-01 12:15 UTC" in issue.body
    assert verdict.issue is not None
    assert verdict.issue.id == issue.id
    push = await post.push()
    assert (push.channel, push.title, push.priority) == ("push", DEGRADED, "high")


async def test_it_stays_one_issue() -> None:
    """However long the counter is bad for the same reason, there is one issue, one push and no comment."""
    post = Post()
    await post.checks("b" * 10)
    assert [one.comments for one in post.tracker.issues] == [[]]
    assert await post.pushes() == [DEGRADED]


async def test_two_good_checks_close_it() -> None:
    """The second good check in a row closes the issue with a comment, and tells the owner."""
    post = Post()
    await post.checks("bbg")
    assert len(post.tracker.open_issues) == 1
    verdict = await post.check(well=True)
    assert (verdict.done, verdict.issue, verdict.degraded_since) == (("closed",), None, None)
    assert post.tracker.open_issues == []
    assert len(post.tracker.issues[0].comments) == 1
    assert await post.pushes() == [DEGRADED, WELL_AGAIN]


async def test_it_opens_anew() -> None:
    """Trouble after a recovery is another issue and another push."""
    post = Post()
    await post.checks("bbggbb")
    assert [one.is_open for one in post.tracker.issues] == [False, True]
    assert await post.pushes() == [DEGRADED, WELL_AGAIN, DEGRADED]


async def test_a_comment_when_the_reason_changes() -> None:
    """Another kind of reason is one comment; the same kind in other words is none."""
    post = Post()
    await post.checks("bb")
    post.counter.error = "no-data"
    assert (await post.check(well=True)).done == ("commented",)
    await post.check(well=True)
    post.counter.error, post.counter.old = None, timedelta(minutes=20)
    await post.check(well=True)
    post.counter.old = timedelta(minutes=25)
    await post.check(well=True)
    assert post.tracker.issues[0].comments == [
        "Still degraded: The site read says no-data.",
        "Still degraded: The site read is 20 minutes old.",
    ]
    assert await post.pushes() == [DEGRADED]


async def test_a_good_check_while_degraded_is_no_comment() -> None:
    """One good check between bad ones of the same kind says nothing."""
    post = Post()
    await post.checks("bbgb")
    assert post.tracker.issues[0].comments == []


async def test_a_tracker_that_fails_delays_the_opening() -> None:
    """The push goes out though the tracker fails; the next checks try again until the issue is open."""
    post = Post()
    post.tracker.troubles = [REFUSED, REFUSED]
    verdict = await post.checks("bb")
    assert (verdict.trouble, verdict.done) == ("GitHub answered 500.", ())
    assert await post.pushes() == [DEGRADED]
    assert (await post.check(well=False)).trouble == "GitHub answered 500."
    assert (await post.check(well=False)).done == ("opened",)
    assert await post.pushes() == [DEGRADED]


async def test_a_tracker_that_is_not_configured() -> None:
    """A tracker without its token is told in the verdict, and stops neither the count nor the push."""
    post = Post()
    post.tracker.troubles = [NotConfigured("The secret tracker_token is missing.")]
    assert (await post.checks("bb")).trouble == "The secret tracker_token is missing."
    assert await post.pushes() == [DEGRADED]


async def test_an_opening_whose_answer_was_lost() -> None:
    """An issue that was opened without our learning of it is found by its label, never opened twice."""
    post = Post()
    post.tracker.lose_answers = 1
    await post.checks("bb")
    verdict = await post.check(well=False)
    assert len(post.tracker.issues) == 1
    assert verdict.done == ("found", "commented")
    assert verdict.issue is not None


async def test_a_lost_opening_is_closed() -> None:
    """An issue whose opening was never confirmed is closed all the same once the counter is well."""
    post = Post()
    post.tracker.lose_answers = 1
    await post.checks("bb")
    post.tracker.troubles = [REFUSED]
    await post.checks("gg")
    assert post.tracker.open_issues == []


async def test_an_issue_of_somebody_else() -> None:
    """An issue with the label that is open already is taken up with a comment."""
    post = Post()
    post.tracker.issues.append(Kept("1", LABEL, "The pill is gone", "I see nothing."))
    assert (await post.checks("bb")).done == ("found", "commented")
    assert len(post.tracker.issues) == 1


async def test_a_comment_that_failed() -> None:
    """A comment that the tracker refused is made by the next check."""
    post = Post()
    await post.checks("bb")
    post.counter.error = "no-data"
    post.tracker.troubles = [REFUSED]
    assert (await post.check(well=True)).done == ()
    assert (await post.check(well=True)).done == ("commented",)


async def test_what_was_done_before_a_failure_is_kept() -> None:
    """When an issue was taken up and the comment on it failed, only the comment is made again."""
    post = Post()
    post.tracker.issues.append(Kept("1", LABEL, "The pill is gone", ""))
    post.tracker.lose_answers = 1
    assert (await post.checks("bb")).done == ("found",)
    assert (await post.check(well=False)).done == ("commented",)


async def test_a_tracker_that_lags() -> None:
    """A tracker that still lists an issue just closed does not have it closed again."""
    post = Post()
    post.tracker.lags = True
    await post.checks("bbgg")
    assert post.tracker.calls.count("close") == 1


async def test_a_closing_that_failed() -> None:
    """A closing that the tracker refused is made by the next check; the owner is told once."""
    post = Post()
    await post.checks("bbg")
    post.tracker.troubles = [REFUSED]
    assert (await post.check(well=True)).trouble == "GitHub answered 500."
    assert (await post.check(well=True)).done == ("closed",)
    assert await post.pushes() == [DEGRADED, WELL_AGAIN]


async def test_a_closing_that_failed_before_flapping() -> None:
    """A closing that is due is made by the next check whatever that sees: it was well twice."""
    post = Post()
    await post.checks("bbg")
    post.tracker.troubles = [REFUSED]
    assert (await post.checks("gb")).done == ("closed",)


async def test_trouble_before_the_closing() -> None:
    """When the counter is degraded again before its issue could be closed, the issue goes on with a comment."""
    post = Post()
    await post.checks("bbg")
    post.tracker.troubles = [REFUSED] * 2
    await post.checks("gb")
    verdict = await post.check(well=False)
    assert verdict.done == ("found", "commented")
    assert [one.is_open for one in post.tracker.issues] == [True]


async def test_an_issue_that_the_owner_closed() -> None:
    """An issue that somebody closed stays closed while the trouble lasts, and recovery is told."""
    post = Post()
    await post.checks("bb")
    post.tracker.issues[0].is_open = False
    post.counter.error = "no-data"
    assert (await post.check(well=True)).done == ()
    post.counter.error = None
    await post.checks("gg")
    assert len(post.tracker.issues) == 1
    assert await post.pushes() == [DEGRADED, WELL_AGAIN]


async def test_several_open_issues() -> None:
    """Recovery closes every issue with the label, and no other."""
    post = Post()
    await post.checks("bb")
    post.tracker.issues += [Kept("2", LABEL, "Twice", ""), Kept("3", "bug", "Another", "")]
    await post.checks("gg")
    assert [one.id for one in post.tracker.open_issues] == ["3"]


@pytest.mark.parametrize("value", [b"", b"null", b"{", b"\xff", b'{"v": 2}', b'{"v": 1, "bad": -1}', b"[1]"])
async def test_a_state_that_can_not_be_read(value: bytes) -> None:
    """A state that can not be read is begun anew: nothing fails, two bad checks open, the open issue is found."""
    post = Post()
    await post.checks("bb")
    await post.store.commit([Put(keys.MONITOR, value)])
    assert (await post.check(well=False)).bad_in_a_row == 1
    await post.check(well=False)
    assert len(post.tracker.issues) == 1
    await post.checks("gg")
    assert post.tracker.open_issues == []


async def test_a_state_that_was_lost_while_degraded() -> None:
    """Without a state, two good checks close the issue that a life before had opened."""
    post = Post()
    post.tracker.issues.append(Kept("1", LABEL, DEGRADED, ""))
    assert (await post.checks("gg")).done == ("closed",)
    assert post.tracker.open_issues == []
    assert await post.pushes() == []


async def test_a_counter_that_is_well_asks_the_tracker_once() -> None:
    """While all is well the tracker is left alone, but for one look after the first two checks."""
    post = Post()
    await post.checks("g" * 8)
    assert post.tracker.calls == ["find"]


@pytest.mark.parametrize(("seconds", "counted"), [(0, False), (59, False), (60, True), (-59, False), (-61, True)])
async def test_a_check_within_a_minute_does_not_count(seconds: int, *, counted: bool) -> None:
    """A check less than a minute from one that counted is told as such; a clock put far back stops nothing."""
    post = Post()
    post.counter.well = False
    await post.monitor.check()
    post.clock.advance(seconds)
    verdict = await post.monitor.check()
    assert (verdict.counted, verdict.bad_in_a_row) == (counted, 1 + counted)
    assert verdict.reason is not None


async def test_processes_that_check_at_the_same_moment() -> None:
    """Ten processes checking at once count once, open once and tell once."""
    clock = ManualClock()
    post = Post(UnreliableStore(MemoryStore(clock)), clock)
    monitors = [post.another() for _ in range(10)]
    post.counter.well = False
    for _ in range(2):
        verdicts = await asyncio.gather(*(monitor.check() for monitor in monitors))
        assert sum(verdict.counted for verdict in verdicts) == 1
        clock.advance(EVERY.total_seconds())
    assert len(post.tracker.issues) == 1
    assert await post.pushes() == [DEGRADED]


def test_the_tracker_is_left_to_one_process() -> None:
    """While a check speaks to the tracker, nobody else does: it ends before another may count."""
    assert timedelta(seconds=TRACKER_SECONDS) < COUNTS_ONCE_IN < EVERY


def test_a_tracker_that_never_answers() -> None:
    """A tracker that hangs is given up in time, told in the verdict, and asked again by the next check."""
    post = Post()
    post.tracker.hangs = True
    asyncio.run(post.checks("b"))
    verdict = run_ahead(post.check(well=False), TRACKER_SECONDS)
    assert verdict.trouble == "The tracker did not do it within 45 s."
    post.tracker.hangs = False
    assert asyncio.run(post.check(well=False)).done == ("opened",)


async def test_an_overtaken_check_leaves_the_newer_state() -> None:
    """A check that was overtaken while it spoke to the tracker keeps the newer state, and opens nothing twice."""
    post = Post()
    await post.checks("b")
    slow = Monitor(post.store, post.clock, post.counter, Overtaken(post))
    await slow.check()
    post.clock.advance(EVERY.total_seconds())
    verdict = await post.check(well=False)
    assert verdict.bad_in_a_row == 4
    assert len(post.tracker.issues) == 1


class Overtaken(MemoryTracker):
    """A tracker so slow that another process has checked before it answers."""

    def __init__(self, post: Post) -> None:
        super().__init__()
        self.issues = post.tracker.issues
        self._post = post
        self._first = True

    async def find_open(self, label: str) -> Issue | None:
        """Let another process check, then look."""
        if self._first:
            self._first = False
            self._post.clock.advance(EVERY.total_seconds())
            await self._post.another().check()
        return await super().find_open(label)


async def test_a_store_that_fails() -> None:
    """Without a store nothing can be counted: the error reaches the caller, and the tracker is not asked."""
    post = Post(UnreliableStore(MemoryStore(ManualClock()), get_errors=[StoreUnavailable("The store is gone.")]))
    with pytest.raises(StoreUnavailable):
        await post.checks("b")
    assert post.tracker.calls == []


async def test_a_commit_whose_answer_was_lost() -> None:
    """When the count was stored without our learning of it, the next check opens the issue; the push is one."""
    clock = ManualClock()
    store = LossyStore(MemoryStore(clock))
    post = Post(store, clock)
    await post.checks("b")
    store.lose = "after"
    with pytest.raises(OutcomeUnknown):
        await post.check(well=False)
    clock.advance(EVERY.total_seconds())
    assert (await post.check(well=False)).done == ("opened",)
    assert await post.pushes() == [DEGRADED]


async def test_the_push_is_in_the_commit_of_the_state() -> None:
    """State and push are one commit: there is no moment in which one is stored without the other."""
    post = Post(store := Recording(ManualClock()))
    await post.checks("bb")
    (told,) = [keys_ for keys_ in store.commits if any(key.startswith("outbox:") for key in keys_)]
    assert keys.MONITOR in told


class Recording(MemoryStore):
    """A store that keeps what each commit wrote."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.commits: list[set[str]] = []

    async def commit(
        self, writes: Sequence[Write], checks: Sequence[Check] = (), *, commit_id: str | None = None
    ) -> Committed | Conflict:
        """Note the keys, and pass on."""
        self.commits.append({write.key for write in writes})
        return await super().commit(writes, checks, commit_id=commit_id)


PATTERNS = st.lists(st.booleans(), max_size=40)
FAILURES = st.lists(st.sampled_from(["ok", "refused", "lost"]), max_size=40)


@given(PATTERNS, FAILURES)
def test_hysteresis(pattern: list[bool], failures: list[str]) -> None:
    """Whatever is seen and whatever fails, at most one issue is open, and state follows two checks in a row."""
    asyncio.run(_follows(pattern, failures))


async def _follows(pattern: list[bool], failures: list[str]) -> None:
    post, degraded, seen = Post(), False, list[bool]()
    for number, well in enumerate(pattern):
        failure = failures[number] if number < len(failures) else "ok"
        post.tracker.troubles = [REFUSED] if failure == "refused" else []
        post.tracker.lose_answers = failure == "lost"
        seen.append(well)
        if seen[-2:] in ([True, True], [False, False]):
            degraded = not well
        verdict = await post.check(well=well)
        assert post.tracker.most_open <= 1
        assert (verdict.degraded_since is not None) == degraded
        if verdict.trouble is None and seen[-2:] in ([True, True], [False, False]):
            assert bool(post.tracker.open_issues) == degraded
    titles = await post.pushes()
    assert titles == [DEGRADED, WELL_AGAIN] * (len(titles) // 2) + [DEGRADED] * degraded


@given(st.integers(0, 30), st.booleans(), st.booleans())
def test_flapping(length: int, first: bool, degraded: bool) -> None:  # noqa: FBT001  drawn by hypothesis
    """Good and bad in turn neither open nor close, nor tell anybody."""
    asyncio.run(_flaps(length, degraded=degraded, first=first))


async def _flaps(length: int, *, degraded: bool, first: bool) -> None:
    post = Post()
    await post.checks("bb" if degraded else "gg")
    before = (len(post.tracker.open_issues), await post.pushes())
    # The first of the flaps must not be the second of a row that turns the state.
    for number in range(length):
        await post.check(well=first == (number % 2 == 0))
    assert (len(post.tracker.open_issues), await post.pushes()) == before
