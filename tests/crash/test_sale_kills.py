"""Many buyers pay at once while the service is killed again and again: no sale is lost, none is doubled.

`./run soak kills` does this with 50 buyers in 60 rounds, twice: with a token that may read the pushes and with one
that may only write them. It prints the counts.
"""

import random
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.chaos.checker import Ledgers, Told, counts, violations
from tests.support.deployment import PRODUCTS, Deployment, beside_a_sandbox
from tests.support.program import Program
from tests.support.soak import SOAKING
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import eventually

ROUNDS, BUYERS = (60, 50) if SOAKING else (3, 10)

LEASE = 31
"""Seconds after which a killed process's leases are free."""

LONGEST_LIFE = 0.04 * BUYERS
"""Real seconds, from the first payment on, within which a round's kill falls."""


@pytest.mark.parametrize("readable", [True, False] if SOAKING else [True])
def test_killed_under_many_sales(tmp_path: Path, capsys: pytest.CaptureFixture[str], *, readable: bool) -> None:
    """Each buyer has access once, one letter and one push; a kill repeats one message of each channel at most.

    Where the pushes can be read, a kill repeats less than one in a thousand of them.
    """
    dice = random.Random(23)  # noqa: S311  moments, not secrets
    with beside_a_sandbox(Deployment(tmp_path)) as shop:
        if not readable:
            shop.sandbox.fault("push_unreadable", count=None)
        service = shop.start_service()
        for _ in range(ROUNDS):
            sell_and_kill(shop, service, dice.uniform(0, LONGEST_LIFE))
            service = shop.start_service()
            shop.sandbox.advance(LEASE)
        ledgers = Ledgers(shop.folder / "sandbox", shop.store)
        ledgers.settle(shop.sandbox)
        found, seen = [*violations(ledgers, Told())], counts(ledgers)
    with capsys.disabled():
        if SOAKING:
            sys.stdout.write(f"\n{ROUNDS} kills, pushes {'readable' if readable else 'write-only'}: {seen}\n")
    assert (found, seen["sales"]) == ([], ROUNDS * BUYERS)
    assert max(seen["e-mails again"], seen["pushes again"]) <= ROUNDS
    assert not readable or 1000 * seen["pushes again"] < ROUNDS * BUYERS


def sell_and_kill(shop: Deployment, service: Program, life: float) -> None:
    """Let all buyers pay at once, and kill the service `life` seconds later."""
    visitors = [Visitor(shop, f"cert-{number % PRODUCTS + 1}") for number in range(BUYERS)]
    with ThreadPoolExecutor(BUYERS + 1) as pool:
        sessions = list(pool.map(Visitor.start, visitors))
        killed = pool.submit(service.kill_within, life)
        for paid in [killed, *map(partial(pool.submit, Visitor.pay), visitors, sessions)]:
            paid.result()
    eventually(lambda: expect_equal(service.leaves_a_process(), wanted=False))
