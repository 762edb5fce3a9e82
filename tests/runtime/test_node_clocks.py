"""Nodes that look at different moments, or by different clocks: none is misled by that, nor by the database's."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Literal

import pytest

from orrery.ports.health import Finding, Round
from orrery.runtime.nodes import EVERY, PULSE, SILENT
from orrery.runtime.watch import OVER_AFTER, OutageWatch
from tests.runtime.test_nodes import DISK, HOUR, ROOM, Machine, Site
from tests.support.clock import ManualClock


@pytest.mark.parametrize("state", ["ok", "broken"])
async def test_a_node_that_was_frozen_after_its_look(state: Literal["ok", "broken"]) -> None:
    """What it found before is old: it neither ends an outage nor begins one."""
    site = Site("a", "b")
    a, b = site.machines
    a.findings = [replace(ROOM, settled=True, state="broken" if state == "ok" else "ok")]
    await site.goes_on(EVERY, a)
    told = await site.desk.told()

    async def frozen() -> Sequence[Finding]:
        site.clock.advance(HOUR.total_seconds())
        return [replace(ROOM, settled=True, state=state)]

    await OutageWatch(site.store, site.clock, frozen, presence=b.nodes.presence).notify()
    assert await site.desk.told() == told


async def test_what_one_machine_finds_well_and_another_broken() -> None:
    """It is pushed once, however sure each of them is."""
    site = Site("a", "b")
    a, b = site.machines
    b.findings = [replace(DISK, settled=True)]
    a.findings = [replace(DISK, settled=True, state="ok")]
    await site.goes_on(2 * SILENT)
    assert await site.desk.told() == ["Broken: disk on b"]


async def test_an_end_that_another_node_finds_first() -> None:
    """What a node saw broken just before the end, and stores just after, is not pushed again."""
    site = Site("a", "b")
    a, b = site.machines
    settled = replace(ROOM, settled=True)
    a.findings = b.findings = [settled]
    await site.goes_on(SILENT)
    a.findings = [replace(settled, state="ok")]

    async def overtake() -> None:
        site.store.overtaken_by = None
        await a.watch.notify()

    site.store.overtaken_by = overtake
    b.findings = [replace(settled, severity=5, items=("more",))]
    await b.watch.notify()
    b.findings = a.findings
    await site.goes_on(SILENT)
    assert await site.desk.told() == ["Broken: room", "Works again: room"]
    a.findings = b.findings = [settled]
    await site.goes_on(2 * EVERY)
    assert (await site.desk.told())[2:] == ["Broken: room"]


@pytest.mark.parametrize("ahead", [HOUR, -HOUR, timedelta(seconds=2.1)])
async def test_a_node_with_a_wrong_clock(ahead: timedelta) -> None:
    """It is not ready, and takes no lease while another node's clock is right; the others are not misled by it."""
    site = Site("a")
    (a,) = site.machines
    wrong = ManualClock(site.clock.now() + ahead)
    b = Machine("b", site.store, wrong)
    b.ahead = ahead
    for _ in range(2 * SILENT // EVERY):
        await site.goes_on(EVERY, a)
        await b.beats()
        wrong.advance(EVERY.total_seconds())
    assert await a.broken() == await b.broken() == ["clock on b"]
    (found,) = [one for one in await b.look() if one.essential]
    assert (found.part, "timedatectl set-ntp true" in found.todo) == ("clock on b", True)
    assert (a.nodes.gives_way(), b.nodes.gives_way()) == (False, True)
    b.ahead = timedelta(seconds=2)
    await b.look()
    assert not b.nodes.gives_way()
    b.ahead = ahead
    await a.nodes.leave()
    await b.look()
    assert not b.nodes.gives_way()  # alone it goes on


@pytest.mark.parametrize("jump", [HOUR, -HOUR, timedelta(seconds=5)])
async def test_a_database_whose_clock_jumps(jump: timedelta) -> None:
    """Every node stays ready and goes on with its jobs, and the one push names the database and what to do."""
    site = Site("a", "b")
    a, b = site.machines
    await site.goes_on(SILENT)
    for one in (a, b):
        one.ahead = jump
        await one.watch.notify()
        assert await site.not_ready() == []
    for _ in range(2 * SILENT // EVERY):
        await site.goes_on(EVERY)
        assert await site.not_ready() == []
    assert (a.nodes.gives_way(), b.nodes.gives_way()) == (False, False)
    assert await a.broken() == await b.broken() == ["database clock"]
    (row,) = await site.desk.rows()
    assert (row.title, row.priority) == ("Broken: database clock", "urgent")
    how = f"{abs(jump).seconds} s {'ahead of' if jump > timedelta(0) else 'behind'} it"
    assert row.body.startswith(
        f"The clock of the database is wrong: those of a and b agree, {how}. On the machine of"
    )
    a.ahead = b.ahead = timedelta(0)
    await site.goes_on(OVER_AFTER + SILENT)
    assert (await site.desk.told(), await a.broken()) == (
        ["Broken: database clock", "Works again: database clock"],
        [],
    )


async def test_a_database_whose_clock_drifts() -> None:
    """While one node says that it is the database's, and the other that it is its own, each look is noted."""
    site = Site("a", "b")
    await site.goes_on(2 * SILENT)
    for step in range(8):
        for one in site.machines:
            one.ahead = timedelta(seconds=0.8 * step)
            await one.watch.notify()
        for one in site.machines:
            await one.nodes.pulse(Round(site.clock.now(), await one.look()))
        site.clock.advance(EVERY.total_seconds())
    assert "Broken: database clock" in await site.desk.told()


@pytest.mark.parametrize("others", [[], [-HOUR]])
async def test_clocks_of_which_none_is_known_to_be_right(others: list[timedelta]) -> None:
    """A node that no other could stand in for is ready, and the push is urgent."""
    site = Site()
    for ahead in (HOUR, *others):
        site.machines.append(Machine("ab"[len(site.machines)], site.store, ManualClock(site.clock.now() + ahead)))
        site.machines[-1].ahead = ahead
    for _ in range(2 * SILENT // EVERY):
        for one in site.machines:
            await one.beats()
            one.clock.advance(EVERY.total_seconds())
        assert await site.not_ready() == []
    why = (
        "The clock of this machine is 3600 s ahead of the database's, and no other node shows which one is right."
    )
    assert (await site.machines[0].problems.all())[0].finding.why == why
    assert {row.priority for row in await site.desk.rows()} == {"urgent"}


async def test_a_clock_that_goes_wrong_while_another_is_right() -> None:
    """The node takes no lease at once; it is not ready when the others could have said that theirs are, too."""
    site = Site("a", "b")
    _, b = site.machines
    await site.goes_on(SILENT)
    b.ahead = HOUR / 900
    _ = await b.look()
    assert b.nodes.gives_way()
    assert await site.not_ready() == []
    await site.goes_on(PULSE + EVERY)
    assert await site.not_ready() == ["clock on b"]


@pytest.mark.parametrize("ahead", [HOUR, -HOUR])
async def test_a_wrong_clock_ends_no_acknowledgement(ahead: timedelta) -> None:
    """What was put aside for a time, or for the longest, is neither forgotten nor pushed by it."""
    site = Site("a", "b")
    a, b = site.machines
    a.findings = b.findings = [ROOM]
    await site.goes_on(SILENT)
    _ = await a.problems.acknowledge("room", HOUR / 2 if ahead == HOUR else None)
    wrong = Machine("b", site.store, ManualClock(site.clock.now() + ahead), "another process")
    wrong.ahead, wrong.findings = ahead, b.findings
    await b.nodes.leave()
    for _ in range(SILENT // EVERY):
        await site.goes_on(EVERY, a)
        await wrong.beats()
    assert [one.key for one in await a.problems.all() if one.acknowledged] == ["room"]
    assert await site.desk.told() == ["Broken: room", "Broken: clock on b"]


@pytest.mark.parametrize("names", ["ab", "abc"])
async def test_a_database_whose_clock_drifts_over_the_limit(names: str) -> None:
    """No node takes another for right that is as wrong as itself, however near to the limit."""
    site = Site(*names)
    await site.goes_on(SILENT)
    for hundredths in range(190, 215):
        for number, one in enumerate(site.machines):
            one.ahead = timedelta(seconds=(hundredths + number) / 100)
        await site.goes_on(EVERY)
        assert await site.not_ready() == []
        assert not all(one.nodes.gives_way() for one in site.machines)
    await site.goes_on(SILENT)
    assert await site.desk.told() == ["Broken: database clock"]


async def test_a_database_whose_clock_is_set_a_little() -> None:
    """A small step over the limit is a jump, too: until each node has looked, none is off the air."""
    site = Site("a", "b")
    for one in site.machines:
        one.ahead = timedelta(seconds=0.3)
    await site.goes_on(SILENT)
    for one in site.machines:
        one.ahead = timedelta(seconds=2.2)
        assert await site.not_ready() == []
    await site.goes_on(SILENT)
    assert (await site.not_ready(), await site.desk.told()) == ([], ["Broken: database clock"])


async def test_a_node_is_off_the_air_only_while_another_one_is_ready() -> None:
    """One whose clock is right, and whose disk is full, does the jobs; the other one answers."""
    site = Site("a", "b")
    a, b = site.machines
    b.ahead = timedelta(seconds=3)
    await site.goes_on(2 * PULSE)
    assert await site.not_ready() == ["clock on b"]
    a.findings = [replace(DISK, essential=True)]
    await site.goes_on(2 * EVERY)
    assert (await site.not_ready(), b.nodes.gives_way()) == (["disk on a"], True)


@pytest.mark.parametrize("ahead", [(4, 5.9, 7), (0, 5, 5), (5.04, 7.04)])
async def test_nodes_describe_the_same_clocks_alike(ahead: tuple[float, ...]) -> None:
    """Each node shows the same parts, and two that agree against the store are told of each other."""
    site = Site(*"abc"[: len(ahead)])
    for one, seconds in zip(site.machines, ahead, strict=True):
        one.ahead = timedelta(seconds=seconds)
    await site.goes_on(PULSE)
    shown = [{one.part for one in await each.look() if one.state == "broken"} for each in site.machines]
    assert all(one == shown[0] for one in shown)
    why = {one.part: one.why for one in await site.machines[0].look()}
    if ahead == (0, 5, 5):
        assert why["clock on b"].endswith("So is that of c: see which ones are right.")


async def test_a_node_is_missed_while_a_clock_jumps_all_the_time() -> None:
    """The half minute in which nothing is concluded is not begun again before its end."""
    site = Site("a", "b")
    a, _ = site.machines
    await site.goes_on(SILENT)
    for number in range(30):
        a.ahead = timedelta(seconds=3 * (number // 2 % 2))
        await site.goes_on(EVERY, a)
    assert "Broken: node b" in await site.desk.told()
