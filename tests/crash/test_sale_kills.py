"""Many buyers pay at once while the service is killed again and again: no sale is lost, none is doubled.

`./run soak kills` does this with 50 buyers in 60 rounds, twice: with a token that may read the pushes and with one
that may only write them. It prints the counts.
"""

import json
import random
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.crash import tally
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

STEP = 100
"""A look at what is on its way costs time that the service needs: each wait is for so many fewer."""


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
        await_quiet(shop)
        counts = counted(shop)
    with capsys.disabled():
        if SOAKING:
            sys.stdout.write(f"\n{ROUNDS} kills, pushes {'readable' if readable else 'write-only'}: {counts}\n")
    repeated = {name: counts.pop(name) for name in ("emails_again", "pushes_again")}
    nothing = dict.fromkeys(("lost", "unpaid", "doubled", "without_email", "without_push"), 0)
    assert counts == nothing | {"sales": ROUNDS * BUYERS}
    assert all(0 <= again <= ROUNDS for again in repeated.values()), repeated
    assert not readable or 1000 * repeated["pushes_again"] < ROUNDS * BUYERS, repeated


def sell_and_kill(shop: Deployment, service: Program, life: float) -> None:
    """Let all buyers pay at once, and kill the service `life` seconds later."""
    visitors = [Visitor(shop, f"cert-{number % PRODUCTS + 1}") for number in range(BUYERS)]
    with ThreadPoolExecutor(BUYERS + 1) as pool:
        sessions = list(pool.map(Visitor.start, visitors))
        killed = pool.submit(service.kill_within, life)
        for paid in [killed, *map(partial(pool.submit, Visitor.pay), visitors, sessions)]:
            paid.result()
    eventually(lambda: expect_equal(service.leaves_a_process(), wanted=False))


def await_quiet(shop: Deployment) -> None:
    """Wait until every webhook is taken, and then until every message is delivered.

    The clock is moved to the repeats of webhooks and no further: with each quarter of an hour the service would
    read every sale of the processor's anew, and deliver little beside it.
    """
    repeats = partial(tally.next_tries, ledger(shop))
    while pending := repeats():
        shop.sandbox.advance(max(0.0, max(pending) - shop.sandbox.now()))
        eventually(partial(expect_fewer, len(pending), lambda: len(repeats())))
    messages = partial(tally.waiting, shop.store)
    while waiting := messages():
        eventually(partial(expect_fewer, waiting, messages))


def expect_fewer(before: int, left: Callable[[], int]) -> None:
    """Fail, for now, unless a step fewer are left than before, or none."""
    assert left() <= max(0, before - STEP)


def ledger(shop: Deployment) -> Path:
    """Return the file in which the sandbox keeps everything."""
    (found,) = shop.folder.glob("**/sandbox.db")
    return found


def counted(shop: Deployment) -> dict[str, int]:
    """Return what another program counts in the two files."""
    command = [sys.executable, tally.__file__, str(ledger(shop)), str(shop.store)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  our own program
    return json.loads(found.stdout)
