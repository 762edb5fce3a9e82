"""The monitor's state among processes, and a tracker that fails: nothing is lost or doubled."""

import asyncio
from datetime import timedelta

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.errors import NotConfigured, OutcomeUnknown, RecordUnreadable, StoreUnavailable
from orrery.live import keys
from orrery.live.monitor import COUNTS_ONCE_IN, EVERY, LABEL, TRACKER_SECONDS, CounterMonitor
from orrery.ports.store import Put
from orrery.ports.tracker import Issue
from tests.live.monitored import DEGRADED, REFUSED, WELL_AGAIN, Post
from tests.support.clock import ManualClock
from tests.support.hasty_loop import run_ahead
from tests.support.tables import each_case
from tests.support.trackers import Kept, MemoryTracker
from tests.support.unreliable_store import UnreliableStore


@each_case("value", [b"", b"null", b"{", b"\xff", b'{"v": 1, "bad": -1}', b"[1]"])
async def test_a_state_that_cannot_be_read(value: bytes) -> None:
    """A state that cannot be read is begun anew: nothing fails, two bad checks open, the open issue is found."""
    post = Post()
    await post.checks("bb")
    await post.store.commit([Put(keys.MONITOR, value)])
    assert (await post.check(well=False)).bad_in_a_row == 1
    await post.check(well=False)
    assert len(post.tracker.issues) == 1
    await post.checks("gg")
    assert post.tracker.open_issues == []


async def test_a_state_of_a_newer_version_is_kept() -> None:
    """A state that a newer version wrote is not written over: the check fails, and says why."""
    post = Post()
    await post.store.commit([Put(keys.MONITOR, b'{"v": 2}')])
    with pytest.raises(RecordUnreadable, match=keys.MONITOR):
        await post.check(well=False)
    entry = await post.store.get(keys.MONITOR)
    assert entry
    assert entry.value == b'{"v": 2}'


async def test_a_state_that_was_lost_while_degraded() -> None:
    """Without a state, two good checks close the issue that a life before had opened."""
    post = Post()
    post.tracker.issues.append(Kept("1", LABEL, DEGRADED, ""))
    assert (await post.checks("gg")).done == ("closed",)
    assert post.tracker.open_issues == []
    assert await post.pushes() == []


@each_case(("seconds", "counted"), [(0, False), (59, False), (60, True), (-59, False), (-61, True)])
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


async def test_an_overtaken_check_leaves_the_newer_state() -> None:
    """A check that was overtaken while it spoke to the tracker keeps the newer state, and opens nothing twice."""
    post = Post()
    await post.checks("b")
    slow = CounterMonitor(post.store, post.clock, post.counter, Overtaken(post))
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
    """A check that asks for a lost answer once more learns that it counted, and opens the issue; one push."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    post = Post(store, clock)
    await post.checks("b")
    store.lose = "after"
    assert (await post.check(well=False)).done == ("opened",)
    assert await post.pushes() == [DEGRADED]


async def test_a_store_that_never_answers() -> None:
    """When the count was stored without our learning of it, the next check opens the issue; the push is one."""
    clock = ManualClock()
    lossy = UnreliableStore(MemoryStore(clock))
    store = UnreliableStore(lossy)
    post = Post(store, clock)
    await post.checks("b")

    async def lose() -> None:
        lossy.lose = "after"

    store.overtaken_by = lose
    with pytest.raises(OutcomeUnknown):
        await post.check(well=False)
    store.overtaken_by = None
    clock.advance(EVERY.total_seconds())
    assert (await post.check(well=False)).done == ("opened",)
    assert await post.pushes() == [DEGRADED]


@each_case(
    ("pattern", "opens"),
    [
        ("bgbgb", True),
        ("bb", True),
        ("bgbg", False),
        ("bggbggb", False),
        ("bggggb", False),
        ("bgggggbgb", False),
        ("gggggbgbggbggb", False),
        ("ggbggbgb", True),
    ],
)
async def test_a_counter_that_is_bad_now_and_then(pattern: str, *, opens: bool) -> None:
    """Three bad checks of six open the issue although none followed another, and the push says how often."""
    post = Post()
    await post.checks(pattern)
    assert bool(post.tracker.open_issues) is opens
    if opens:
        assert (await post.push()).body.startswith("3 of the last 6 checks were bad.") is (pattern != "bb")


async def test_the_six_checks_begin_anew_at_each_close() -> None:
    """What was bad before the issue was closed does not open the next one."""
    post = Post()
    await post.checks("bgbgbgg")
    assert post.tracker.open_issues == []
    await post.checks("bgb")
    assert post.tracker.open_issues == []
    await post.checks("gb")
    assert len(post.tracker.open_issues) == 1


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


def test_a_tracker_that_never_answers() -> None:
    """A tracker that hangs is given up in time, told in the verdict, and asked again by the next check."""
    post = Post()
    post.tracker.hangs = True
    asyncio.run(post.checks("b"))
    verdict = run_ahead(post.check(well=False), TRACKER_SECONDS)
    assert verdict.trouble == "The tracker did not do it within 45 s."
    post.tracker.hangs = False
    assert asyncio.run(post.check(well=False)).done == ("opened",)
