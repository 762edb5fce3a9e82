"""What the public reads answer, and how old a count may be (spec 2; decisions 19, 20, 22 and 27)."""

import json
import re
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.live.answers import CachedAnswer, cosmos, site
from orrery.live.freshness import Freshness, age, freshness, until_next
from orrery.live.records import Active, PageCount, Pages, Snapshot
from tests.support.clock import START
from tests.support.tables import each_case

AGES = st.integers(0, 2_000_000).map(lambda milliseconds: milliseconds / 1000)
"""Ages in seconds, as exact as a stored time is."""
HOME = PageCount(page="Home", path="/", users=9)


def snapshot(count: int = 12, age: float = 0, pages_age: float | None = None) -> Snapshot:
    """Return what the store holds `age` seconds after it was counted."""
    pages = None if pages_age is None else Pages(pages=(HOME,), generated_at=_before(pages_age))
    return Snapshot(Active(active=count, generated_at=_before(age)), pages)


def _before(seconds: float) -> datetime:
    return START - timedelta(seconds=seconds)


def said(answer: CachedAnswer) -> dict[str, Any]:
    """Return the body."""
    return json.loads(answer.body)


def directives(answer: CachedAnswer) -> dict[str, int]:
    """Return the figures of `Cache-Control`."""
    return {name: int(value) for name, value in re.findall(r"([a-z-]+)=(\d+)", answer.cache_control.decode())}


def test_the_site_read() -> None:
    """It has exactly the fields of the specification, in its shapes."""
    assert said(site(snapshot(12, 34.7, 34.7), START)) == {
        "active": 12,
        "pages": [{"page": "Home", "path": "/", "users": 9}],
        "generated_at": "2026-03-01T11:59:25.300000Z",
        "age_s": 34,
        "stale": False,
        "window_minutes": 30,
        "pages_generated_at": "2026-03-01T11:59:25.300000Z",
        "pages_age_s": 34,
    }


def test_older_pages_tell_their_own_age() -> None:
    """Pages that were counted before the total say when (decision 43)."""
    told = said(site(snapshot(12, 20, 1200), START))
    assert (told["age_s"], told["pages_age_s"], told["pages_generated_at"]) == (20, 1200, "2026-03-01T11:40:00Z")


def test_nobody_is_on_no_page() -> None:
    """A zero never stands over pages with people on them: the pages, which may be older, give way."""
    told = said(site(snapshot(0, 20, 1200), START))
    assert (told["active"], told["pages"], "pages_age_s" in told, "error" in told) == (0, [], False, False)


def test_the_time_that_was_counted_over() -> None:
    """An answer tells over how many minutes its count was taken, whatever the settings are by now."""
    counted = Snapshot(Active(active=3, generated_at=START, window_minutes=5))
    assert [said(compose(counted, START))["window_minutes"] for compose in (site, cosmos)] == [5, 5]
    assert said(cosmos(Snapshot(), START))["window_minutes"] is None


def test_the_cosmos_read() -> None:
    """It has exactly the fields of the specification, in its shapes."""
    assert said(cosmos(snapshot(12, 200), START)) == {
        "totalUnique": 12,
        "scope": "cosmos",
        "generated_at": "2026-03-01T11:56:40Z",
        "age_s": 200,
        "stale": True,
        "window_minutes": 30,
    }


@pytest.mark.parametrize("count", [0, 1, 2**53 - 1])
def test_a_true_zero_is_a_count(count: int) -> None:
    """A fresh count is told as it is, zero like any other, without an error (decision 21)."""
    answer = said(cosmos(snapshot(count, 1), START))
    assert (answer["totalUnique"], answer["stale"], "error" in answer) == (count, False, False)


def test_too_old() -> None:
    """Beyond 30 minutes the count is forced to 0, the pages are emptied, and the reason is told."""
    answer = said(site(snapshot(12, 1801, 100), START))
    assert (answer["active"], answer["pages"], answer["stale"], answer["error"]) == (0, [], True, "data-too-stale")
    assert answer["age_s"] == 1801
    assert answer["generated_at"] is not None


@pytest.mark.parametrize("compose", [site, cosmos])
def test_empty(compose: Any) -> None:  # noqa: ANN401  either composer
    """Without a value the answer is 0, stale, without time and age, and says no-data."""
    answer = said(compose(Snapshot(), START))
    assert (answer["generated_at"], answer["age_s"], answer["stale"]) == (None, None, True)
    assert answer["error"] == "no-data"
    assert answer.get("active", answer.get("totalUnique")) == 0


def test_trouble_is_hardly_kept() -> None:
    """An answer without a count may be put right at any moment, so no cache keeps it for more than 5 s."""
    too_old = cosmos(snapshot(12, 1801), START), site(snapshot(12, 1801, 1801), START)
    for answer in (cosmos(Snapshot(), START), cosmos(Snapshot(), START, reachable=False), *too_old):
        assert answer.cache_control == b"public, max-age=0, s-maxage=5"


def test_times_are_told_in_utc() -> None:
    """A value that somebody stored in another time zone is told in UTC."""
    elsewhere = Active(active=1, generated_at=START.astimezone(timezone(timedelta(hours=2))))
    assert said(cosmos(Snapshot(elsewhere), START))["generated_at"] == "2026-03-01T12:00:00Z"


def test_from_the_future() -> None:
    """A value from more than 60 s ahead is no data."""
    assert said(cosmos(snapshot(12, -61), START))["error"] == "no-data"
    assert said(cosmos(snapshot(12, -60), START))["age_s"] == 0


@pytest.mark.parametrize(("pages_age", "shown"), [(1800, True), (1801, False), (-61, False)])
def test_pages_grow_old_by_themselves(pages_age: float, shown: bool) -> None:  # noqa: FBT001  a parameter
    """Pages older than 30 minutes are dropped even when the total is fresh."""
    assert bool(said(site(snapshot(12, 5, pages_age), START))["pages"]) is shown


@pytest.mark.parametrize(("age", "error"), [(100, None), (1700, None), (1900, "kv-not-bound")])
def test_a_store_that_cannot_be_reached(age: float, error: str | None) -> None:
    """What is held goes on being served while it may be; then the store is named as the reason."""
    answer = said(cosmos(snapshot(12, age), START, reachable=False))
    assert answer.get("error") == error
    assert said(cosmos(Snapshot(), START, reachable=False))["error"] == "kv-not-bound"


@given(AGES, st.none() | AGES)
def test_no_cache_keeps_an_answer_beyond_its_state(age: float, pages_age: float | None) -> None:
    """s-maxage ends by the next boundary, after 60 s at most, and stale-if-error by the 30th minute."""
    answer = site(snapshot(12, age, pages_age), START)
    figures = directives(answer)
    assert figures["max-age"] == 0
    assert 1 <= figures["s-maxage"] <= 60
    boundary = 180 if age < 180 else 1800
    if age <= 1800:
        second = 1  # a cache that keeps nothing would pass on every request in the last moment
        assert figures["s-maxage"] <= max(boundary - age, second)
        assert age + figures["s-maxage"] + figures["stale-if-error"] <= max(1800, age + second)
        assert age + figures["s-maxage"] + figures["stale-while-revalidate"] <= max(boundary, age + second)
    else:
        assert "stale-if-error" not in figures


@given(st.floats(0, 100))
def test_the_validator_is_the_same_for_the_same_count(age: float) -> None:
    """The ETag is weak and is of the time counted and the state, not of the age."""
    counted = Snapshot(Active(active=3, generated_at=START))
    one, two = cosmos(counted, START), cosmos(counted, START + timedelta(seconds=age))
    assert one.etag == two.etag
    assert re.fullmatch(rb'W/"[\x21\x23-\x7e]+"', one.etag)
    assert cosmos(counted, START + timedelta(seconds=180)).etag != one.etag
    assert cosmos(Snapshot(Active(active=3, generated_at=_before(1))), START).etag != one.etag


def test_titles_are_passed_on_as_they_are() -> None:
    """A page's title is text in any language; JSON is the only thing that it is quoted for."""
    title = 'Bücher </script> "日本" \u2028'
    pages = Pages(pages=(PageCount(page=title, path=None, users=1),), generated_at=START)
    answer = said(site(Snapshot(Active(active=1, generated_at=START), pages), START))
    assert answer["pages"] == [{"page": title, "path": None, "users": 1}]


ORDER: list[Freshness] = ["fresh", "stale", "too-old"]


@each_case(
    ("seconds", "state"),
    [
        (0, "fresh"),
        (179.999, "fresh"),
        (180, "stale"),
        (1800, "stale"),
        (1800.001, "too-old"),
        (86_400, "too-old"),
    ],
)
def test_the_boundaries(seconds: float, state: Freshness) -> None:
    """Fresh is below 180 s, stale from 180 to 1800 s inclusive, too old above."""
    assert freshness(timedelta(seconds=seconds)) == state


@given(st.timedeltas(timedelta(0), timedelta(days=400)), st.timedeltas(timedelta(0), timedelta(days=400)))
def test_a_value_never_becomes_fresher(one: timedelta, two: timedelta) -> None:
    """Of two ages the higher is never in an earlier state."""
    younger, older = sorted((one, two))
    assert ORDER.index(freshness(younger)) <= ORDER.index(freshness(older))


@given(st.timedeltas(timedelta(0), timedelta(days=2)))
def test_the_time_to_the_next_state(found: timedelta) -> None:
    """A value keeps its state for as long as is told, and has the next one right after."""
    left = until_next(found)
    if left is None:
        assert freshness(found) == "too-old"
        return
    tick = timedelta(microseconds=1)
    assert freshness(found + max(left - tick, timedelta(0))) == freshness(found)
    assert freshness(found + left + tick) != freshness(found)


@given(st.timedeltas(timedelta(seconds=-60), timedelta(days=400)))
def test_the_age_is_what_has_passed(passed: timedelta) -> None:
    """The age is the time since, and zero for what a clock slightly ahead has written."""
    assert age(START, START + passed) == max(passed, timedelta(0))


@given(st.timedeltas(timedelta(seconds=60, microseconds=1), timedelta(days=400)))
def test_a_time_in_the_future_is_not_believed(ahead: timedelta) -> None:
    """A value from more than a minute ahead is corrupt, which is no data."""
    assert age(START + ahead, START) is None
    assert freshness(None) == "empty"
    assert until_next(None) is None
