"""The monitor and a tracker that fails, hangs, loses answers or was used by others: nothing is lost or doubled."""

import asyncio

import pytest

from orrery.errors import NotConfigured
from orrery.live.monitor import LABEL, TRACKER_SECONDS
from tests.support.hasty_loop import run_ahead
from tests.support.monitored import DEGRADED, REFUSED, WELL_AGAIN, Post
from tests.support.trackers import Kept

pytestmark = pytest.mark.anyio


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
