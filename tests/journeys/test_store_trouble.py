"""The store is locked, full or damaged while the service runs: a clear 503, and later nothing is missing."""

from collections.abc import Generator, Iterator
from pathlib import Path

import httpx2
import pytest

from orrery.adapters.sqlite import create
from tests.journeys.disks import fill, locked, small
from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import eventually
from tests.support.webhooks import send, signed


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Deployment]:
    """Run a sandbox; the service is the test's to start."""
    with beside_a_sandbox(Deployment(tmp_path)) as deployment:
        yield deployment


def paid_in_silence(visitor: Visitor) -> tuple[str, bytes, str]:
    """Buy while no webhook comes; return the session and its webhook, body and header."""
    sandbox = visitor.shop.sandbox
    session = visitor.start()
    sandbox.fault("webhook_down", path="checkout.session.completed")
    visitor.pay(session)
    eventually(lambda: expect_equal(sandbox.faults(), []))
    return session, *signed(visitor.shop, sandbox.completed(session))


def see_unavailable(answer: httpx2.Response) -> None:
    """See a 503 that has the documented shape and says nothing of what lies behind."""
    assert (answer.status_code, answer.json().get("error")) == (503, "store-unavailable")
    assert set(answer.json()) == {"error", "message"}
    assert "orrery.db" not in answer.text


def see_made_good(visitor: Visitor, session: str) -> None:
    """Let the processor repeat its webhook, and see the sale complete."""
    visitor.shop.sandbox.advance(60)
    visitor.await_access(session)
    visitor.await_told(session)
    assert (len(visitor.emails()), len(visitor.pushes())) == (1, 1)


def test_locked(shop: Deployment) -> None:
    """While another program holds the write lock, the webhook is a 503 and does nothing; later all is well."""
    shop.start_service()
    visitor = Visitor(shop)
    session, body, header = paid_in_silence(visitor)
    with locked(shop.store):
        see_unavailable(send(shop, body, header))
        assert visitor.state(session) == "pending"
    see_made_good(visitor, session)


def test_full(small_disk: Path, shop: Deployment) -> None:
    """While the disk is full, webhook and checkout are a 503 and readyz says so; with room again all is well."""
    shop.store = small_disk / "orrery.db"
    shop.configure()
    create(shop.store)
    service = shop.start_service()
    visitor, filler = Visitor(shop), small_disk / "filler"
    session, body, header = paid_in_silence(visitor)
    fill(filler)
    see_unavailable(send(shop, body, header))
    see_unavailable(Visitor(shop).check_out("a-key-of-its-own"))
    assert shop.records.access(session) is None
    filler.unlink()
    see_made_good(visitor, session)
    stop(service)


@pytest.fixture
def small_disk(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """Yield a directory on a disk of 2 MB, or skip where none may be mounted."""
    with small(tmp_path_factory.mktemp("disk")) as disk:
        yield disk


def test_damaged(shop: Deployment, tmp_path: Path) -> None:
    """A damaged file is a 503 and named by readyz; with a snapshot in its place every sale is there again."""
    service, snapshot = shop.start_service(), tmp_path / "snapshot.db"
    before = Visitor(shop).buy()
    Visitor(shop).await_access(before)
    assert shop.orrery("backup", str(snapshot)).returncode == 0
    after = Visitor(shop).buy()
    Visitor(shop).await_access(after)
    stop(service)
    service = shop.start_service()
    damage(shop.store)
    visitor = Visitor(shop)
    # What the database still holds in its own memory may serve a moment longer. One address is soon asked to wait.
    eventually(lambda: see_unavailable(Visitor(shop, product=visitor.product).check_out()))
    eventually(lambda: see_damaged(shop))
    stop(service)
    assert shop.orrery("restore", str(snapshot)).returncode == 0
    shop.start_service()
    see_made_good(visitor, visitor.buy())
    assert [visitor.state(session) for session in (before, after)] == ["granted", "granted"]


def see_damaged(shop: Deployment) -> None:
    """See readyz say what is the matter."""
    shop.readiness()
    ready = shop.client.get(f"{shop.private}/readyz")
    assert ready.status_code == 503
    assert "damaged" in ready.text


def damage(store: Path) -> None:
    """Overwrite the file in place, its log and the log's index with what is no database."""
    for suffix in ("", "-wal", "-shm"):
        file = store.with_name(store.name + suffix)
        size = file.stat().st_size
        with file.open("r+b") as damaged:
            damaged.write(b"\xa5" * size)
