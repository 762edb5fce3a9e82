"""A preflight is killed (`kill -9`) at any moment: the next one finds its sessions, and leaves none open."""

import random
from collections.abc import Iterator
from functools import partial

import pytest

from tests.support.deployment import Product, beside_a_sandbox
from tests.support.owning import Owner, owned_shop
from tests.support.program import Program
from tests.support.sandbox import SESSIONS
from tests.support.soak import rounds
from tests.support.waiting import eventually

PRODUCTS = ("one", "two")

SLOW = 0.15
"""Seconds that each call to the processor takes, so that kills fall between them and into them."""

LONGEST_LIFE = 0.9
"""Real seconds, from the first question on, within which the kill falls: as long as the run takes."""

UNDER_WAY = 121
"""Seconds after which what was started is no longer under way."""


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    """Run a sandbox with a service beside it; both share a clock that the test moves."""
    shop = owned_shop(tmp_path_factory.mktemp("killed"), *map(Product, PRODUCTS), mode="sandbox")
    with beside_a_sandbox(shop):
        yield Owner(shop, shop.start_service())


def expect_begun(owner: Owner, trials: int) -> None:
    """Fail, for now, unless a further trial is on the disk."""
    assert len(owner.shop.records.keys("preflight:")) > trials


def kill_within_a_run(owner: Owner, life: float) -> None:
    """Start a preflight, and kill it so many seconds after its first question was written down."""
    shop, trials = owner.shop, len(owner.shop.records.keys("preflight:"))
    shop.sandbox.fault("latency", path=SESSIONS, count=None, value=SLOW)
    killed = Program(("checkout", "preflight", "--config", str(shop.config)), shop.folder / "killed.log")
    try:
        eventually(partial(expect_begun, owner, trials))
        killed.kill_within(life)
    finally:
        killed.clear_away()
    shop.sandbox.clear_faults()


def test_killed_while_trying(owner: Owner) -> None:
    """Wherever the kill falls, the run is taken up again: each session once, none left open, a log that holds."""
    dice, shop = random.Random(7), owner.shop  # noqa: S311  moments, not secrets
    for _ in range(rounds(2)):
        owner.approve_all()
        before = len(shop.sandbox.sessions())
        kill_within_a_run(owner, dice.uniform(0, LONGEST_LIFE))
        shop.sandbox.advance(UNDER_WAY)
        done = shop.orrery("checkout", "preflight")
        assert done.returncode == 0 or "orrery approvals sign" in done.stderr, done.stdout + done.stderr
        assert [name for name in PRODUCTS if owner.open_sessions(name)] == []
        assert len(shop.sandbox.sessions()) == before + len(PRODUCTS)
        assert len(shop.records.keys("receipt:")) == len(PRODUCTS)
        assert owner.log_holds()
