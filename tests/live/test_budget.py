"""The budget in the store: what a bad provider, a changed deployment and a failing store do to the count."""

from collections.abc import Mapping
from itertools import groupby

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.errors import NotConfigured, OutcomeUnknown, StoreError, StoreUnavailable
from orrery.live import keys
from orrery.live.answers import current_count
from orrery.live.reads import snapshot_in
from orrery.ports.analytics import AnalyticsFailed, By, Cause, Quotas, QuotaState
from orrery.ports.store import Put
from tests.support.analytics import failure
from tests.support.clock import ManualClock
from tests.support.counting import Counting
from tests.support.soak import SOAKING
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

PLENTY = Quotas(QuotaState(10, 24_000), QuotaState(10, 1700), QuotaState(10, 1700), QuotaState(0, 10))
FAILS: Mapping[str, tuple[By | None, ...]] = {"both": (None, "page"), "pages": ("page",), "total": (None,)}


async def counting() -> Counting:
    """Return a process that has counted once, a minute ago."""
    one = Counting()
    one.analytics.quotas = PLENTY
    await one.refresh.run()
    one.clock.advance(60)
    return one


async def minutes(one: Counting, count: int) -> list[str]:
    """Refresh every minute, and return what a visitor was shown after each."""
    shown = list[str]()
    for _ in range(count):
        await one.refresh.run()
        shown.append(current_count(await snapshot_in(one.kept, one.clock), one.clock.now()).state)
        one.clock.advance(60)
    return shown


def told(shown: list[str]) -> list[tuple[str, int]]:
    """Return each state and how many minutes it lasted."""
    return [(state, len(list(group))) for state, group in groupby(shown)]


@each_case("cause", ["concurrent", "hour", "day", "thresholded", "unauthorized", "forbidden", "refused"])
@each_case("by", ["page", "planet"])
async def test_no_refusal_of_another_query_stops_the_total(by: By, cause: Cause) -> None:
    """Pages or an owner's read that are refused permanently leave the total fresh (spec 2, Refresh 2)."""
    one = await counting()
    one.analytics.fails = {by: failure(cause, 429)}
    await one.owners.intel()
    assert told(await minutes(one, 75)) == [("fresh", 75)]


@each_case("which", ["both", "total"])
@each_case("pages_are_due", [False, True])
@each_case("bad", [1, 3, 22, *[2, 10] * SOAKING])
async def test_a_bad_spell_never_hides_the_count(bad: int, which: str, *, pages_are_due: bool) -> None:
    """A provider that fails for up to 22 minutes is found well again before the count is 30 minutes old."""
    one = await counting()
    if pages_are_due:
        await minutes(one, 1)
    one.analytics.fails = {each: failure("server", 500) for each in FAILS[which]}
    shown = await minutes(one, bad)
    one.analytics.fails = {}
    shown += await minutes(one, 75 - bad)
    assert set(shown) <= {"fresh", "stale"}
    assert told(shown)[-1][1] >= 45


async def test_a_single_error_is_not_seen() -> None:
    """After one server error of the total the next minute asks again, and the count stays fresh."""
    one = await counting()
    one.analytics.fails = {None: failure("server", 500)}
    shown = await minutes(one, 1)
    one.analytics.fails = {}
    assert told(shown + await minutes(one, 60)) == [("fresh", 61)]


async def test_pages_that_always_fail() -> None:
    """Pages whose query always meets a server error cost the total nothing, and are asked once an hour."""
    one = await counting()
    one.analytics.fails = {"page": failure("server", 500)}
    before = one.analytics.calls["page"]
    assert told(await minutes(one, 180)) == [("fresh", 180)]
    assert one.analytics.calls["page"] - before == 3


async def test_pages_that_always_fail_beside_a_bad_spell() -> None:
    """When pages have cost an error, two bad minutes of the total still do not hide the count."""
    one = await counting()
    one.analytics.fails = {"page": failure("server", 500)}
    await minutes(one, 10)
    one.analytics.fails[None] = failure("server", 500)
    shown = await minutes(one, 2)
    del one.analytics.fails[None]
    assert set(shown + await minutes(one, 60)) <= {"fresh", "stale"}


@pytest.mark.parametrize("which", ["both", "total", "pages"])
async def test_an_outage_of_hours(which: str) -> None:
    """However long the provider fails, it is met by at most 3 server errors in any sixty minutes."""
    one = await counting()
    one.analytics.fails = {each: failure("server", 500) for each in FAILS[which]}
    calls, errors = one.analytics.calls, list[int]()
    for _ in range(360 if SOAKING else 150):
        before = sum(calls[each] for each in FAILS[which])
        await minutes(one, 1)
        errors.append(sum(calls[each] for each in FAILS[which]) - before)
    assert max(sum(errors[at : at + 60]) for at in range(len(errors) - 59)) <= 3


@pytest.mark.parametrize("bad", [300, *[307, 314, 321] * SOAKING])
async def test_the_end_of_an_outage(bad: int) -> None:
    """A provider that was down for hours is found well again within 25 minutes."""
    one = await counting()
    one.analytics.fails = {each: failure("server", 500) for each in FAILS["both"]}
    await minutes(one, bad)
    one.analytics.fails = {}
    assert "fresh" in await minutes(one, 25)


def elsewhere(one: Counting, source: str = "another property") -> Counting:
    """Return a process that was started with another property, on the same store."""
    return Counting(one.clock, store=one.kept, holder="restarted", source=source)


@each_case("cause", ["day", "hour", "forbidden", "refused", "unauthorized"])
async def test_another_property(cause: Cause) -> None:
    """What one property or account refused does not hold back another one."""
    one = await counting()
    one.analytics.fails = {each: failure(cause) for each in FAILS["both"]}
    await minutes(one, 1)
    assert (await elsewhere(one).refresh.run()).ok


async def test_another_property_s_tokens() -> None:
    """A day that is used up is that of one property."""
    one = Counting()
    one.analytics.quotas = Quotas(QuotaState(10, 3), QuotaState(10, 1000))
    await minutes(one, 5)
    assert not (await one.refresh.run()).ok
    one.clock.advance(60)
    assert (await elsewhere(one).refresh.run()).ok


async def test_the_budget_of_an_earlier_release() -> None:
    """What an earlier release kept in another shape is deleted; the budget of this one stays."""
    one = await counting()
    _ = await one.kept.commit([Put(keys.OLD_BUDGET, b'{"v":1}')])
    await one.budget.forget_earlier()
    assert await one.kept.get(keys.OLD_BUDGET) is None
    assert await one.stored(keys.QUOTA)


@pytest.mark.parametrize("cause", ["forbidden", "refused", "unauthorized"])
async def test_a_restart_after_the_owner_has_mended_it(cause: Cause) -> None:
    """A process that starts looks within 5 minutes whether a refusal still holds, and then all is asked."""
    one = await counting()
    one.analytics.fails = {each: failure(cause) for each in FAILS["both"]}
    await minutes(one, 1)
    again = elsewhere(one, one.source)
    assert told(await minutes(again, 60))[-1][1] >= 56
    assert again.analytics.calls["page"] > 20


async def test_only_the_start_looks_again() -> None:
    """A process that goes on keeps to the hour of a refusal."""
    one = await counting()
    one.analytics.fails = {None: failure("forbidden")}
    await minutes(one, 1)
    calls = one.analytics.calls[None]
    await minutes(one, 59)
    assert one.analytics.calls[None] == calls


@each_case("error", [StoreUnavailable("It is full."), OutcomeUnknown("The answer was lost.", "")])
@each_case("fails", [{}, {"page": failure("server", 500)}])
@each_case("number", [2, 3])
async def test_a_report_outlives_a_failing_store(
    number: int, fails: dict[By | None, AnalyticsFailed | NotConfigured], error: StoreError
) -> None:
    """When only the note of what a query cost cannot be stored, what the queries brought is still written."""
    store = UnreliableStore(MemoryStore(clock := ManualClock()))
    one = Counting(clock, store=store)
    one.analytics.fails = fails

    async def fail_once() -> None:
        if store.commits == number + 1:
            store.commit_errors.append(error)

    store.overtaken_by = fail_once
    outcome = await one.refresh.run()
    assert (outcome.ok, outcome.active, outcome.pages_count) == (True, 12, None if fails else 2)
    assert await one.stored()
    assert (await one.stored(keys.PAGES) is None) == bool(fails)
    assert not store.commit_errors


@pytest.mark.parametrize("number", [0, 1])
async def test_nothing_is_asked_that_cannot_be_charged(number: int) -> None:
    """A store that fails before the calls is told as such, and the provider is not asked."""
    store = UnreliableStore(MemoryStore(clock := ManualClock()))
    one = Counting(clock, store=store)

    async def fail_once() -> None:
        if store.commits == number + 1:
            store.commit_errors.append(StoreUnavailable("It is full."))

    store.overtaken_by = fail_once
    with pytest.raises(StoreUnavailable):
        await one.refresh.run()
    assert one.calls == 0
