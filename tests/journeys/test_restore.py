"""Back up, go on selling, restore: every sale is there again, and nobody is told anything twice."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import eventually

SALES = 20


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Deployment]:
    """Run a sandbox; the service is the test's to start."""
    with beside_a_sandbox(Deployment(tmp_path)) as deployment:
        yield deployment


def test_restored_store_has_every_sale_and_tells_nobody_twice(shop: Deployment, tmp_path: Path) -> None:
    """Back up, sell 20, restore, reconcile: 20 records more, the same buyers, and one message to each."""
    service, snapshot = shop.start_service(), tmp_path / "snapshot.db"
    early, session = sell_without_a_letter(shop)
    assert shop.orrery("backup", str(snapshot)).returncode == 0
    shop.sandbox.clear_faults()
    shop.sandbox.advance(3600)
    early.await_told(session)
    late = sell(shop, SALES)
    see_refused_while_running(shop, snapshot)
    stop(service)
    came = shop.orrery("restore", str(snapshot))
    assert came.returncode == 0
    assert f"{SALES} granted, {SALES} of them held back" in came.stderr
    shop.start_service()
    assert emails(shop) == {visitor.email for visitor in [early, *late]}
    shop.sandbox.advance(3600)
    see_that_messages_go_out(shop)
    assert [len(visitor.emails()) for visitor in [early, *late]] == [1] * (1 + SALES)
    assert len(shop.sandbox.pushes_about("exam")) == 1 + SALES + 1
    assert len(shop.records.notifications("held")) == 1 + 2 * SALES
    see_released(early, session)


def sell_without_a_letter(shop: Deployment) -> tuple[Visitor, str]:
    """Sell something whose e-mail the mail server does not take yet."""
    shop.sandbox.fault("mail_451", count=None)
    visitor = Visitor(shop)
    session = visitor.buy()
    visitor.await_access(session)
    eventually(lambda: expect_equal(shop.records.notifications("waiting"), [f"buyer-{session}"]))
    return visitor, session


def see_released(visitor: Visitor, session: str) -> None:
    """Release what was held back for one buyer, and see that it goes out."""
    assert visitor.shop.orrery("notifications", "release", f"buyer-{session}").returncode == 0
    eventually(lambda: expect_equal(len(visitor.emails()), 2))


def see_refused_while_running(shop: Deployment, snapshot: Path) -> None:
    """See that a restore under the running service is refused in one sentence, and changes nothing."""
    came = shop.orrery("restore", str(snapshot))
    assert (came.returncode, came.stderr.strip().count("\n")) == (2, 0)
    assert "in use" in came.stderr
    assert len(shop.records.keys("access:")) == 1 + SALES


def sell(shop: Deployment, count: int) -> list[Visitor]:
    """Sell something to so many visitors, and wait until everybody is told."""
    visitors = [Visitor(shop) for _ in range(count)]
    with ThreadPoolExecutor(4) as pool:
        sessions = list(pool.map(Visitor.buy, visitors))
    for visitor, session in zip(visitors, sessions, strict=True):
        visitor.await_access(session)
        visitor.await_told(session)
    return visitors


def emails(shop: Deployment) -> set[str]:
    """Return the buyers that `orrery access list` shows, having seen that each has one record."""
    listed = json.loads(shop.orrery("access", "list", "--json", "--limit", "1000").stdout)
    found = [str(record["email"]) for record in listed]
    assert len(set(found)) == len(found)
    return set(found)


def see_that_messages_go_out(shop: Deployment) -> None:
    """Wait for the message about a new sale: whatever was due before it has gone out by then."""
    visitor = sell(shop, 1)[0]
    eventually(lambda: expect_equal(len(visitor.emails()), 1))
    assert shop.records.notifications("waiting") == []
