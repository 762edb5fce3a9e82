"""One run: a load, faults one after the other, and what the checker says of it."""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from random import Random

from tests.chaos.checker import READ_AGAIN, counts, violations
from tests.chaos.faults import LEASES, STEP, Fault, NodeFrozenAmidMail
from tests.chaos.load import Load
from tests.chaos.shop import ChaosShop
from tests.support.waiting import until

ROUNDS = 3
"""How often nodes hang that promise less."""

SOLD, ANSWERED = 3, 6
"""So many sales after each fault, and answers of any kind during one."""


@dataclass(frozen=True)
class Run:
    """What a run was, and what came of it."""

    seed: int
    faults: Counter[str]
    answers: Counter[tuple[str, str]]
    counts: dict[str, int]
    violations: list[str]
    logs: Path

    def show(self) -> None:
        """Print it as a table."""
        lines = [f"seed {self.seed}, logs in {self.logs}"]
        lines += [f"  {'fault':<24}{name:<28}{count:>7}" for name, count in sorted(self.faults.items())]
        for what, outcomes in groupby(sorted(self.answers.items()), key=lambda one: one[0][0]):
            lines += [f"  {what:<24}{outcome:<28}{count:>7}" for (_, outcome), count in outcomes]
        lines += [f"  {'in the ledgers':<24}{name:<28}{count:>7}" for name, count in self.counts.items()]
        lines += [f"  violations{len(self.violations):>49}", *(f"    {one}" for one in self.violations)]
        sys.stdout.write("\n" + "\n".join(lines) + "\n")


def storm(shop: ChaosShop, seed: int, faults: Sequence[type[Fault]]) -> Run:
    """Let one fault after the other strike a shop under load, and check what is left in the ledgers."""
    dice = Random(seed)  # noqa: S311  a course that can be repeated, no secret
    load, struck = Load(shop, seed), Counter[str]()
    with load.running():
        load.await_sales(SOLD)
        for kind in faults:
            fault = kind(shop, dice)
            load.told.see(shop.ledgers)
            fault.begin()
            struck[kind.__name__] += 1
            load.told.faults = 1 + (load.told.faults or 0)
            load.await_answers(ANSWERED)
            _pass(shop, load, fault.lasts)
            fault.end()
            load.await_sales(SOLD)
        _pass(shop, load, LEASES)
        until(lambda: load.answers["sign", "exit 0"])
    shop.settle()
    found = [*violations(shop.ledgers, load.told)]
    shown = load.told.counts
    late = sum(one.late(load.told) > READ_AGAIN for one in shown)
    told = {"live counts": len(load.told.counted), "answers with one": len(shown), "of them late": late}
    return Run(seed, struck, load.answers, counts(shop.ledgers) | told, found, shop.deployment.folder)


def lost_by_a_lag(shop: ChaosShop, seed: int) -> set[str]:
    """Lose a primary whose commits do not wait for its standby, which lags; return what is violated by that."""
    database, load = shop.database, Load(shop, seed)
    database.primary.wait_for_none()
    with load.running():
        load.await_sales(SOLD)
        database.standby.freeze()
        load.await_sales(SOLD)
    before = {*violations(shop.ledgers, load.told)}
    database.primary.kill()
    database.standby.kill()  # with what is in its socket
    database.standby.start()
    database.fail_over()
    return {*violations(shop.ledgers, load.told)} - before


def loosened(shop: ChaosShop, seed: int, source: Path) -> Run:
    """Run nodes of another source, which promises less, and have them hang amid their e-mails."""
    for node in shop.nodes:
        node.end()
        node.start(source)
    return storm(shop, seed, [NodeFrozenAmidMail] * ROUNDS)


def _pass(shop: ChaosShop, load: Load, seconds: int) -> None:
    for _ in range(0, seconds, STEP):
        shop.advance(STEP)
        load.await_answers(ANSWERED)
