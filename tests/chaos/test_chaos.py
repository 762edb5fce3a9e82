"""A shop on two nodes under load, while one thing after the other goes wrong.

`./run soak chaos` draws the faults, with 200 kills among them, and prints what it saw; with a seed of another time
before it, as in `SEED=7 ./run soak chaos`, it draws the same.
"""

import secrets
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from tests.chaos.faults import KILLS, Fault, LineCut, NodeFrozen, PrimaryKilled, VendorFlaps, faults_here
from tests.chaos.shop import chaos_shop
from tests.chaos.storm import lost_by_a_lag, storm
from tests.support.postgres import skip_without_postgres
from tests.support.soak import SEED, SOAKING

RUNS, KILLED = 4, 50
"""The runs of a soak, and the kills in each."""

QUICK = 271
"""A seed whose faults take nobody's ten seconds."""

LIVE = 1
"""The run in live mode: by the true clock, and with receipts that are numbered."""


def drawn(seed: int) -> Sequence[type[Fault]]:
    """Return the faults of a run: in a soak until so many of them are kills."""
    if not SOAKING:
        return PrimaryKilled, NodeFrozen, LineCut, VendorFlaps
    dice, faults = Random(seed), list[type[Fault]]()  # noqa: S311  a course that can be repeated, no secret
    while sum(one in KILLS for one in faults) < KILLED:
        faults.append(dice.choice(faults_here()))
    return faults


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("_run", range(RUNS if SOAKING else 1))
def test_nothing_is_lost_under_fire(tmp_path: Path, capsys: pytest.CaptureFixture[str], _run: int) -> None:
    """Each sale has one access, each message was sent, and nothing has come twice that must not.

    The control: where no commit waits for the standby, a failover loses sales, and the checker reports them.
    """
    skip_without_postgres()
    seed = int(SEED) if SEED else secrets.randbelow(10_000) if SOAKING else QUICK
    with chaos_shop(tmp_path, "live" if _run == LIVE else "sandbox") as shop:
        run = storm(shop, seed, drawn(seed))
        lost = lost_by_a_lag(shop, seed)
    if SOAKING or run.violations:
        with capsys.disabled():
            run.show()
    assert not run.violations, f"seed {seed}, logs in {tmp_path}"
    for words in ("paid and without access", "told to be open, and without access"):
        assert any(one.startswith(words) for one in lost)
