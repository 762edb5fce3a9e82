"""The monitor: what is bad, and when an issue opens, is commented on and closes (decision 29)."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.live.monitor import TITLE, judge
from orrery.ports.counter import PublicCount
from tests.live.monitored import DEGRADED, REFUSED, WELL_AGAIN, Post
from tests.support.clock import START
from tests.support.tables import each_case

WELL = PublicCount(5, START, 0.0, stale=False, error=None)


def kind(site: PublicCount | None, cosmos: PublicCount | None) -> str | None:
    """Return the kind of what is bad at `START`."""
    reason = judge(site, cosmos, START)
    return reason.kind if reason else None


def aged(age: timedelta, **changes: object) -> PublicCount:
    """Return a read whose count is so old."""
    told = max(age.total_seconds(), 0)
    return replace(WELL, generated_at=START - age, age_s=told, **changes)  # pyright: ignore[reportArgumentType] fields by name


OLD = timedelta(minutes=10)
LATER = timedelta(microseconds=1)
STALE = aged(OLD / 2, stale=True)
VERDICTS: list[tuple[PublicCount | None, PublicCount | None, str | None]] = [
    (WELL, WELL, None),
    (None, WELL, "unreachable"),
    (None, None, "unreachable"),
    *(
        (PublicCount(0, None, None, stale=True, error=error), WELL, f"error {error}")
        for error in ("no-data", "data-too-stale", "kv-not-bound", "quota-exhausted")
    ),
    (aged(timedelta(seconds=180)), aged(timedelta(seconds=180)), None),
    (aged(OLD), aged(OLD), None),
    (aged(OLD + LATER), aged(OLD + LATER), "stale"),
    (aged(timedelta(seconds=1800)), aged(timedelta(seconds=1800)), "stale"),
    (aged(timedelta(seconds=-60)), aged(timedelta(seconds=-60)), None),
    (aged(timedelta(seconds=-61)), aged(timedelta(seconds=-61)), "undated"),
    # An answer that was kept on the way tells its age of then; and our own clock may be behind.
    (replace(aged(timedelta(minutes=11)), age_s=3.0), replace(aged(timedelta(minutes=11)), age_s=3.0), "stale"),
    (replace(WELL, age_s=601.0), WELL, "stale"),
    # A read that calls itself stale for less than ten minutes is no trouble yet.
    (STALE, STALE, None),
    (replace(WELL, generated_at=None, age_s=None), WELL, "undated"),
    # Other counts of one moment, or counts over two minutes apart, disagree; a newer count may differ.
    (WELL, replace(WELL, count=6), "disagreeing"),
    (WELL, aged(timedelta(seconds=1), count=6), None),
    (WELL, aged(timedelta(seconds=120)), None),
    (WELL, aged(timedelta(seconds=120) + LATER), "disagreeing"),
]


@each_case(("one", "other", "expected"), VERDICTS)
def test_what_is_bad(one: PublicCount | None, other: PublicCount | None, expected: str | None) -> None:
    """Whichever read is bad, and why (decision 29): each kind is a reason of its own."""
    assert kind(one, other) == kind(other, one) == expected


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
    assert (issue.label, issue.title, verdict.done) == ("realtime-degraded", TITLE, ("opened",))
    assert "No usable answer came from the site read and the cosmos read." in issue.body
    assert "at last at 2026-03-01 12:15 UTC" in issue.body
    assert verdict.issue is not None
    assert verdict.issue.id == issue.id
    push = await post.push()
    assert (push.channel, push.title, push.priority) == ("push", DEGRADED, "high")


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


@pytest.mark.parametrize(
    ("pattern", "issues_open", "pushes"),
    [
        ("b" * 10, [True], [DEGRADED]),
        ("bbgb", [True], [DEGRADED]),
        ("bbgg", [False], [DEGRADED, WELL_AGAIN]),
        ("bbggbb", [False, True], [DEGRADED, WELL_AGAIN, DEGRADED]),
    ],
)
async def test_rows_of_checks(pattern: str, issues_open: list[bool], pushes: list[str]) -> None:
    """However long the counter is bad there is one issue, without a comment; after a recovery, another one."""
    post = Post()
    await post.checks(pattern)
    assert [(one.is_open, bool(one.comments)) for one in post.tracker.issues] == [
        (is_open, not is_open) for is_open in issues_open
    ]
    assert await post.pushes() == pushes


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
        "Still degraded: The site read reports no-data.",
        "Still degraded: The site read is 20 minutes old.",
    ]
    assert await post.pushes() == [DEGRADED]


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
