"""The clock jumps years ahead, and is put right between two runs: nothing waits for that time to come."""

from pathlib import Path

import pytest

from tests.support.deployment import Deployment, stop
from tests.support.soak import SOAKING
from tests.support.visiting import Visitor

FIVE_YEARS = 5 * 365 * 86400


@pytest.mark.skipif(not SOAKING, reason="the leases, the outbox and the sweep have tests of their own")
def test_a_clock_that_was_put_right(tmp_path: Path) -> None:
    """Two processes that start after it sell and write to the buyers, and a snapshot of that store is restored."""
    shop, snapshot = Deployment(tmp_path), tmp_path / "snapshot.db"
    try:
        sandbox = shop.start_sandbox()
        service = shop.start_service()
        shop.sandbox.advance(FIVE_YEARS)
        visitor = Visitor(shop)
        visitor.await_told(visitor.buy())
        service.kill()
        sandbox.kill()
        (tmp_path / "sandbox" / "clock").unlink()
        shop.start_sandbox()
        service = shop.start_service()
        second, address = shop.launch_another_service()
        shop.await_answer(second, address)
        visitor = Visitor(shop)
        visitor.await_told(visitor.buy())
        assert shop.readiness() == [200, 200]
        assert shop.orrery("backup", str(snapshot)).returncode == 0
        assert shop.orrery("restore", str(snapshot)).returncode == 2
        stop(second)
        stop(service)
        assert shop.orrery("restore", str(snapshot)).returncode == 0
        service = shop.start_service()
        visitor = Visitor(shop)
        visitor.await_told(visitor.buy())
        stop(service)
    finally:
        shop.clear_away()
