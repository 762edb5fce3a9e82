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

from tests.chaos.checker import ShownCount, Told, violations
from tests.chaos.faults import FAULTS, KILLS, Fault, LineCut, NodeFrozen, PrimaryKilled, VendorFlaps
from tests.chaos.shop import ChaosShop, chaos_shop
from tests.chaos.storm import loosened, lost_by_a_lag, storm
from tests.guards.mutations import Mutation, broken
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
    ("access:", '"cert_code":"', '"cert_code":"x'),
    ("access:", '"sale_number":[^,}]*', '"sale_number":"NW-0"'),
    ("outbox:", '"state":"delivered"', '"state":"dead"'),
    ("approval-log:", '"kind":"started"', '"kind":"proposed"'),
)
"""What is written into the store after a run: in the records below a prefix another text."""

REPORTED = (
    *("access of 365", "access to another product", "access of another buyer", "access without payment"),
    *("two accesses of one buyer", "numbers of receipts"),
    *("a message that is dead", "the approval log does not hold", "an approval that was carried out"),
    *("a version of two commits", "no e-mail", "1 sales were pushed"),
    *("an e-mail that was sent", "a push that was sent", "an e-mail without the link of its own sale"),
    *(
        "a live count was shown 7.0 s after",
        "a live count of 200 s ago was shown as fresh",
        "delivered by a while b",
    ),
)
"""What the checker must find of that, of what is changed in the sandbox's ledger, and of what is told."""

IN_THE_LEDGER = (
    ("_mail", "$.to", '["another@buyer.example.test"]'),
    ("_mail", "$.message_id", '"one"'),
    ("_push", "$.message.sequence_id", '"one"'),
)
"""What all mails and pushes of the sandbox have after a run."""


def drawn(seed: int) -> Sequence[type[Fault]]:
    """Return the faults of a run: in a soak each kind, and more until so many of them are kills."""
    if not SOAKING:
        return PrimaryKilled, NodeFrozen, LineCut, VendorFlaps
    dice, faults = Random(seed), [*FAULTS]  # noqa: S311  a course that can be repeated, no secret
    dice.shuffle(faults)
    while sum(one in KILLS for one in faults) < KILLED:
        faults.append(dice.choice(FAULTS))
    return faults


LOOSE = (
    Mutation("a live count is remembered for long", "live/reads.py", "READ_AGAIN = 5.0", "READ_AGAIN = 600.0"),
    Mutation("jobs have no fence", "runtime/own_store.py", "if fence := current_fence():", "if fence := None:"),
)
"""What is taken out of the nodes of a control."""


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("_run", range(RUNS if SOAKING else 1))
def test_nothing_is_lost_under_fire(tmp_path: Path, capsys: pytest.CaptureFixture[str], _run: int) -> None:
    """Each sale has one access, each message was sent, and nothing has come twice that must not.

    The controls: where no commit waits for the standby, a failover loses sales, and the checker reports them. In a
    soak it reports what nodes do that remember live counts for long, and whose jobs have no fence.
    """
    skip_without_postgres()
    seed = int(SEED) if SEED else secrets.randbelow(10_000) if SOAKING else QUICK
    with chaos_shop(tmp_path, "live" if _run == LIVE else "sandbox") as shop:
        run = storm(shop, seed, drawn(seed))
        loose = loosened(shop, seed, broken(tmp_path / "loose", *LOOSE).parent) if SOAKING else None
        lost = lost_by_a_lag(shop, seed)
        found = [*planted(shop)]
    with capsys.disabled():
        for one in (run, loose):
            if one and (SOAKING or one.violations):
                one.show()
    assert not run.violations, f"seed {seed}, logs in {tmp_path}"
    if loose:
        assert {*run.faults} == {one.__name__ for one in FAULTS}
        for words in ("a live count was shown", "delivered by"):
            assert any(one.startswith(words) for one in loose.violations), words
    for words in ("paid and without access", "told to be open, and without access"):
        assert any(one.startswith(words) for one in lost)
    for words in REPORTED:
        assert any(one.startswith(words) for one in found), words


def planted(shop: ChaosShop) -> Iterator[str]:
    """Break each promise in the ledgers themselves, and yield what the checker reports."""
    for node in shop.nodes:
        node.kill()  # what it still sends would be found
    with shop.database.primary.connected() as store:
        for prefix, old, new in PLANTED:
            store.execute(
                "UPDATE orrery_entries SET value = convert_to(regexp_replace(convert_from(value, 'UTF8'), %s, %s),"
                " 'UTF8') WHERE starts_with(convert_from(key, 'UTF8'), %s)",
                (old, new, prefix),
            )
        store.execute("UPDATE orrery_commits SET version = 1")
        store.execute("INSERT INTO chaos_beside VALUES ('outbox:x', 'a', 'b')")
    with closing(sqlite3.connect(shop.ledgers.sandbox / "sandbox.db")) as sandbox, sandbox:
        change = "UPDATE documents SET body = json_set(body, ?, json(?)) WHERE object = ?"
        sandbox.executemany(change, [(path, new, kind) for kind, path, new in IN_THE_LEDGER])
    log = shop.nodes[0].config.with_suffix(".log")
    shown = [ShownCount(asked, 0, is_called_stale=False, log=log, during=(0, 0)) for asked in (107, 200)]
    yield from violations(shop.ledgers, Told(counts=shown, counted={50: 100}, faults=0))
