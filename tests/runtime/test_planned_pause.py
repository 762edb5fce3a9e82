"""A planned pause silences what maintenance explains, and nothing else, and ends (docs/decisions/0089)."""

from dataclasses import replace
from datetime import timedelta
from itertools import product

import pytest

from orrery.errors import Invalid, NotFound
from orrery.ports.health import Finding, Severity
from orrery.runtime.planned_pause import EXPLAINS, LONGEST, PlannedPauses
from tests.runtime.test_watch import HOLD, Desk
from tests.support.clock import WallClock
from tests.support.tables import each_case

LATE = Finding("job: backup", "broken", "It failed.", "See the log.", essential=False)
HOUR = timedelta(hours=1)
SEVERITIES: tuple[Severity, ...] = (2, 3, 4, 5)
EXPLAINED = [f"{one}a" for one in EXPLAINS]
NOT_EXPLAINED = ["secret push_token", "fraud clusters", "dispute: du_1", "sales of another store"]


def pauses(desk: Desk) -> PlannedPauses:
    """Return the pauses of a process that has just started."""
    return PlannedPauses(desk.store, desk.clock)


@each_case(
    ("part", "severity", "begun"), product([*EXPLAINED, *NOT_EXPLAINED], SEVERITIES, ["before", "within", "after"])
)
async def test_each_part_in_each_state(part: str, severity: Severity, begun: str) -> None:
    """Held is what maintenance breaks, below 5, that begins within the pause; at its end it is pushed."""
    desk = Desk()
    found = Finding(part, "broken", "x", essential=False, severity=severity)
    await desk.looks(2, *([found] if begun == "before" else []))
    await pauses(desk).begin(HOUR, "New disks.")
    await desk.looks(10, *([] if begun == "after" else [found]))
    is_held = part in EXPLAINED and severity < 5 and begun == "within"
    assert await desk.told() == ([] if is_held or begun == "after" else [f"Broken: {part}"])
    desk.clock.advance(HOUR.total_seconds())
    await desk.looks(2, found)
    assert await desk.told() == [f"Broken: {part}"]


async def test_what_ends_within_it_is_never_pushed() -> None:
    """What broke and works again within a pause causes neither push."""
    desk = Desk()
    await pauses(desk).begin(HOUR, "New disks.")
    await desk.looks(5, LATE)
    await desk.looks(60 + HOLD)
    assert await desk.told() == []


async def test_what_becomes_urgent_is_pushed() -> None:
    """A problem of the pause that becomes urgent is pushed within it, and not again at its end."""
    desk = Desk()
    await pauses(desk).begin(HOUR, "New disks.")
    await desk.looks(5, LATE)
    await desk.looks(2, replace(LATE, severity=5))
    assert await desk.told() == ["Broken: job: backup"]
    await desk.looks(80, LATE)
    assert await desk.told() == ["Broken: job: backup"]


async def test_what_is_held_explains_nothing_urgent() -> None:
    """An urgent problem that follows from one that is held is pushed; a lesser one waits with it."""
    desk = Desk()
    await pauses(desk).begin(HOUR, "New disks.")
    follows = Finding("preflight", "broken", "x", essential=False, cause=LATE.part)
    await desk.looks(5, LATE, follows)
    assert await desk.told() == []
    await desk.looks(2, LATE, replace(follows, severity=5))
    assert await desk.told() == ["Broken: preflight"]


@each_case("how", ["by itself", "by hand", "by a shorter one", "after a restart"])
async def test_its_end(how: str) -> None:
    """However it ends, what is still broken is pushed at the next look, and the next process knows of it, too."""
    desk = Desk()
    await pauses(desk).begin(HOUR, "New disks.")
    await desk.looks(30, LATE)
    if how == "by hand":
        await pauses(desk).end()
    if how == "by a shorter one":
        await pauses(desk).begin(timedelta(minutes=1), "Nearly done.")
        await desk.looks(1, LATE)
    if how in {"by itself", "after a restart"}:
        desk.watch = desk.another() if how == "after a restart" else desk.watch
        await desk.looks(29, LATE)
        assert await desk.told() == []
        await desk.looks(1, LATE)
    await desk.looks(1, LATE)
    assert await desk.told() == ["Broken: job: backup"]
    assert await pauses(desk).running() is None


async def test_one_that_is_made_longer_began_when_it_began() -> None:
    """What began within the first half is held in the second, too."""
    desk = Desk()
    await pauses(desk).begin(HOUR, "New disks.")
    await desk.looks(50, LATE)
    longer = await pauses(desk).begin(HOUR, "It takes longer.")
    await desk.looks(50, LATE)
    assert (await desk.told(), await pauses(desk).running()) == ([], longer)


@each_case("back", [timedelta(minutes=10), timedelta(hours=5), timedelta(days=400)])
async def test_a_clock_that_is_put_back_prolongs_nothing(back: timedelta) -> None:
    """A pause that would begin in the future only is over."""
    desk = Desk()
    desk.clock = WallClock()
    desk.watch = desk.another()
    _ = await pauses(desk).begin(HOUR, "New disks.")
    desk.clock.put(-back)
    assert await pauses(desk).running() is None


async def test_its_limits() -> None:
    """It lasts no longer than 12 hours, and only one that runs can be ended."""
    desk = Desk()
    with pytest.raises(Invalid, match="12 h at most"):
        _ = await pauses(desk).begin(LONGEST + timedelta(minutes=1), "x")
    for reason in ("", " ", "Ask ann@example.org."):
        with pytest.raises(Invalid, match="reason"):
            _ = await pauses(desk).begin(HOUR, reason)
    with pytest.raises(NotFound):
        await pauses(desk).end()
    assert (await pauses(desk).check(), await pauses(desk).panel()) == ([], None)


async def test_views_show_it() -> None:
    """The list of findings and the owner's page show until when it runs, why, and how it is ended."""
    desk = Desk()
    _ = await pauses(desk).begin(HOUR, "New disks.")
    (finding,) = await pauses(desk).check()
    panel = await pauses(desk).panel()
    assert (finding.state, finding.why) == ("ok", "Until 2026-03-01 13:00 UTC: New disks.")
    assert panel
    assert panel.headline == "Until 2026-03-01T13:00:00Z: New disks."
    assert finding.todo == panel.todo == "`orrery pause --end` ends it."
