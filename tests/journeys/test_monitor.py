"""The monitor tells of a counter that stays bad, and of its recovery (spec 2, What it does 5; decision 29)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orrery.live.monitor import LABEL
from orrery.sandbox.tracker import REPOSITORY
from tests.journeys.live_counter import LiveCounter
from tests.support.deployment import CounterSettings, Deployment, beside_a_sandbox
from tests.support.visiting import expect_equal
from tests.support.waiting import eventually

GITHUB = f'tracker = "github"\ngithub_url = "{{sandbox}}/tracker"\nrepository = "{REPOSITORY}"'


A_MINUTE = 61
"""Seconds after which a check counts again."""

DEGRADED, WELL = "Broken: live counter", "Works again: live counter"
"""What the owner's two pushes say."""


@pytest.fixture
def watched(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Deployment]:
    """Run a sandbox for a deployment with the tracker that the test names; the service is the test's to start."""
    settings = CounterSettings(monitor=request.param)
    with beside_a_sandbox(Deployment(tmp_path, counter=settings)) as shop:
        yield shop


@pytest.mark.parametrize("watched", [GITHUB], indirect=True, ids=["github"])
def test_by_hand(watched: Deployment) -> None:
    """`orrery live monitor` opens, comments on and closes an issue on GitHub, and ends with 1 while all is bad."""
    shop = watched
    LiveCounter(shop).next_morning()
    assert [check(shop) for _ in range(2)] == [1, 1]
    [issue] = issues_on_github(shop)
    assert (issue["state"], [one["name"] for one in issue["labels"]]) == ("open", [LABEL])
    shop.start_service()
    assert check(shop) == 1
    LiveCounter(shop).refresh()
    assert [check(shop) for _ in range(2)] == [0, 0]
    [issue] = issues_on_github(shop)
    assert issue["state"] == "closed"
    assert "Still degraded: The site read reports no-data." in comments(shop, issue)
    await_pushes(shop, DEGRADED, WELL)


def check(shop: Deployment) -> int:
    """Check by hand, a minute after the last check; return how the command ended."""
    shop.sandbox.advance(A_MINUTE)
    came = shop.orrery("live", "monitor")
    assert "Not counted" not in came.stdout
    assert came.stdout.startswith("bad: " if came.returncode else "good")
    return came.returncode


def issues(shop: Deployment) -> list[dict[str, Any]]:
    """Return the issues of the file tracker; none when there is no file yet."""
    return json.loads(shop.issues.read_text(encoding="utf-8"))["issues"] if shop.issues.exists() else []


def issues_on_github(shop: Deployment) -> list[dict[str, Any]]:
    """Return the issues with the label, open or closed."""
    found: list[dict[str, Any]] = shop.sandbox.ask("GET", ISSUES, labels=LABEL, state="all")
    return found


ISSUES = f"/tracker/repos/{REPOSITORY}/issues"


def comments(shop: Deployment, issue: dict[str, Any]) -> list[str]:
    """Return what was said under an issue."""
    return [one["body"] for one in shop.sandbox.ask("GET", f"{ISSUES}/{issue['number']}/comments")]


def await_pushes(shop: Deployment, *titles: str) -> None:
    """Wait until the owner was told just that."""
    eventually(lambda: expect_equal(pushed(shop), dict.fromkeys(titles, 1)))


def pushed(shop: Deployment) -> dict[str, int]:
    """Return how often the owner was told what of the counter."""
    found = {title: len(shop.sandbox.pushes_about(title)) for title in (DEGRADED, WELL)}
    return {title: count for title, count in found.items() if count}
