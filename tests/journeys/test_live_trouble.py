"""The counter in trouble: whatever the provider does, the last good count stays (decisions 20, 24, 25)."""

import json
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.journeys.live_counter import (
    PAGES,
    REFRESH,
    TOTAL,
    USUAL,
    LiveCounter,
)
from tests.support.deployment import ANALYTICS_KEY, CounterSettings, Deployment, beside_a_sandbox, stop
from tests.support.marked import analytics_key
from tests.support.soak import SOAKING

PAST_MIDNIGHT = 15 * 3600
"""Seconds from a test's begin until the provider's day has ended, and every back-off with it."""


WATCHED = 16
"""Minutes for which the provider's trouble lasts."""


@dataclass(frozen=True)
class Trouble:
    """A fault, what is told of it, and how often each query may be sent in `WATCHED` minutes after the first."""

    fault: str
    tag: str
    status: int | None
    totals: Collection[int]
    pages: Collection[int]


EXHAUSTED, REFUSED, UNREACHABLE = "quota-exhausted", "provider-refused", "provider-unreachable"
TROUBLES = [
    Trouble("analytics_429_concurrent", EXHAUSTED, 429, totals=[WATCHED], pages=[0]),
    Trouble("analytics_429_hour", EXHAUSTED, 429, totals=[1], pages=[0]),
    Trouble("analytics_429_day", EXHAUSTED, 429, totals=[0], pages=[0]),
    Trouble("analytics_429_thresholded", EXHAUSTED, 429, totals=[1], pages=[1]),
    Trouble("analytics_401", REFUSED, 401, totals=[6], pages=[0]),
    Trouble("analytics_403", REFUSED, 403, totals=[0], pages=[0]),
    Trouble("analytics_html_404", UNREACHABLE, 404, totals=[WATCHED], pages=[WATCHED]),
    Trouble("analytics_html_200", UNREACHABLE, 200, totals=[WATCHED], pages=[WATCHED]),
    Trouble("analytics_500", UNREACHABLE, 500, totals=[0, 1], pages=[0]),
    Trouble("analytics_cut", UNREACHABLE, None, totals=[WATCHED], pages=[WATCHED]),
]
FEW = ("analytics_429_day", "analytics_401", "analytics_html_200", "analytics_cut")
"""One of each tag, with and without a status: `./run soak kills` has all of them."""


@pytest.mark.parametrize(
    "trouble", [one for one in TROUBLES if SOAKING or one.fault in FEW], ids=lambda trouble: trouble.fault
)
def test_trouble(counter: LiveCounter, trouble: Trouble) -> None:
    """A failing provider is told by its tag and kept as the last error; the count stays, the back-off is kept."""
    counter.refresh()
    counter.shop.sandbox.fault(trouble.fault, count=None)
    counter.next_minute()
    told, error = counter.refresh(), counter.last_error() or {}
    assert (set(told), told["ok"], told["error"]) == ({"ok", "error", "message"}, False, trouble.tag)
    assert (error["message"], error["status"], error["failed_query"]) == (told["message"], trouble.status, "total")
    before, errors = counter.asked(), set[str]()
    for _ in range(WATCHED):
        counter.next_minute()
        errors.add(counter.refresh().get("error", trouble.tag))
    sent = counter.asked() - before
    assert errors == {trouble.tag}
    assert sent[TOTAL] in trouble.totals
    assert sent[PAGES] in trouble.pages
    site = counter.site()
    assert (site["active"], site["stale"], site["pages"] != []) == (USUAL, True, True)
    counter.shop.sandbox.clear_faults()
    counter.shop.sandbox.advance(PAST_MIDNIGHT)
    assert counter.refresh()["active"] == USUAL


@pytest.fixture(scope="module")
def bare_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Run a sandbox; what the service is given, and its start, are the test's."""
    with beside_a_sandbox(Deployment(tmp_path_factory.mktemp("bare"), counter=CounterSettings())) as shop:
        yield shop


def stored(**changes: object) -> bytes:
    """Return a stored total, from the sandbox's time on, with changes."""
    return json.dumps({"v": 1, "active": 5, "generated_at": "2026-01-01T00:00:00Z"} | changes).encode()


def test_store_damaged(bare_shop: Deployment) -> None:
    """With a damaged store visitors see the last good count until it is too old, then 0 and kv-not-bound."""
    shop, counter = bare_shop, LiveCounter(bare_shop)
    shop.secrets[ANALYTICS_KEY] = analytics_key(shop.ports[2])
    shop.configure()
    service = shop.start_service()
    counter.next_morning()
    counter.refresh()
    overwrite(shop.store)
    counter.next_minute()
    assert counter.ask("POST", REFRESH).json() == {"ok": False, "error": "kv-not-bound"}
    assert (counter.site()["active"], "error" in counter.site()) == (USUAL, False)
    counter.grow_old(1801)
    assert (counter.site()["active"], counter.site()["error"]) == (0, "kv-not-bound")
    assert (counter.cosmos()["totalUnique"], counter.cosmos()["error"]) == (0, "kv-not-bound")
    stop(service)
    shutil.rmtree(shop.store.parent)
    made = shop.orrery("store", "create")
    assert made.returncode == 0, made.stderr
    shop.start_service()
    assert counter.site()["error"] == "no-data"
    assert counter.refresh()["active"] == USUAL


def overwrite(store: Path) -> None:
    """Overwrite the store's file in place, its log and the log's index with what is no database."""
    for file in (store, store.with_name(f"{store.name}-wal"), store.with_name(f"{store.name}-shm")):
        size = file.stat().st_size
        with file.open(
            "r+b"
        ) as damaged:  # truncated, the index would end the process that has it mapped, by SIGBUS
            damaged.write(b"\xa5" * size)
