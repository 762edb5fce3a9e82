"""What waits for an answer, and why the rest does not: one table for every source (decision 57)."""

from dataclasses import fields, replace
from datetime import UTC, date, timedelta
from itertools import chain
from typing import get_args

import pytest

from orrery.cockpit.waiting import (
    WORDS,
    NotListed,
    Reason,
    SetAsideUntil,
    is_over,
    midnight_after,
    own_reason_of,
    why_not,
)
from orrery.ports.comms.messages import UNKNOWN, MailboxMessage, Person, Source, Standing
from tests.support.clock import START
from tests.support.mailboxes import a_message
from tests.support.tables import each_case

WATCHED = frozenset({"course.lab.example", "all@lab.example"})
BULK = Standing(is_bulk=True, addressed="unnamed", lists=("other.lab.example",))
TODAY = START.astimezone().date()
AN_HOUR = timedelta(hours=1)

STANDINGS: dict[str, tuple[Standing, Reason | None]] = {
    "to me": (UNKNOWN, None),
    "a copy": (Standing(addressed="copy"), "not-to-you"),
    "not to me": (Standing(addressed="unnamed"), "not-to-you"),
    "a newsletter": (BULK, "bulk"),
    "bulk that names me": (Standing(is_bulk=True), "bulk"),
    "a list that is watched": (replace(BULK, lists=("course.lab.example",)), None),
    "one of two lists": (replace(BULK, lists=("other.lab.example", "all@lab.example")), None),
    "answered": (Standing(is_answered=True), "answered"),
    "answered on a list that is watched": (Standing(is_answered=True, lists=("course.lab.example",)), "answered"),
    "flagged complete": (Standing(is_complete=True), "done"),
    "my own": (Standing(is_own=True), "own"),
    "a notice": (Standing(is_notice=True), "no-message"),
    "cancelled": (Standing(is_cancelled=True), "cancelled"),
    "declined": (Standing(is_declined=True), "declined"),
    "declined and cancelled": (Standing(is_declined=True, is_cancelled=True), "cancelled"),
    "answered bulk": (replace(BULK, is_answered=True), "answered"),
}


@each_case("source", get_args(Source))
@each_case("name", STANDINGS)
def test_the_same_for_every_source(name: str, source: Source) -> None:
    """A standing means the same whatever it came by."""
    standing, reason = STANDINGS[name]
    message = replace(a_message(1, source), standing=standing, ends_at=START + AN_HOUR)
    assert why_not(message, own_reason_of(message, WATCHED), START, None) == reason


def test_every_fact_decides() -> None:
    """No field of a standing is without a row of the table in which it differs from its default."""
    named = {
        one.name
        for standing, _ in STANDINGS.values()
        for one in fields(Standing)
        if getattr(standing, one.name) != getattr(UNKNOWN, one.name)
    }
    assert named == {one.name for one in fields(Standing)}


@pytest.mark.parametrize("where", ["to", "cc"])
def test_a_list_is_named_by_its_address(where: str) -> None:
    """A list without headers of its own is known by the address that the mail went to, in any case."""
    everybody = (Person("Everybody", "All@Lab.example"),)
    message = replace(a_message(1), standing=Standing(addressed="unnamed"), **{where: everybody})
    assert own_reason_of(message, WATCHED) is None
    assert own_reason_of(message, frozenset()) == "not-to-you"


MEETINGS = {
    "ahead": (timedelta(hours=1), timedelta(hours=2), False),
    "under way": (-AN_HOUR, AN_HOUR, False),
    "ends now": (-AN_HOUR, timedelta(), True),
    "over": (-2 * AN_HOUR, -AN_HOUR, True),
    "without an end, today": (-AN_HOUR, None, False),
    "without an end, yesterday": (timedelta(days=-1), None, True),
}


@each_case("name", MEETINGS)
def test_meetings_that_are_over(name: str) -> None:
    """A meeting waits until its end; one whose end is not known waits until its day is over."""
    begins, ends, over = MEETINGS[name]
    message = replace(
        a_message(1, "meeting"), received_at=START + begins, ends_at=None if ends is None else START + ends
    )
    assert is_over(message, START) is over
    assert why_not(message, None, START, None) == ("over" if over else None)
    assert why_not(message, "declined", START, None) == ("over" if over else "declined")


def test_only_meetings_are_over() -> None:
    """Mail of last year waits."""
    assert not is_over(replace(a_message(1), received_at=START - timedelta(days=400)), START)


ASIDES = {
    "done": (SetAsideUntil(), "done"),
    "until tomorrow": (SetAsideUntil(TODAY + timedelta(days=1)), "later"),
    "until today": (SetAsideUntil(TODAY), None),
    "until a day that is over": (SetAsideUntil(date(2020, 1, 1)), None),
}


@pytest.mark.parametrize("name", ASIDES)
def test_what_a_person_said(name: str) -> None:
    """It comes first while it holds; on its day the row is as if nobody had said anything."""
    aside, reason = ASIDES[name]
    assert why_not(a_message(1), None, START, aside) == reason
    assert why_not(a_message(1), "bulk", START, aside) == (reason or "bulk")


@pytest.mark.usefixtures("zone")
def test_it_comes_back_at_midnight() -> None:
    """That of this machine, whatever the zone of the clock is."""
    midnight = START.astimezone().replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    aside, before = SetAsideUntil(midnight.date()), midnight - timedelta(seconds=1)
    assert aside.holds(before.astimezone(UTC))
    assert not aside.holds(midnight.astimezone(UTC))
    assert midnight_after(before.astimezone(UTC)) == midnight


def test_the_line() -> None:
    """The most frequent reason first; nothing is said of nothing."""
    counts: dict[Reason, int] = {"bulk": 12, "not-to-you": 9, "answered": 20}
    found = NotListed.of(reason for reason, count in counts.items() for _ in range(count))
    assert str(found) == "41 not listed: 20 answered, 12 bulk, 9 not to you"
    assert found.count == 41
    assert str(NotListed.of([])) == ""
    assert str(NotListed.of("done" for _ in range(1200))) == "1,200 not listed: 1,200 done"


def test_every_reason_has_its_words() -> None:
    """They differ, and none is a reason that nothing gives."""
    assert {*WORDS} == {*get_args(Reason)}
    assert len({*WORDS.values()}) == len(WORDS)
    said = {reason for _, reason in chain(STANDINGS.values(), ASIDES.values()) if reason}
    assert {*WORDS} - said == {"earlier", "over"}, "those of a conversation, and of the time"


def test_what_is_not_said_lets_it_wait() -> None:
    """A message of whose standing nothing is known waits."""
    assert own_reason_of(MailboxMessage("mail", "m", "", "", "", "", START), WATCHED) is None
