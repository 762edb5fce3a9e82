"""A preflight is killed (`kill -9`) at any moment: the next one finds its sessions, and leaves none open."""

import random
from collections.abc import Iterator

import pytest

from tests.support.deployment import Product, beside_a_sandbox
from tests.support.owning import Owner, owned_shop
from tests.support.program import Program
from tests.support.sandbox import SESSIONS
from tests.support.soak import rounds

PRODUCTS = ("one", "two")

BEGIN, END = 0.3, 1.6
"""Real seconds from the start of the command within which the kill falls."""

UNDER_WAY = 121
"""Seconds after which what was started is no longer under way."""


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    """Run a sandbox with a service beside it; both share a clock that the test moves."""
    shop = owned_shop(tmp_path_factory.mktemp("killed"), *map(Product, PRODUCTS), mode="sandbox")
    with beside_a_sandbox(shop):
        yield Owner(shop, shop.start_service())


def test_killed_while_trying(owner: Owner) -> None:
    """Wherever the kill falls, the run is taken up again: each session once, none left open, a log that holds."""
    dice = random.Random(7)  # noqa: S311  moments, not secrets
    for number in range(rounds(4)):
        owner.approve_all()
        before = len(owner.shop.sandbox.sessions())
        owner.shop.sandbox.fault("latency", path=SESSIONS, count=None, value=0.15)
        killed = Program(
            ("checkout", "preflight", "--config", str(owner.shop.config)),
            owner.shop.folder / f"killed-{number}.log",
        )
        killed.kill_within(dice.uniform(BEGIN, END))
        owner.shop.sandbox.clear_faults()
        owner.shop.sandbox.advance(UNDER_WAY)
        done = owner.shop.orrery("checkout", "preflight")
        assert done.returncode == 0 or "orrery approvals sign" in done.stdout, done.stdout + done.stderr
        assert [name for name in PRODUCTS if owner.open_sessions(name)] == []
        assert len(owner.shop.sandbox.sessions()) == before + len(PRODUCTS)
        assert owner.log_holds()
        assert len(owner.shop.records.keys("receipt:")) == len(PRODUCTS)
