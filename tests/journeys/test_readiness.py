"""Whether the service is ready, told truly while it runs."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.deployment import Deployment, running
from tests.support.waiting import eventually

EVERY = 10
"""Seconds between two writes by which the service sees how its store is."""


def test_not_ready_while_nothing_can_be_written(tmp_path: Path) -> None:
    """While another program holds the store's write lock, readyz is a 503; when it lets go, a 200 again."""
    with (
        running(Deployment(tmp_path)) as shop,
        closing(sqlite3.connect(shop.store, isolation_level=None)) as other,
    ):
        eventually(lambda: see_ready(shop, 200))
        other.execute("BEGIN IMMEDIATE")
        shop.sandbox.advance(EVERY)
        eventually(lambda: see_ready(shop, 503))
        other.rollback()
        shop.sandbox.advance(EVERY)
        eventually(lambda: see_ready(shop, 200))


def see_ready(shop: Deployment, status: int) -> None:
    """See what both listeners say."""
    answers = [shop.client.get(f"{base}/readyz").status_code for base in (shop.public, shop.private)]
    assert answers == [status, status]
