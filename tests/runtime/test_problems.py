"""The one list of problems (decision 59): since when, how severe, what follows, what is put aside."""

from dataclasses import replace
from datetime import timedelta

import pytest

from orrery.adapters.unavailable_store import UnavailableStore
from orrery.errors import Invalid, NotFound, StoreUnavailable
from orrery.ports.health import Finding, count_line, magnitudes
from orrery.runtime.problems import LONGEST, LONGEST_URGENT, Acknowledgement, Problems, named
from tests.runtime.test_watch import HOLD, Desk
from tests.support.clock import START
from tests.support.tables import each_case

LOST = Finding(
    "webhook secret", "broken", "It is missing.", "Put it there: `orrery config check`.", essential=True
)
SLOW = Finding("job: refresh", "broken", "It failed.", "See the log.", essential=False)
OFTEN = Finding("refused notifications", "broken", "1", "List them.", essential=False, items=("one",))
MORE = Finding("refused notifications", "broken", "2", "List them.", essential=False, items=("one", "two"))
DAY = timedelta(days=1)


def problems(desk: Desk) -> Problems:
    """Return the list of a process that has just started."""

    async def found() -> list[Finding]:
        return desk.findings

    return Problems(desk.store, desk.clock, found, desk.watch.of_store)


async def test_a_problem_keeps_its_first_time() -> None:
    """Since when a part is broken outlives the process that saw it first."""
    desk = Desk()
    began = desk.clock.now() + timedelta(milliseconds=1)
    told = Finding("disputes", "broken", "One.", "Answer.", essential=False)
    await desk.looks(5, SLOW, LOST, told, Finding("push", "ok", essential=True))
    found = await problems(desk).all()
    assert [(one.key, one.severity, one.since) for one in found] == [
        ("webhook secret", 5, began),
        ("job: refresh", 4, began),
        ("disputes", 4, began),
    ]
    assert [one.finding.command for one in found] == ["orrery config check", "orrery doctor", "orrery doctor"]


async def test_what_follows_is_not_counted() -> None:
    """A part that is broken because another one is needs no attention of its own; without the other it does."""
    desk = Desk()
    follows = Finding("access check", "broken", "It is missing.", "x", essential=True, cause="webhook secret")
    await desk.looks(1, follows, LOST)
    found = await problems(desk).all()
    assert [(one.key, one.cause) for one in found] == [("webhook secret", ""), ("access check", "webhook secret")]
    assert count_line(found) == "1 needs attention"
    await desk.looks(1, follows)
    assert [one.cause for one in await problems(desk).all()] == [""]


async def test_the_store_itself_is_broken() -> None:
    """While the store fails, its own problem is in the list, since when this process saw it first."""
    desk = Desk(UnavailableStore(StoreUnavailable("It is locked.")))
    broken = Finding("store", "broken", "It is locked.", "Look.", essential=True)
    desk.findings = [broken]
    with pytest.raises(StoreUnavailable):
        await desk.watch.notify()
    began = desk.clock.now()
    desk.clock.advance(300)
    (found,) = await problems(desk).all()
    assert (found.key, found.severity, found.since) == ("store", 5, began)


async def test_put_aside_until_it_changes() -> None:
    """What is acknowledged still counts; nothing is pushed of it until it concerns something new."""
    desk = Desk()
    desk.findings = [OFTEN]
    aside = await problems(desk).acknowledge("refused notifications", None)
    assert (aside.acknowledged, aside.until) == (True, START + LONGEST)
    await desk.looks(60, OFTEN)
    assert (await desk.told(), count_line(await problems(desk).all())) == (
        [],
        "Nothing needs attention, 1 acknowledged",
    )
    await desk.looks(1, MORE)
    assert await desk.told() == ["Broken: refused notifications"]
    await desk.looks(5, OFTEN)
    assert count_line(await problems(desk).all()) == "1 needs attention"
    assert len(await desk.told()) == 1


@each_case("before, after, comes_back", [(9, 12, 1), (12, 99, 0), (12, 3, 0), (99, 100, 1), (1, 9, 0)])
async def test_a_count_changes_with_its_next_power_of_ten(before: int, after: int, comes_back: int) -> None:
    """What is only counted comes back when it has grown by as much as an owner would care about."""
    desk = Desk()
    desk.findings = [replace(SLOW, items=magnitudes("waiting", before))]
    _ = await problems(desk).acknowledge(SLOW.part, None)
    desk.findings = [replace(SLOW, items=magnitudes("waiting", after))]
    (found,) = await problems(desk).all()
    assert found.is_open == bool(comes_back)


async def test_put_aside_while_its_push_is_out() -> None:
    """An acknowledged problem that ends sends no all-clear; one that is brought back is pushed again."""
    desk = Desk()
    await desk.looks(3, SLOW)
    _ = await problems(desk).acknowledge("job: refresh", DAY)
    await desk.looks(5, SLOW)
    _ = await problems(desk).end("job: refresh")
    await desk.looks(2, SLOW)
    assert await desk.told() == ["Broken: job: refresh"] * 2
    _ = await problems(desk).acknowledge("job: refresh", None)
    await desk.looks(HOLD + 2)
    assert await desk.told() == ["Broken: job: refresh"] * 2
    assert await problems(desk).all() == []


async def test_more_severe_is_a_change() -> None:
    """A problem that was put aside while the service was ready comes back when it is no more."""
    desk = Desk()
    desk.findings = [SLOW]
    _ = await problems(desk).acknowledge("job: refresh", None)
    worse = Finding("job: refresh", "broken", "It failed.", "See the log.", essential=True)
    await desk.looks(3, SLOW)
    await desk.looks(2, worse)
    assert [row.priority for row in await desk.rows()] == ["urgent"]
    assert [one.acknowledged for one in await problems(desk).all()] == [False]


async def test_put_aside_for_a_time() -> None:
    """A time ends by itself; of what is most urgent it is a day at most, and of nothing more than a week."""
    desk = Desk()
    desk.findings = [SLOW, LOST]
    with pytest.raises(Invalid, match="for 24 h at most"):
        await problems(desk).acknowledge("webhook secret", 2 * DAY)
    with pytest.raises(Invalid, match="for 7 days at most"):
        await problems(desk).acknowledge("job: refresh", 8 * DAY)
    with pytest.raises(NotFound, match="webhook secret; job: refresh"):
        await problems(desk).acknowledge("no such", None)
    aside = await problems(desk).acknowledge("webhook secret", None)
    assert aside.until == desk.clock.now() + LONGEST_URGENT
    _ = await problems(desk).acknowledge("job: refresh", 2 * DAY)
    desk.clock.advance(DAY.total_seconds() + 1)
    assert [one.key for one in await problems(desk).all() if one.acknowledged] == ["job: refresh"]
    desk.clock.advance(DAY.total_seconds() + 1)
    assert not any(one.acknowledged for one in await problems(desk).all())


def test_a_clock_that_was_put_back_ends_it() -> None:
    """An end that lies further ahead than any may lie was set by a wrong clock, and is over."""
    aside = Acknowledgement(at=START, until=START + 7 * DAY, severity=4)
    assert aside.covers(SLOW, START)
    assert not aside.covers(SLOW, START - DAY)


async def test_what_is_put_aside_stands_for_nothing_else() -> None:
    """What follows from it is shown and pushed by itself."""
    desk = Desk()
    cause = Finding("job: refresh", "broken", "It fails.", "See the log.", essential=False)
    follows = replace(cause, part="job: reconcile", cause=cause.part)
    desk.findings = [cause, follows]
    _ = await problems(desk).acknowledge(cause.part, None)
    await desk.looks(60, cause, follows)
    assert await desk.told() == [f"Broken: {follows.part}"]
    assert count_line(await problems(desk).all()) == "1 needs attention, 1 acknowledged"


async def test_what_only_a_vendor_shows() -> None:
    """A key of `orrery doctor` is put aside, and stays so though no health round finds it, for its time."""
    desk = Desk()
    away = Finding("processor account", "broken", "No answer.", "Wait.", essential=True)
    listed = await problems(desk).among([away])
    _ = await problems(desk).acknowledge("processor account", None, listed, asked=True)
    await desk.looks(23 * 60, SLOW)
    (one,) = await problems(desk).among([away])
    assert (one.acknowledged, await problems(desk).knows("", await problems(desk).all())) == (True, False)
    await desk.looks(2 * 60, SLOW)
    (one,) = await problems(desk).among([away])
    assert (one.acknowledged, await problems(desk).knows("", await problems(desk).all())) == (False, True)


async def test_a_part_of_a_key() -> None:
    """It names the one problem that it is a part of; of several none, and they are listed."""
    desk = Desk()
    await desk.looks(1, SLOW, LOST)
    found = await problems(desk).all()
    assert named("Webhook", found).key == "webhook secret"
    with pytest.raises(Invalid, match=r"Name one of them: webhook secret; job: refresh\."):
        named("e", found)
