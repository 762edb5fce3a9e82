"""What a failure forbids, and until when (decision 25; spec 2, Refresh 2)."""

from datetime import timedelta

import pytest

from orrery.live.plan import Reason, TickPlan, plan
from orrery.live.quota import Obstacle, QuotaBudget
from orrery.ports.analytics import Cause
from tests.live.quotas import (
    BOTH,
    HOUR,
    MIDNIGHT,
    MINUTE,
    NEW,
    NOW,
    after,
    answered,
    next_total,
    nothing,
    planned,
    readable,
    told,
)
from tests.support.tables import each_case

ALL = ("total", "pages", "planets")
WAITS = [
    ("concurrent", timedelta(seconds=30)),
    ("hour", timedelta(minutes=15)),
    ("unauthorized", timedelta(minutes=5)),
    ("day", MIDNIGHT - NOW),
]


def at(minute: float) -> TickPlan:
    """Return the plan of a minute after two bad ones, each of which the total met."""
    return planned(after("server", budget=after("server"), now=NOW + MINUTE), NOW + minute * MINUTE)


def started(budget: QuotaBudget, minute: float) -> TickPlan:
    """Return the first plan of a process that starts so many minutes later."""
    now = NOW + minute * MINUTE
    return plan(budget.at(now).restarted(now), now, BOTH, MINUTE)


@pytest.mark.parametrize(("cause", "wait"), WAITS)
def test_a_back_off_for_all(cause: Obstacle, wait: timedelta) -> None:
    """When the total meets it nothing is asked for its time; then one total probes, and its success ends it."""
    blocked, then = after(cause), NOW + wait
    assert planned(blocked, then - timedelta(seconds=1)) == nothing(cause)
    assert planned(blocked, then) == TickPlan(("total",), {"pages": cause})
    assert planned(answered(blocked, then, "total"), then + MINUTE).run == BOTH


@each_case(("cause", "wait"), WAITS)
@each_case("query", ["pages", "planets", "guided"])
def test_a_back_off_for_all_but_the_total(cause: Obstacle, wait: timedelta, query: str) -> None:
    """What another query meets leaves the total alone, and holds the others back for its time."""
    blocked, then = after(cause, query), NOW + wait
    assert planned(blocked, then - timedelta(seconds=1)) == TickPlan(("total",), {"pages": cause})
    assert readable(blocked, then - timedelta(seconds=1)) == cause
    assert planned(blocked, then).run == BOTH


def test_the_total_does_not_lift_what_the_others_met() -> None:
    """A total that succeeds says nothing about a refusal of others; the success of one of them lifts it."""
    blocked = answered(after("hour", "planets"), NOW + MINUTE, "total")
    assert planned(blocked, NOW + 14 * MINUTE).skipped == {"pages": "hour"}
    assert answered(blocked, NOW + 15 * MINUTE, "pages").blocks == {}


def test_a_success_of_the_same_moment_lifts_nothing_of_the_others() -> None:
    """What one query was refused at the very moment when another was sent is news to that one's success."""
    blocked = answered(after("hour", "planets"), NOW, "pages")
    assert planned(blocked, NOW + MINUTE).skipped == {"pages": "hour"}


def test_what_the_others_met_does_not_lengthen_the_total_s() -> None:
    """A refusal of each lasts its own time."""
    budget = after("day", "pages", budget=after("hour"))
    assert planned(budget, NOW + MINUTE) == nothing("hour")
    assert planned(budget, NOW + 15 * MINUTE).run == ("total",)
    assert planned(answered(budget, NOW + 15 * MINUTE, "total"), NOW + HOUR).skipped == {"pages": "day"}


@pytest.mark.parametrize(("cause", "wait"), [("hour", 15), ("unauthorized", 5)])
def test_a_probe_that_fails(cause: Cause, wait: int) -> None:
    """A probe that meets the same again closes for the same time again."""
    blocked = after(cause)
    again = after(cause, budget=blocked, now=NOW + wait * MINUTE)
    assert next_total(again, NOW + (wait + 1) * MINUTE) == NOW + 2 * wait * MINUTE
    assert planned(again, NOW + 2 * wait * MINUTE).run == ("total",)


def test_a_probe_in_an_hour_that_seemed_empty() -> None:
    """Fifteen minutes after an exhausted hour the total is asked, once, whatever the figures say."""
    low = answered(NEW, NOW - 20 * MINUTE, "total", quotas=told(hour=5))
    blocked = after("hour", budget=low, now=NOW - 19 * MINUTE)
    assert planned(blocked, NOW - 4 * MINUTE).run == ("total",)
    unanswered = after("unreachable", budget=blocked, now=NOW - 4 * MINUTE)
    assert planned(unanswered, NOW - 3 * MINUTE).run == ()


@each_case(("cause", "minutes"), [("thresholded", 15), ("forbidden", 60), ("refused", 60)])
@each_case(("query", "other"), [("total", "pages"), ("pages", "total")])
def test_a_back_off_for_one(cause: Cause, minutes: int, query: str, other: str) -> None:
    """What concerns one query leaves the others alone; after its time it probes, and its success lifts it."""
    blocked, then = after(cause, query), NOW + minutes * MINUTE
    waiting = planned(blocked, then - MINUTE)
    assert (waiting.run, waiting.skipped) == ((other,), {query: cause})
    assert planned(blocked, then).run == BOTH
    assert answered(blocked, then, query).blocks == {}


@pytest.mark.parametrize("cause", ["unreachable", "not-a-report"])
def test_no_back_off(cause: Cause) -> None:
    """Without a usable answer the next tick asks again."""
    assert planned(after(cause), NOW + MINUTE).run == BOTH


@pytest.mark.parametrize("cause", ["unreachable", "not-a-report"])
def test_a_probe_without_an_answer(cause: Cause) -> None:
    """A probe that told nothing is repeated at the next tick, by the total alone."""
    probed = after(cause, budget=after("hour"), now=NOW + 15 * MINUTE)
    assert planned(probed, NOW + 16 * MINUTE) == TickPlan(("total",), {"pages": "hour"})


@each_case("cause", ["hour", "unauthorized", "forbidden"])
@each_case("first", ["total", "pages"])
def test_a_success_of_the_same_moment(first: str, cause: Obstacle) -> None:
    """A total that succeeds beside a failing query lifts nothing, in whichever order the two come back."""
    budget, then = NEW.charged(BOTH, NOW), NOW + timedelta(seconds=1)
    for query in (first, *(each for each in BOTH if each != first)):
        good = query == "total"
        budget = budget.reported(query, told(), then) if good else budget.failed(query, cause, then)
    assert planned(budget, NOW + MINUTE) == TickPlan(("total",), {"pages": cause})


def test_the_longer_back_off() -> None:
    """A shorter back-off does not end a longer one, be it for all or for all but the total."""
    assert next_total(after("concurrent", budget=after("day")), NOW + MINUTE) == MIDNIGHT
    others = after("concurrent", "planets", budget=after("day", "guided"))
    assert planned(others, MIDNIGHT - MINUTE).skipped == {"pages": "day"}


def test_a_refill_that_is_late() -> None:
    """An exhausted day just after midnight is probed in fifteen minutes; after a report it waits for a day."""
    late = after("day", budget=after("day"), now=MIDNIGHT)
    assert next_total(late, MIDNIGHT + MINUTE) == MIDNIGHT + 15 * MINUTE
    told_today = answered(NEW, MIDNIGHT, "total", quotas=told())
    exhausted = after("day", budget=told_today, now=MIDNIGHT + MINUTE)
    assert next_total(exhausted, MIDNIGHT + 2 * MINUTE) == MIDNIGHT + timedelta(days=1)


def test_a_back_off_that_nobody_probes() -> None:
    """Where nothing is scheduled, a back-off of the total's is over an hour after its time."""
    blocked = after("hour")
    assert readable(blocked, NOW + 74 * MINUTE) == "hour"
    assert readable(blocked, NOW + 75 * MINUTE) is None


def test_an_admin_reads_the_total() -> None:
    """A direct read of the total may be the probe after a back-off."""
    blocked = after("hour", now=NOW - 20 * MINUTE)
    assert readable(blocked, NOW, "total") is None


def test_a_server_error_of_the_total() -> None:
    """After one the total is asked at the next tick, alone; its success lets all run again."""
    budget = after("server")
    assert planned(budget, NOW + MINUTE) == TickPlan(("total",), {"pages": "server-errors"})
    assert planned(answered(budget, NOW + MINUTE, "total"), NOW + 2 * MINUTE).run == BOTH


def test_the_last_chance_of_an_hour() -> None:
    """After a second one in a row the total waits for 24 minutes: before a count of two minutes ago is too old."""
    assert at(2) == at(24) == nothing("server-errors")
    assert at(25) == TickPlan(("total",), {"pages": "server-errors"})


def test_a_good_total_is_not_spaced() -> None:
    """Once the total succeeds it is asked every tick again, though the hour bears one error only."""
    budget = after("server", budget=after("server"), now=NOW + MINUTE)
    good = answered(budget, NOW + 25 * MINUTE, "total")
    assert planned(good, NOW + 26 * MINUTE) == TickPlan(("total",), {"pages": "server-errors"})


def test_three_server_errors() -> None:
    """After three nothing is asked until the first one is an hour ago; then the total alone."""
    budget = NEW
    for minute in (0, 1, 25):
        budget = after("server", budget=budget, now=NOW + minute * MINUTE)
    assert planned(budget, NOW + 59 * MINUTE) == nothing("server-errors")
    assert planned(budget, NOW + HOUR) == TickPlan(("total",), {"pages": "server-errors"})


@pytest.mark.parametrize("query", ["pages", "planets"])
def test_a_server_error_of_another_query(query: str) -> None:
    """The others risk one an hour, whichever of them met it, and the total goes on every tick."""
    budget = after("server", query)
    for minute in range(1, 60):
        assert planned(budget, NOW + minute * MINUTE).run == ("total",)
        assert readable(budget, NOW + minute * MINUTE, "guided") == "server-errors"
    assert planned(budget, NOW + HOUR).run == BOTH


def test_others_keep_off_a_failing_total() -> None:
    """While the total's last answer was a server error no other query is a risk beside it."""
    assert readable(after("server"), NOW + MINUTE) == "server-errors"


def test_others_take_turns() -> None:
    """One query at a time runs beside the total, and the one that was asked longest ago is the next."""
    first = planned(NEW, NOW, ALL).run
    second = planned(answered(NEW, NOW, *first), NOW + MINUTE, ALL).run
    assert (first, second) == (("total", "pages"), ("total", "planets"))


@pytest.mark.parametrize(("left", "run"), [(0, 1), (1, 1), (2, 2), (9, 2)])
def test_server_errors_that_the_provider_tells(left: int, run: int) -> None:
    """No more queries run at once than server errors are left, but who reports is asked for the total."""
    budget = answered(NEW, NOW, "total", quotas=told(errors=left))
    assert planned(budget, NOW + MINUTE).run == BOTH[:run]


@pytest.mark.parametrize("cause", ["forbidden", "refused"])
def test_a_start_may_have_mended_it(cause: Obstacle) -> None:
    """A process that starts asks the total once in spite of a refusal that the owner may have ended."""
    blocked = after(cause, "pages", budget=after(cause))
    assert started(blocked, 4.9).run == ()
    assert started(blocked, 5) == TickPlan(("total",), {"pages": cause})


def test_a_start_does_not_mend_a_quota() -> None:
    """A process that starts waits for a refill like any other."""
    assert started(after("day"), 30) == nothing("day")


def test_processes_that_start_again_and_again() -> None:
    """However often a process starts, a refusal is probed every 5 minutes at most."""
    budget, probes = after("forbidden"), list[int]()
    for second in range(10, 1810, 10):
        if "total" in started(budget, second / 60).run:
            probes.append(second)
            budget = after("forbidden", budget=budget, now=NOW + timedelta(seconds=second))
    assert probes == [300, 600, 900, 1200, 1500, 1800]


@pytest.mark.parametrize(("cause", "left"), [("forbidden", {}), ("thresholded", {"pages": "thresholded"})])
def test_what_was_mended_for_the_total_is_mended_for_all(cause: Obstacle, left: dict[str, Reason]) -> None:
    """Once the total is past a refusal of the owner's making, the same refusal of the others is over, too."""
    blocked = after(cause, "pages", budget=after(cause), now=NOW + 14 * MINUTE)
    good = answered(blocked, NOW + 15 * MINUTE, "total")
    assert planned(good, NOW + 16 * MINUTE).skipped == left
