"""The monitor: what is bad, and when an issue opens, is commented on and closes (decision 29)."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.live.monitor import judge
from orrery.ports.counter import PublicCount
from tests.support.clock import START
from tests.support.monitored import DEGRADED, REFUSED, WELL_AGAIN, Post

pytestmark = pytest.mark.anyio

WELL = PublicCount(5, START, 0.0, stale=False, error=None)


def kind(site: PublicCount | None, cosmos: PublicCount | None) -> str | None:
    """Return the kind of what is bad at `START`."""
    reason = judge(site, cosmos, START)
    return reason.kind if reason else None


def aged(age: timedelta, **changes: object) -> PublicCount:
    """Return a read whose count is so old."""
    told = max(age.total_seconds(), 0)
    return replace(WELL, generated_at=START - age, age_s=told, **changes)  # pyright: ignore[reportArgumentType] fields by name


def test_what_is_well() -> None:
    """Two reads of the same fresh count are well."""
    assert kind(WELL, WELL) is None


@pytest.mark.parametrize(("site", "cosmos"), [(None, WELL), (WELL, None), (None, None)])
def test_unreachable(site: PublicCount | None, cosmos: PublicCount | None) -> None:
    """A read that cannot be reached is bad, whichever it is."""
    assert kind(site, cosmos) == "unreachable"


@pytest.mark.parametrize("error", ["no-data", "data-too-stale", "kv-not-bound", "quota-exhausted"])
def test_an_error(error: str) -> None:
    """A read with an error is bad, and each error is a kind of its own."""
    bad = PublicCount(0, None, None, stale=True, error=error)
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
    """A count without a time cannot be said to be fresh."""
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
def test_disagreement(cosmos: PublicCount, expected: str | None) -> None:
    """Other counts of one moment, or counts more than two minutes apart, are bad; a newer count may differ."""
    assert kind(WELL, cosmos) == kind(cosmos, WELL) == expected


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


async def test_a_counter_that_is_well_asks_the_tracker_once() -> None:
    """While all is well the tracker is left alone, but for one look after the first two checks."""
    post = Post()
    await post.checks("g" * 8)
    assert post.tracker.calls == ["find"]


PATTERNS = st.lists(st.booleans(), max_size=40)
FAILURES = st.lists(st.sampled_from(["ok", "refused", "lost"]), max_size=40)


@given(PATTERNS, FAILURES)
def test_hysteresis(pattern: list[bool], failures: list[str]) -> None:
    """Whatever is seen and whatever fails, at most one issue is open, and the state follows the last checks."""
    asyncio.run(_follows(pattern, failures))


async def _follows(pattern: list[bool], failures: list[str]) -> None:
    post, degraded, seen = Post(), False, list[bool]()
    since_closed, may_be_open = list[bool](), True
    for number, well in enumerate(pattern):
        failure = failures[number] if number < len(failures) else "ok"
        post.tracker.troubles = [REFUSED] if failure == "refused" else []
        post.tracker.lose_answers = failure == "lost"
        seen.append(well)
        since_closed = [*since_closed, well][-6:]
        if not well and (seen[-2:] == [False, False] or since_closed.count(False) >= 3):
            degraded = may_be_open = True
        if seen[-2:] == [True, True] and may_be_open:
            degraded, may_be_open, since_closed = False, False, []
        verdict = await post.check(well=well)
        assert post.tracker.most_open <= 1
        assert (verdict.degraded_since is not None) == degraded
        if verdict.trouble is None and seen[-2:] in ([True, True], [False, False]):
            assert bool(post.tracker.open_issues) == degraded
    titles = await post.pushes()
    assert titles == [DEGRADED, WELL_AGAIN] * (len(titles) // 2) + [DEGRADED] * degraded


@given(st.integers(0, 30), st.booleans())
def test_flapping(length: int, first: bool) -> None:  # noqa: FBT001  drawn by hypothesis
    """While an issue is open, good and bad in turn neither close it nor tell anybody again."""
    asyncio.run(_flaps(length, first=first))


async def _flaps(length: int, *, first: bool) -> None:
    post = Post()
    await post.checks("bb")
    before = (len(post.tracker.open_issues), await post.pushes())
    # The first of the flaps must not be the second of a row that turns the state.
    for number in range(length):
        await post.check(well=first == (number % 2 == 0))
    assert (len(post.tracker.open_issues), await post.pushes()) == before
