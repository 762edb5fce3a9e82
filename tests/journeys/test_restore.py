"""Back up, go on selling, restore: every sale is there again, and every buyer gets one e-mail."""

import json
import lzma
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orrery.working_folder import working_folder
from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import eventually

SALES = 6
OLD_STORES = Path(__file__).parents[1] / "stores"
GONE = "The restore found no store to replace that can be read"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Deployment]:
    """Run a sandbox; the service is the test's to start."""
    with beside_a_sandbox(Deployment(tmp_path)) as deployment:
        yield deployment


def test_the_replaced_store_decides_each_message(shop: Deployment, tmp_path: Path) -> None:
    """What was sent is not sent again, what waits goes out, and a sale that it never heard of is reported once."""
    service, snapshot = shop.start_service(), tmp_path / "snapshot.db"
    sent_later, session = sell_without_an_email(shop)
    assert shop.orrery("backup", str(snapshot)).returncode == 0
    shop.sandbox.clear_faults()
    shop.sandbox.advance(3600)
    sent_later.await_told(session)
    sold = sell(shop, SALES)
    see_refused_while_running(shop, snapshot)
    still_waiting, _ = sell_without_an_email(shop)
    unheard = Visitor(shop)
    unheard_session = unheard.start()
    stop(service)
    unheard.pay(unheard_session)
    see_refused_beside_another(shop, snapshot)
    came = shop.orrery("restore", str(snapshot))
    assert came.returncode == 0
    assert "Messages as in the store before: 1." in came.stderr
    assert f"{SALES + 2} granted, 0 of them held back" in came.stderr
    shop.sandbox.clear_faults()
    shop.start_service()
    shop.sandbox.advance(3600)
    everybody = [sent_later, *sold, still_waiting, unheard]
    eventually(lambda: expect_equal([len(visitor.emails()) for visitor in everybody], [1] * len(everybody)))
    see_that_messages_go_out(shop)
    assert [len(visitor.emails()) for visitor in everybody] == [1] * len(everybody)
    assert emails(shop) >= {visitor.email for visitor in everybody}
    assert shop.records.notifications("held") == []
    assert shop.sandbox.pushes_about("not know") == []


def test_without_a_replaced_store_all_is_held_with_its_reason(shop: Deployment, tmp_path: Path) -> None:
    """Access comes back; each message is held, listed with its reason, and dropped with its buyers counted."""
    service, snapshot = shop.start_service(), tmp_path / "snapshot.db"
    early, session = sell_without_an_email(shop)
    assert shop.orrery("backup", str(snapshot)).returncode == 0
    shop.sandbox.clear_faults()
    shop.sandbox.advance(3600)
    early.await_told(session)
    late = sell(shop, 2)
    stop(service)
    for file in shop.store.parent.iterdir():
        file.rename(tmp_path / f"lost-{file.name}")
    came = shop.orrery("restore", str(snapshot))
    assert came.returncode == 0
    assert f"Messages held back: 1. {GONE}" in came.stderr
    assert "2 granted, 2 of them held back" in came.stderr
    shop.start_service()
    see_that_messages_go_out(shop)
    assert [len(visitor.emails()) for visitor in [early, *late]] == [1, 1, 1]
    assert emails(shop) >= {visitor.email for visitor in [early, *late]}
    listed = json.loads(shop.orrery("notifications", "list", "--state", "held", "--json").stdout)
    assert len(listed) == 1 + 2 * 2
    assert all(row["why"] and row["why"] == row["held_because"] for row in listed)
    see_the_drop_counted(shop, [early, *late])


def see_the_drop_counted(shop: Deployment, buyers: list[Visitor]) -> None:
    """Drop all that is held: without the number of buyers, or with another one, it is refused."""
    for words in ([], ["--emails", "2"]):
        refused = shop.orrery("notifications", "drop", "--all-held", *words)
        assert refused.returncode == 2
        assert all(visitor.email in refused.stderr for visitor in buyers)
        assert "--emails 3" in refused.stderr
        assert len(shop.records.notifications("held")) == 5
    (push,) = [one for one in shop.records.notifications("held") if one.startswith("owner-")][:1]
    assert shop.orrery("notifications", "drop", push).returncode == 0
    assert shop.orrery("notifications", "drop", "--all-held", "--emails", "3").returncode == 0
    assert shop.records.notifications("held") == []
    states = json.loads(shop.orrery("notifications", "list", "--state", "delivered", "--json").stdout)
    assert [row["state"] for row in states].count("dropped") == 5


def test_a_snapshot_of_an_older_release(shop: Deployment, tmp_path: Path) -> None:
    """Its messages are decided like any other's, and the service runs on it."""
    for number, file in enumerate(sorted(OLD_STORES.glob("*.db.xz"))):
        snapshot = tmp_path / file.stem
        snapshot.write_bytes(lzma.decompress(file.read_bytes()))
        came = shop.orrery("restore", str(snapshot))
        assert came.returncode == 0, came.stderr
        assert f"{shop.store.name}.before-restore" in {one.name for one in shop.store.parent.iterdir()}
        shop.store.with_name(f"{shop.store.name}.before-restore").rename(tmp_path / f"before-{number}")
        assert [one for one in shop.records.notifications("waiting") if one.startswith("buyer-")] == []
    service = shop.start_service()
    see_that_messages_go_out(shop)
    stop(service)


def sell_without_an_email(shop: Deployment) -> tuple[Visitor, str]:
    """Sell something whose e-mail the mail server does not take yet."""
    shop.sandbox.fault("mail_451", count=None)
    visitor = Visitor(shop)
    session = visitor.buy()
    visitor.await_access(session)
    eventually(lambda: expect_equal(shop.records.notifications("waiting"), [f"buyer-{session}"]))
    return visitor, session


def see_refused_while_running(shop: Deployment, snapshot: Path) -> None:
    """See that a restore under the running service is refused in one sentence, and changes nothing."""
    came = shop.orrery("restore", str(snapshot))
    assert (came.returncode, came.stderr.strip().count("\n")) == (2, 0)
    assert "in use" in came.stderr
    assert len(shop.records.keys("access:")) == 1 + SALES


def see_refused_beside_another(shop: Deployment, snapshot: Path) -> None:
    """See that one of two restores waits for its turn: each would work in the other's copy of the store."""
    with working_folder(shop.store.with_name(f".{shop.store.name}.restoring")) as folder:
        (folder / "copy").touch()
        came = shop.orrery("restore", str(snapshot))
        assert (came.returncode, came.stderr.strip().count("\n")) == (2, 0)
        assert "Another restore of this store is at work" in came.stderr
        assert (folder / "copy").exists()


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
    eventually(lambda: expect_equal(shop.records.notifications("waiting"), []))
