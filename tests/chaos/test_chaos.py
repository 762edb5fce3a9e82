"""A shop on two nodes under load, while one thing after the other goes wrong.

`./run soak chaos` draws the faults, with 200 kills among them, and prints what it saw; with a seed of another time
before it, as in `SEED=7 ./run soak chaos`, it draws the same.
"""

import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from tests.chaos.checker import Told, violations
from tests.chaos.faults import KILLS, Fault, LineCut, NodeFrozen, PrimaryKilled, VendorFlaps, faults_here
from tests.chaos.shop import ChaosShop, chaos_shop
from tests.chaos.storm import lost_by_a_lag, storm
from tests.support.postgres import skip_without_postgres
from tests.support.soak import SEED, SOAKING

RUNS, KILLED = 4, 50
"""The runs of a soak, and the kills in each."""

QUICK = 271
"""A seed whose faults take nobody's ten seconds."""

LIVE = 1
"""The run in live mode: by the true clock, and with receipts that are numbered."""


PLANTED = (
    ("access:", '"expires_at":"2', '"expires_at":"3'),
    ("access:", '"email":"[^"]*"', '"email":"one@buyer.example.test"'),
    ("access:", '"session_id":"', '"session_id":"x'),
    ("access:", '"livemode":false', '"livemode":true'),
    ("access:", '"sale_number":[^,}]*', '"sale_number":"NW-0"'),
    ("outbox:", '"state":"delivered"', '"state":"dead"'),
    ("approval-log:", '"kind":"started"', '"kind":"proposed"'),
)
"""What is written into the store after a run: in the records below a prefix another text."""

REPORTED = (
    *("access of 1", "two accesses of one buyer", "access without payment", "numbers of receipts"),
    *("a message that is dead", "the approval log does not hold", "an approval that was carried out"),
    *("a version of two commits", "no e-mail", "0 sales were pushed"),
)
"""What the checker must find of that, and of what is taken from the sandbox's ledger."""


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
        found = [*planted(shop)]
    if SOAKING or run.violations:
        with capsys.disabled():
            run.show()
    assert not run.violations, f"seed {seed}, logs in {tmp_path}"
    for words in ("paid and without access", "told to be open, and without access"):
        assert any(one.startswith(words) for one in lost)
    for words in REPORTED:
        assert any(one.startswith(words) for one in found), words


def planted(shop: ChaosShop) -> Iterator[str]:
    """Break each promise in the ledgers themselves, and yield what the checker reports."""
    with shop.database.primary.connected() as store:
        for prefix, old, new in PLANTED:
            store.execute(
                "UPDATE orrery_entries SET value = convert_to(regexp_replace(convert_from(value, 'UTF8'), %s, %s),"
                " 'UTF8') WHERE starts_with(convert_from(key, 'UTF8'), %s)",
                (old, new, prefix),
            )
        store.execute("UPDATE orrery_commits SET version = 1")
    with closing(sqlite3.connect(shop.ledgers.sandbox / "sandbox.db")) as sandbox, sandbox:
        sandbox.execute("DELETE FROM documents WHERE object IN ('_mail', '_push')")
    yield from violations(shop.ledgers, Told())
