"""The counter in trouble: whatever the provider does, the last good count stays (decisions 20, 24, 25)."""

import json
import shutil
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from orrery.live import keys
from tests.support.deployment import ANALYTICS_KEY, CounterSettings, Deployment, beside_a_sandbox, stop
from tests.support.live_counter import (
    BEARER,
    GUIDED,
    INTEL,
    PAGES,
    REFRESH,
    TOTAL,
    USUAL,
    LiveCounter,
)
from tests.support.marked import SECRETS, analytics_key
from tests.support.soak import SOAKING
from tests.support.visiting import Visitor
from tests.support.waiting import eventually

ADMIN = [("POST", REFRESH), ("GET", INTEL), ("GET", GUIDED)]

PAST_MIDNIGHT = 15 * 3600
"""Seconds from a test's begin until the provider's day has ended, and every back-off with it."""

TOKENS_OF_A_QUERY = 10

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


def test_scarce_quota(counter: LiveCounter) -> None:
    """When others have taken most of the hour's quota, the pages give way and the count stays fresh."""
    counter.refresh()
    counter.shop.sandbox.quota(bucket="tokensPerProjectPerHour", left=60 * TOKENS_OF_A_QUERY)
    counter.next_minute()
    counter.refresh()
    before = counter.asked()
    for _ in range(WATCHED):
        counter.next_minute()
        assert counter.refresh()["pages_count"] is None
        assert (counter.site()["active"], counter.site()["stale"]) == (USUAL, False)
    assert (counter.asked() - before)[PAGES] == 0
    counter.shop.sandbox.quota(refill=True)
    counter.shop.sandbox.advance(PAST_MIDNIGHT)
    assert counter.refresh()["pages_count"] is not None


WRONG: dict[str, list[tuple[bytes, bytes]]] = {
    "none": [],
    "empty": [(b"Authorization", b"")],
    "another": [(b"Authorization", b"Bearer wrong")],
    "longer": [(b"Authorization", BEARER["Authorization"].encode() + b"x")],
    "the hash": [(b"Authorization", f"Bearer {SECRETS['admin_password_hash']}".encode())],
    "another part's": [(b"Authorization", f"Bearer {SECRETS['access_service_token']}".encode())],
    "another scheme": [(b"Authorization", BEARER["Authorization"].replace("Bearer", "Basic").encode())],
    "beyond ASCII": [(b"Authorization", "Bearer Schlüssel".encode())],
    "Latin-1": [(b"Authorization", b"Bearer Schl\xfcssel")],
    "very long": [(b"Authorization", b"Bearer " + b"x" * 50_000)],
}


def test_wrong_bearers(counter: LiveCounter) -> None:
    """None of them is admitted or reaches the provider; a right one does not wait while they do."""
    with ThreadPoolExecutor(len(ADMIN) * len(WRONG)) as pool:
        eventually(partial(expect_overtaken, counter, pool))


def expect_overtaken(counter: LiveCounter, pool: ThreadPoolExecutor) -> None:
    """See all of them refused; fail, for now, unless a right one was answered while they waited."""
    before, shop = counter.asked(), counter.shop
    answers = [
        pool.submit(shop.client.request, method, shop.public + path, headers=headers)
        for method, path in ADMIN
        for headers in WRONG.values()
    ]
    assert counter.refresh()["active"] == USUAL
    overtaken = not all(answer.done() for answer in answers)
    shop.sandbox.advance(60)
    refused = [answer.result() for answer in answers]
    assert {answer.status_code for answer in refused} == {401}
    assert all(answer.json() == {"ok": False, "error": "Unauthorized"} for answer in refused)
    assert counter.asked() - before == {TOTAL: 1, PAGES: 1}
    assert overtaken


NOT_A_KEY = '{"type": "service_account", "private_key": "none", "client_email": "a@b.example", "token_uri": "x"}'
BAD_KEYS = {"missing": None, "no JSON": "no service account", "no key in it": NOT_A_KEY}


@pytest.fixture(scope="module")
def bare_shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Run a sandbox; what the service is given, and its start, are the test's."""
    with beside_a_sandbox(Deployment(tmp_path_factory.mktemp("bare"), counter=CounterSettings())) as shop:
        yield shop


@pytest.mark.parametrize("case", BAD_KEYS)
def test_without_a_usable_key(bare_shop: Deployment, case: str) -> None:
    """Without a key the owner's operations are 503 in the spec's words; visitors read, and the shop sells."""
    shop, key = bare_shop, BAD_KEYS[case]
    shop.secrets = SECRETS | ({ANALYTICS_KEY: key} if key else {})
    shop.configure()
    service, counter, visitor = shop.start_service(), LiveCounter(shop), Visitor(shop)
    before = counter.asked()
    for _ in range(2):
        for (method, path), error in zip(ADMIN, ("no-provider-auth", "no-auth", "no-auth"), strict=True):
            answer = counter.ask(method, path)
            assert (answer.status_code, answer.json()) == (503, {"ok": False, "error": error})
        counter.next_minute()
    assert (counter.cosmos()["totalUnique"], counter.cosmos()["error"]) == (0, "no-data")
    assert counter.asked() == before
    visitor.await_access(visitor.buy())
    stop(service)


def stored(**changes: object) -> bytes:
    """Return a stored total, from the sandbox's time on, with changes."""
    return json.dumps({"v": 1, "active": 5, "generated_at": "2026-01-01T00:00:00Z"} | changes).encode()


FOREIGN = {
    "nothing": b"",
    "no text": b"\xff\xfe\x00",
    "a list": b"[]",
    "another version": stored(v=2),
    "a text": stored(active="5"),
    "beyond every reader": stored(active=2**53),
    "a time without zone": stored(generated_at="2026-01-01T00:00:00"),
    "the last moment": stored(generated_at="9999-12-31T23:59:59.999999-23:59"),
    "the first moment": stored(generated_at="0001-01-01T00:00:00+23:59"),
    "half of it": stored()[:30],
    "nested": b"[" * 100_000,
}
LEASE = "lease:live refresh"
OF_THE_COUNTER = (keys.ACTIVE, keys.PAGES, keys.OUTCOME, keys.QUOTA, keys.LAST_ERROR, keys.MONITOR, LEASE)


def test_foreign_values(counter: LiveCounter) -> None:
    """Whatever lies in the file in place of a count, reads say that there is none, and a refresh mends it."""
    for case, value in FOREIGN.items():
        for key in OF_THE_COUNTER:
            counter.shop.records.write(key, value)
        counter.shop.sandbox.advance(65)
        site, cosmos = counter.site(), counter.cosmos()
        assert (site["active"], cosmos["totalUnique"], site["pages"]) == (0, 0, []), case
        assert {site["error"], cosmos["error"]} <= {"no-data", "data-too-stale"}, case
        assert counter.intel()["totalUnique"] == USUAL, case
        assert counter.refresh()["active"] == USUAL, case
        assert counter.site()["active"] == USUAL, case
        counter.next_minute()


def test_store_moved_away(counter: LiveCounter) -> None:
    """While the store's file is elsewhere, the owner is told kv-not-bound and visitors see the last good count."""
    counter.refresh()
    store = counter.shop.store
    elsewhere = store.rename(store.with_name("elsewhere.db"))
    counter.next_minute()
    for method, path in ADMIN:
        answer = counter.ask(method, path)
        assert (answer.status_code, answer.json()) == (503, {"ok": False, "error": "kv-not-bound"})
    assert (counter.site()["active"], counter.site()["stale"]) == (USUAL, False)
    elsewhere.rename(store)
    counter.next_minute()
    assert counter.refresh()["active"] == USUAL


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
