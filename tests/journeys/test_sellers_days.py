"""`orrery sales` and `orrery today` count by the days of the seller's zone, as the receipts do."""

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from orrery.adapters.movable_clock import MovableClock
from orrery.adapters.sqlite import SqliteStore
from orrery.ports.store import Write
from tests.support.checkout import record, stored_access
from tests.support.deployment import Deployment

ZONE = 'seller = "Northwind"\ntime_zone = "Etc/GMT-1"'  # an hour ahead of UTC, in summer too


def test_a_sale_of_yesterday_by_the_sellers_clock(tmp_path: Path) -> None:
    """At 23:30 UTC, half past midnight there, what was sold 45 minutes ago was sold yesterday."""
    shop = Deployment(tmp_path, more_checkout=ZONE)
    (shop.folder / "sandbox").mkdir()
    clock = MovableClock(shop.folder / "sandbox" / "clock")
    midnight = (clock.now() + timedelta(days=1)).replace(hour=0, minute=0, second=0)
    clock.advance((midnight + timedelta(hours=23, minutes=30) - clock.now()).total_seconds())
    sold_at = clock.now() - timedelta(minutes=45)
    assert shop.orrery("sales").returncode == 0  # the first use of a store makes its key
    asyncio.run(_store(shop.store, clock, stored_access(record(paid_at=sold_at, granted_at=sold_at))))
    sold = {
        period: sum(row["sold"] for row in json.loads(shop.orrery("sales", period, "--json").stdout))
        for period in ("today", "7d", f"{sold_at:%Y-%m-%d}", f"{clock.now() + timedelta(days=1):%Y-%m-%d}")
    }
    assert [*sold.values()] == [0, 1, 1, 0]
    assert json.loads(shop.orrery("today", "--json").stdout)["money"] == []
    shop.clear_away()


async def _store(path: Path, clock: MovableClock, writes: Sequence[Write]) -> None:
    store = await SqliteStore.open(path, clock)
    await store.commit(writes)
    await store.close()
