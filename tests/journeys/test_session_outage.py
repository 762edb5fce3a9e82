"""Creating sessions failed for hours while every other call worked, and nobody was told: never again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orrery.checkout.selling.health import OVER_AFTER
from orrery.runtime.watch import EVERY
from tests.support.deployment import Deployment, beside_a_sandbox
from tests.support.marked import assert_unmarked
from tests.support.sandbox import SESSIONS
from tests.support.visiting import Visitor
from tests.support.waiting import eventually

PART = "session creation"
BEGUN, OVER = "requests to start a payment failed since", "and none since then"
"""What only a push about this outage says. Its title may be of several parts: the same fault fails jobs too."""

URGENT, LOW = 5, 2


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Deployment]:
    """Run a sandbox beside a deployment whose service the test starts."""
    with beside_a_sandbox(Deployment(tmp_path)) as deployment:
        yield deployment


def fail(shop: Deployment, times: int) -> None:
    """Let visitors be refused."""
    for _ in range(times):
        assert Visitor(shop, "cert-1").check_out().status_code in {502, 503}


def pushed(shop: Deployment, begun: int, over: int = 0) -> list[dict[str, Any]]:
    """Return the pushes about beginnings and ends of outages, once there are so many of each."""

    def look() -> list[dict[str, Any]]:
        found = [shop.sandbox.pushes_about(words) for words in (BEGUN, OVER)]
        assert [len(one) for one in found] == [begun, over]
        return [*found[0], *found[1]]

    shop.sandbox.advance(EVERY.total_seconds())
    pushes = eventually(look)
    assert_unmarked(json.dumps(pushes))
    return pushes


def noted(shop: Deployment) -> None:
    """See that the service has noted every delivery."""
    assert shop.records.notifications("waiting") == []


def examined(shop: Deployment) -> dict[str, Any]:
    """Return what `orrery doctor`, another process, says of this part."""
    found = json.loads(shop.orrery("doctor", "--json").stdout)
    return next(one for one in found if one["part"] == PART)


def test_sessions_fail(shop: Deployment) -> None:
    """The fifth failure is one urgent push, readyz says so and doctor too; after ten minutes it is over."""
    shop.start_service()
    shop.await_reconciled()  # the first reconciliation lists sessions: it would be a second part that fails
    shop.sandbox.fault("no_permission", count=None, path=SESSIONS)
    fail(shop, 4)
    assert shop.readiness() == [200, 200]
    fail(shop, 3)
    assert shop.readiness() == [503, 503]
    (push,) = pushed(shop, begun=1)
    assert (push["title"], push["priority"]) == (f"Broken: {PART}", URGENT)
    assert examined(shop)["state"] == "broken"
    assert shop.orrery("doctor").returncode == 1

    shop.sandbox.clear_faults()
    assert Visitor(shop).check_out().status_code == 200
    assert shop.readiness() == [503, 503]
    shop.sandbox.advance(OVER_AFTER.total_seconds())
    assert shop.readiness() == [200, 200]
    _, over = pushed(shop, begun=1, over=1)
    assert (over["title"], over["priority"]) == (f"Works again: {PART}", LOW)
    assert examined(shop)["state"] == "ok"
