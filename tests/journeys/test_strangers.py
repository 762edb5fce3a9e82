"""Strangers who hold what they can: the service's memory stays small, and buyers go on buying.

`./run soak strangers` does the same with as many strangers as were seen.
"""

import sys
from pathlib import Path

import pytest

from tests.support.deployment import Deployment, beside_a_sandbox
from tests.support.soak import SOAKING, rounds
from tests.support.strangers import Strangers, most_memory
from tests.support.visiting import Visitor
from tests.support.waiting import eventually

MOST = 200 * 1024 * 1024
"""Bytes of memory that the service may ever take."""

COUNTS = (800, 1200, 400) if SOAKING else (120, 120, 20)
"""How many strangers drip bodies, say nothing, and read nothing."""


def test_buyers_buy_among_strangers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Strangers are let go and come again, buyers get their access all the while, and the log says it briefly."""
    shop, bought = Deployment(tmp_path), 0
    strangers = Strangers(shop.ports[0], *COUNTS)
    with beside_a_sandbox(shop):
        service = shop.start_service()
        shop.await_reconciled()
        with strangers.about():
            for visits in (1, 2):
                strangers.await_all(visits)
                for _ in range(rounds(2)):
                    visitor = Visitor(shop)
                    # As a browser does, they try again when a connection that they kept is gone.
                    visitor.await_access(eventually(visitor.buy))
                    bought += 1
        highest = most_memory(service.process.pid)
    with capsys.disabled():
        if SOAKING:
            sys.stdout.write(f"\n{strangers.summary()}; {bought} sales; highest memory {highest >> 20} MiB\n")
    assert highest < MOST
    lines = [line for line in shop.printed().splitlines() if "are closed" in line]
    assert 0 < 10 * len(lines) < strangers.came.total()
