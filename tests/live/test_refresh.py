"""The one writer: independent queries, last good values, one refresh a minute (spec 2, Refresh; decision 26)."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from orrery.errors import NotConfigured, StoreUnavailable
from orrery.live import keys
from orrery.live.quota import TokenLimits
from orrery.live.records import RefreshOutcome
from orrery.ports.analytics import Cause
from orrery.ports.store import Put
from tests.support.analytics import MemoryAnalytics, failure
from tests.support.clock import START, ManualClock
from tests.support.counting import Counting
from tests.support.soak import SOAKING
from tests.support.unreliable_store import UnreliableStore

NOW = "2026-03-01T12:00:00Z"


@pytest.fixture
def one() -> Counting:
    """Return a process that counts."""
    return Counting()


async def test_a_refresh_fills_the_cache(one: Counting) -> None:
    """Both values are stored in the spec's shapes for 24 hours, and the outcome says what was written."""
    outcome = await one.refresh.run()
    assert (outcome.ok, outcome.active, outcome.pages_count) == (True, 12, 2)
    assert outcome.generated_at == START
    assert await one.stored() == {"v": 1, "active": 12, "generated_at": NOW, "window_minutes": 30}
    assert await one.stored(keys.PAGES) == {
        "v": 1,
        "pages": [{"page": "Home", "path": None, "users": 9}, {"page": "Shop", "path": "/shop", "users": 7}],
        "generated_at": NOW,
    }
    assert await one.stored(keys.LAST_ERROR) is None
    for key in (keys.ACTIVE, keys.PAGES):
        entry = await one.kept.get(key)
        assert entry
        assert entry.expires_at == START + timedelta(hours=24)


async def test_a_true_zero_is_stored(one: Counting) -> None:
    """A report without rows is nobody: 0 is stored as a success (decision 21)."""
    one.analytics.visitors, one.analytics.pages = 0, {}
    outcome = await one.refresh.run()
    assert (outcome.ok, outcome.active, outcome.pages_count) == (True, 0, 0)


async def test_the_total_is_not_the_sum_of_pages(one: Counting) -> None:
    """A visitor on two pages is one visitor."""
    one.analytics.visitors, one.analytics.pages = 1, {"Home": 1, "Shop": 1}
    assert (await one.refresh.run()).active == 1


async def test_pages_are_the_25_most_visited(one: Counting) -> None:
    """At most 25 pages are kept, most users first."""
    one.analytics.pages = {f"Page {number}": number for number in range(40)}
    assert (await one.refresh.run()).pages_count == 25
    pages = (await one.stored(keys.PAGES) or {})["pages"]
    assert [page["users"] for page in pages] == sorted((page["users"] for page in pages), reverse=True)


async def test_failed_pages_do_not_block_the_total(one: Counting) -> None:
    """The total is written though the page query failed; the last good pages stay, the error names the query."""
    await one.refresh.run()
    before = await one.stored(keys.PAGES)
    one.clock.advance(60)
    one.analytics.visitors, one.analytics.fails = 5, {"page": failure("server", 500)}
    outcome = await one.refresh.run()
    assert (outcome.ok, outcome.active, outcome.pages_count) == (True, 5, None)
    assert await one.stored(keys.PAGES) == before
    assert await one.stored(keys.LAST_ERROR) == {
        "v": 1,
        "message": "The provider said server.",
        "status": 500,
        "attempted_at": "2026-03-01T12:01:00Z",
        "failed_query": "pages",
    }


async def test_a_failed_total_does_not_block_the_pages(one: Counting) -> None:
    """Pages are written though the total failed; the last good total stays."""
    await one.refresh.run()
    before = await one.stored()
    one.clock.advance(60)
    one.analytics.pages, one.analytics.fails = {"News": 3}, {None: failure("unreachable")}
    outcome = await one.refresh.run()
    assert (outcome.ok, outcome.error) == (False, "provider-unreachable")
    assert await one.stored() == before
    assert [page["page"] for page in (await one.stored(keys.PAGES) or {})["pages"]] == ["News"]
    assert (await one.stored(keys.LAST_ERROR) or {})["failed_query"] == "total"


@pytest.mark.parametrize(
    ("cause", "tag"),
    [
        ("concurrent", "quota-exhausted"),
        ("hour", "quota-exhausted"),
        ("day", "quota-exhausted"),
        ("thresholded", "quota-exhausted"),
        ("unauthorized", "provider-refused"),
        ("forbidden", "provider-refused"),
        ("refused", "provider-refused"),
        ("server", "provider-unreachable"),
        ("unreachable", "provider-unreachable"),
        ("not-a-report", "provider-unreachable"),
    ],
)
async def test_an_error_never_overwrites_the_last_good_values(one: Counting, cause: Any, tag: str) -> None:  # noqa: ANN401  a cause
    """Whatever the provider says, only the last error is written, and only for an hour."""
    await one.refresh.run()
    before = [await one.stored(), await one.stored(keys.PAGES)]
    one.clock.advance(60)
    one.analytics.fails = {None: failure(cause), "page": failure(cause)}
    outcome = await one.refresh.run()
    assert (outcome.ok, outcome.error) == (False, tag)
    assert [await one.stored(), await one.stored(keys.PAGES)] == before
    entry = await one.kept.get(keys.LAST_ERROR)
    assert entry
    assert entry.expires_at == one.clock.now() + timedelta(hours=1)


async def test_fifty_at_once_are_one_refresh(one: Counting) -> None:
    """50 callers at the same moment cause two calls, and all get one outcome."""
    outcomes = await asyncio.gather(*(one.refresh.run() for _ in range(50)))
    assert one.calls == 2
    assert all(outcome is outcomes[0] for outcome in outcomes)


async def test_fifty_at_once_on_three_processes_are_one_refresh(one: Counting) -> None:
    """Processes that share the store share the refresh, and all tell the same."""
    processes = [one, one.beside("two"), one.beside("three")]
    released = asyncio.Event()
    one.analytics.meanwhile = released.wait
    asked = [asyncio.create_task(process.refresh.run()) for process in processes for _ in range(50)]
    while one.clock.sleepers < 2:
        await checkpoint()
    released.set()
    while not all(task.done() for task in asked):
        one.clock.advance(0.1)
        await checkpoint()
    assert one.calls == 2
    assert {task.result().active for task in asked} == {12}


@given(st.lists(st.integers(0, 90), max_size=30))
def test_at_most_one_refresh_a_minute(pauses: list[int]) -> None:
    """Whenever and however often it is asked for, each clock minute sees at most two calls."""

    async def work() -> None:
        one = Counting()
        minutes = {0}
        await one.refresh.run()
        for pause in pauses:
            one.clock.advance(pause)
            minutes.add(int(one.clock.monotonic() // 60))
            await one.refresh.run()
        assert one.calls <= 2 * len(minutes)
        assert one.analytics.calls[None] == len(minutes)

    asyncio.run(work())


async def test_a_second_request_gets_the_stored_outcome(one: Counting) -> None:
    """Within the same minute the outcome of the first refresh is told again, failed or not."""
    one.analytics.fails = {None: failure("server", 503)}
    first = await one.refresh.run()
    one.clock.advance(59)
    assert await one.beside().refresh.run() == first
    assert one.analytics.calls[None] == 1


async def test_a_paused_leader_does_not_overwrite(one: Counting) -> None:
    """One that slept through its lease finds the newer values of another, and leaves them."""
    two = one.beside()

    async def sleep_long() -> None:
        one.analytics.meanwhile = _at_once
        one.clock.advance(90)
        one.analytics.visitors = 99
        await two.refresh.run()
        one.analytics.visitors = 1

    one.analytics.meanwhile = sleep_long
    outcome = await one.refresh.run()
    assert (await one.stored() or {})["active"] == 99
    assert outcome.active == 99


async def _at_once() -> None:
    """Do nothing meanwhile."""


async def test_a_killed_leader_is_replaced(one: Counting) -> None:
    """A refresher that was killed in the middle keeps the others waiting for half a minute at most."""
    one.analytics.meanwhile = asyncio.Event().wait
    killed = asyncio.create_task(one.refresh.run())
    while not one.calls:
        await checkpoint()
    two = one.beside()
    two.analytics = MemoryAnalytics()
    two.__post_init__()
    one.clock.advance(60)
    assert (await two.refresh.run()).ok
    killed.cancel()


async def test_a_caller_who_leaves_does_not_stop_the_refresh(one: Counting) -> None:
    """The refresh goes on for the others when the first caller hangs up."""
    released = asyncio.Event()
    one.analytics.meanwhile = released.wait
    first, second = (asyncio.create_task(one.refresh.run()) for _ in range(2))
    while not one.calls:
        await checkpoint()
    first.cancel()
    released.set()
    assert (await second).ok
    assert one.calls == 2


async def test_each_query_has_a_deadline(one: Counting) -> None:
    """The provider is given 10 s for a query."""
    await one.refresh.run()
    assert one.analytics.deadlines == {10.0}


async def test_a_key_that_cannot_be_used_is_told(one: Counting) -> None:
    """Without a usable key there is no outcome but the error, and the last error says so."""
    missing = NotConfigured("The analytics key is missing.")
    one.analytics.fails = {None: missing, "page": missing}
    with pytest.raises(NotConfigured):
        await one.refresh.run()
    assert (await one.stored(keys.LAST_ERROR) or {})["message"] == "The analytics key is missing."


@pytest.mark.parametrize("fails", ["get", "commit"])
async def test_a_store_that_fails(fails: str) -> None:
    """A store that cannot be used is told as such; nothing is half written."""
    clock = ManualClock()
    store = UnreliableStore(Counting(clock).kept)
    one = Counting(clock, store=store)
    getattr(store, f"{fails}_errors").append(StoreUnavailable("It is gone."))
    with pytest.raises(StoreUnavailable):
        await one.refresh.run()
    assert await one.stored() is None


async def test_a_refresh_is_seen_at_once(one: Counting) -> None:
    """The process's own first-level cache holds what was just written."""
    await one.cache.loaded()
    await one.refresh.run()
    assert one.cache.snapshot.active
    assert one.cache.snapshot.active.active == 12


@pytest.mark.parametrize("value", [b"\xff not ours", b'{"v": 2}'])
@pytest.mark.parametrize("key", [keys.OUTCOME, keys.QUOTA])
async def test_foreign_values_of_its_own_do_not_stop_it(one: Counting, key: str, value: bytes) -> None:
    """Whatever lies in the place of its own records, a refresh fills the cache."""
    await one.kept.commit([Put(key, value)])
    assert (await one.refresh.run()).ok


async def test_a_day_of_minutes_keeps_the_quota() -> None:
    """The total is asked each minute, within this time's part of the day's 25,000 tokens; a day in soak."""
    one, hours = Counting(), 24 if SOAKING else 3
    one.clock.advance(20 * 3600)
    for _ in range(60 * hours):
        assert (await one.refresh.run()).ok
        one.clock.advance(60)
    assert one.analytics.calls[None] == 60 * hours
    assert one.calls * 10 * 24 <= 25_000 * hours


async def test_put_off_by_pacing_it_tells_the_fresh_count() -> None:
    """A total that is left out to save the quota is no failure as long as the count is fresh."""
    one = Counting(limits=TokenLimits(tokens_per_day=10_000))
    outcomes = [await _at_the_next_minute(one) for _ in range(10)]
    assert all(outcome.ok for outcome in outcomes)
    assert 0 < one.analytics.calls[None] < 10


async def _at_the_next_minute(one: Counting) -> RefreshOutcome:
    one.clock.advance(60)
    return await one.refresh.run()


async def test_put_off_by_the_quota_it_says_so(one: Counting) -> None:
    """While a back-off lasts, its reason is told and nobody is asked; the last good count stays."""
    await one.refresh.run()
    one.clock.advance(60)
    one.analytics.fails = {None: failure("hour", 429)}
    assert (await one.refresh.run()).error == "quota-exhausted"
    one.clock.advance(60)
    calls = one.calls
    assert (await one.refresh.run()).error == "quota-exhausted"
    assert one.calls == calls
    assert (await one.stored() or {})["active"] == 12


@pytest.mark.parametrize("lease", [b'{"hello": 1}', b'{"holder": "x", "until": "2026-03-01T12:00:09"}', b"\xff"])
async def test_a_lease_that_cannot_be_read_is_free(one: Counting, lease: bytes) -> None:
    """Whatever lies in the place of the lease does not stop the counting permanently."""
    await one.kept.commit([Put("lease:live refresh", lease)])
    assert (await one.refresh.run()).ok


async def test_a_clock_that_is_ahead_elsewhere(one: Counting) -> None:
    """The outcome of a process whose clock is already in the next minute is told here as well."""
    ahead = Counting(ManualClock(START + timedelta(seconds=40)), one.analytics, one.kept, "ahead")
    one.clock.advance(30)
    ahead.clock.advance(30)
    await ahead.refresh.run()
    await one.refresh.run()
    assert one.calls == 2


async def test_a_title_without_end_is_cut(one: Counting) -> None:
    """Anyone who sends events to the provider chooses the titles, and cannot make the reads endless."""
    one.analytics.pages = {"x" * 100_000: 1}
    await one.refresh.run()
    assert [len(page["page"]) for page in (await one.stored(keys.PAGES) or {})["pages"]] == [300]


async def test_nobody_waits_long_for_another_process(one: Counting) -> None:
    """While another process takes its time, a caller hears the newest count after 5 seconds."""
    await one.refresh.run()
    one.clock.advance(60)
    one.analytics.meanwhile = asyncio.Event().wait
    slow = asyncio.create_task(one.refresh.run())
    while one.calls < 3:
        await checkpoint()
    begun = one.clock.monotonic()
    asked = asyncio.create_task(one.beside().refresh.run())
    while not asked.done():
        one.clock.advance(0.1)
        await checkpoint()
    assert one.clock.monotonic() - begun < 6
    assert asked.result().active == 12
    slow.cancel()


@pytest.mark.parametrize("cause", ["unauthorized", "forbidden", "refused", "server"])
async def test_put_off_by_a_refusal_it_tells_of_that(one: Counting, cause: Cause) -> None:
    """While another back-off than one of the quota lasts, its own error is told and not an exhausted quota."""
    one.analytics.fails = {None: failure(cause), "page": failure(cause)}
    told, calls = list[str | None](), list[int]()
    for _ in range(5):
        told.append((await one.refresh.run()).error)
        calls.append(one.calls)
        one.clock.advance(60)
    assert calls[-1] == calls[-2]
    assert set(told) == {told[0]}


async def test_without_a_key_nothing_is_spent(one: Counting) -> None:
    """A process whose key cannot be used says so each time, and keeps no other process from asking."""
    one.analytics.fails = dict.fromkeys([None, "page"], NotConfigured("The analytics key is missing."))
    two = one.beside()
    budgets = list[object]()
    for _ in range(3):
        with pytest.raises(NotConfigured):
            await one.refresh.run()
        budgets.append(await one.stored(keys.QUOTA))
        one.clock.advance(60)
    assert budgets == [budgets[0]] * 3
    two.analytics = MemoryAnalytics()
    two.__post_init__()
    assert (await two.refresh.run()).ok
