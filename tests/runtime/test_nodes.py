"""Services that share a store know each other: who is there, whose clock is wrong, what differs between them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from orrery.errors import Invalid, NotFound
from orrery.ports.health import Finding, Round
from orrery.ports.store import Store
from orrery.runtime.node_findings import ROTATES, UPGRADES, named, of_clock, of_nodes, of_store
from orrery.runtime.nodes import EVERY, KEPT, PULSE, SILENT, NodeIdentity, Nodes
from orrery.runtime.problems import Problems
from orrery.runtime.watch import OUTAGE, OVER_AFTER, OutageWatch
from tests.runtime.test_watch import Desk
from tests.support.clock import ManualClock
from tests.support.unreliable_store import UnreliableStore

DISK = Finding("disk", "broken", "It is full.", "Make room.", essential=False, of_machine=True)
STORE = Finding("store", "broken", "It is locked.", essential=True)
ROOM = Finding("room", "broken", "It is gone.", essential=True)
KEYS = {"processor_api_key": "1234", "[push]": "abcd", "release": "1.0"}
HOUR = timedelta(hours=1)


class Machine:
    """One service: its clock is wrong by `ahead`, its checks find `findings`."""

    def __init__(self, name: str, store: Store, clock: ManualClock, holder: str = "", **common: str) -> None:
        self.clock, self.ahead = clock, timedelta(0)
        self.findings: list[Finding] = []
        self.common = KEYS | common
        self.nodes = Nodes(store, clock, NodeIdentity(name, holder or name, lambda: self.common))
        self.watch = OutageWatch(
            store, clock, self.look, presence=self.nodes.presence, gives_way=self.nodes.gives_way
        )
        self.problems = Problems(store, clock, self.look)

    async def look(self) -> Sequence[Finding]:
        """Return what a health round finds, as `Findings` puts it together."""
        await self.nodes.look(self.ahead)
        found = [*of_store(self.findings, self.nodes), *of_clock(self.nodes)]
        return [*named(found, self.nodes), *of_nodes(self.nodes)]

    async def beats(self) -> None:
        """Do what its jobs do each ten seconds."""
        await self.watch.notify()
        await self.nodes.pulse(Round(self.clock.now(), await self.look()))

    async def broken(self) -> list[str]:
        """Return the keys of its problems."""
        return [one.key for one in await self.problems.all()]


class Site:
    """Services over one store, and what the owner was told."""

    def __init__(self, *names: str) -> None:
        self.desk = Desk()
        self.clock = self.desk.clock
        self.store = UnreliableStore(self.desk.store)
        self.machines = [self.started(name) for name in names]

    def started(self, name: str, holder: str = "", **common: str) -> Machine:
        """Return another service, which has not begun."""
        return Machine(name, self.store, self.clock, holder, **common)

    async def not_ready(self) -> list[str]:
        """Return what keeps services from being ready."""
        found = [one for machine in self.machines for one in await machine.look()]
        return [one.part for one in found if one.essential and one.state == "broken"]

    async def goes_on(self, time: timedelta, *machines: Machine) -> None:
        """Let the time pass for some of the services, or for all."""
        for _ in range(max(1, time // EVERY)):
            for one in machines or self.machines:
                await one.beats()
            self.clock.advance(EVERY.total_seconds())


async def test_a_node_that_changes_rarely_writes() -> None:
    """A node writes two small commits a minute, and at once what is new."""
    site = Site("a")
    (one,) = site.machines
    for number in range(10 * (PULSE // EVERY)):
        one.ahead = timedelta(milliseconds=number % 40)  # no two looks find quite the same
        await site.goes_on(EVERY)
    assert site.store.commits == 10
    one.findings = [DISK]
    await one.nodes.pulse(Round(site.clock.now(), await one.look()))
    assert site.store.commits == 11
    assert site.machines[0].nodes.known["a"].release == "1.0"


async def test_a_node_that_is_silent_is_missed() -> None:
    """One that did not stop by a signal is a problem after a minute, until it is back or forgotten."""
    site = Site("a", "b")
    a, b = site.machines
    await site.goes_on(SILENT)
    assert await a.broken() == await b.broken() == []
    with pytest.raises(Invalid, match="b runs"):
        await a.nodes.forget("b")
    await site.goes_on(3 * SILENT, a)
    assert await a.broken() == ["node b"]
    (row,) = await site.desk.rows()
    assert (row.title, row.priority) == ("Broken: node b", "high")
    assert row.body.startswith("It has not been heard of since 2026-03-01 12:0")
    await site.goes_on(OVER_AFTER + SILENT)
    assert (await a.broken(), (await site.desk.told())[1:]) == ([], ["Works again: node b"])
    await site.goes_on(3 * SILENT, a)
    _ = await a.nodes.forget("b")
    await site.goes_on(OVER_AFTER + SILENT, a)
    assert (await a.broken(), (await site.desk.told())[2:]) == ([], ["Broken: node b"])
    with pytest.raises(NotFound, match=r"There is no node b\. Those that there are: a\."):
        await a.nodes.forget("b")


async def test_a_node_that_stopped_is_not_missed() -> None:
    """It is listed for a day, and what was found on its machine is neither pushed nor over while it is away."""
    site = Site("a", "b")
    a, b = site.machines
    b.findings = [DISK]
    await site.goes_on(3 * SILENT)
    assert await site.desk.told() == ["Broken: disk on b"]
    await b.nodes.leave()
    await site.goes_on(OVER_AFTER + SILENT, a)
    assert (await a.broken(), await site.desk.told()) == ([], ["Broken: disk on b"])
    assert [(one.name, one.state(a.nodes.now())) for one in a.nodes.all()] == [("a", "ready"), ("b", "stopped")]
    again = site.started("b", "another process")
    again.findings = [DISK]
    await site.goes_on(SILENT, a, again)
    assert (await a.broken(), await site.desk.told()) == (["disk on b"], ["Broken: disk on b"])
    again.findings = []
    await site.goes_on(OVER_AFTER + SILENT, a, again)
    assert await site.desk.told() == ["Broken: disk on b", "Works again: disk on b"]
    await again.nodes.leave()
    site.clock.advance(KEPT.total_seconds())
    await site.goes_on(2 * EVERY, a)
    assert [one.name for one in a.nodes.all()] == ["a"]
    assert [one.key for one in await site.store.scan("node:")] == ["node:a"]


async def test_a_node_that_is_back_and_stops() -> None:
    """Its silence is over, and said to be, though it is away again."""
    site = Site("a", "b")
    a, b = site.machines
    await site.goes_on(EVERY)
    await site.goes_on(3 * SILENT, a)
    await site.goes_on(EVERY)
    await b.nodes.leave()
    await site.goes_on(OVER_AFTER + SILENT, a)
    assert await site.desk.told() == ["Broken: node b", "Works again: node b"]


async def test_a_node_that_stops_while_its_pulse_is_written() -> None:
    """A pulse that reaches the store although it was cancelled does not make the node a silent one."""
    site = Site("a", "b")
    a, b = site.machines
    await site.goes_on(SILENT)
    site.clock.advance(PULSE.total_seconds())
    late = b.nodes.pulse(Round(site.clock.now(), []))

    async def overtake() -> None:
        site.store.overtaken_by = None
        await late

    site.store.overtaken_by = overtake
    await b.nodes.leave()
    await site.goes_on(2 * SILENT, a)
    assert [one.state(a.nodes.now()) for one in a.nodes.all()] == ["ready", "stopped"]


async def test_what_one_machine_has_is_named_by_it() -> None:
    """Each node shows what is broken on either machine, by its name; only a node's own stops it."""
    site = Site("a", "b")
    a, b = site.machines
    a.findings = [DISK]
    b.findings = [DISK, Finding("key", "broken", "It is missing.", essential=True, cause="disk", of_machine=True)]
    await site.goes_on(3 * SILENT)
    for one in (a, b):
        assert sorted(await one.broken()) == ["disk on a", "disk on b", "key on b"]
        ready = [each.part for each in await one.look() if each.essential and each.state == "broken"]
        assert ready == ["key on b"] * (one is b)
    assert (await a.problems.acknowledge("disk on b", None)).acknowledged
    assert [one.key for one in await b.problems.all() if one.acknowledged] == ["disk on b"]
    (row,) = await site.desk.rows()
    assert (row.title, row.body.count("disk on")) == ("Broken: key on b and 2 more", 2)
    b.findings = [STORE]
    assert [one.why for one in await b.look() if one.part == "store"] == ["It is locked. Seen by b."]


async def test_one_node_goes_by_the_words_of_before() -> None:
    """What a release of before has stored, or one node, stays one outage when another node comes and goes."""
    site = Site("a", "b")
    a, b = site.machines
    await site.desk.looks(3, DISK)
    assert await site.desk.told() == ["Broken: disk"]
    a.findings = [DISK]
    await site.goes_on(SILENT, a)
    assert await a.broken() == ["disk"]
    _ = await a.problems.acknowledge("disk", timedelta(days=7))
    await site.goes_on(OVER_AFTER + SILENT)
    assert [(one.key, one.acknowledged) for one in await b.problems.all()] == [("disk on a", True)]
    await b.nodes.leave()
    await site.goes_on(OVER_AFTER + SILENT, a)
    assert [(one.key, one.acknowledged) for one in await a.problems.all()] == [("disk", True)]
    assert await site.desk.told() == ["Broken: disk"]


async def test_what_a_forgotten_node_had_ends_without_a_push() -> None:
    """Its disk is not said to work again: nobody knows."""
    site = Site("a", "b")
    a, b = site.machines
    b.findings = [DISK]
    await site.goes_on(3 * SILENT)
    await b.nodes.leave()
    await a.look()
    _ = await a.nodes.forget("b")
    await site.goes_on(OVER_AFTER + SILENT, a)
    assert await site.desk.told() == ["Broken: disk on b"]
    assert await site.desk.store.scan(OUTAGE) == []


async def test_a_node_without_a_record_is_heard() -> None:
    """Nodes that do not know it leave its outage, which is pushed."""
    site = Site("a", "b")
    a, b = site.machines
    await site.goes_on(EVERY, a)
    b.findings = [DISK]
    for _ in range(SILENT // EVERY):
        await a.beats()
        await b.watch.notify()
        site.clock.advance(EVERY.total_seconds())
    assert await site.desk.told() == ["Broken: disk on b"]


async def test_a_record_that_is_older_than_the_end_of_an_outage() -> None:
    """What counts at the first look is over at once, and nodes that have not read so do not push it again."""
    site = Site("a", "b")
    a, b = site.machines
    await site.goes_on(EVERY)
    b.findings = [replace(DISK, settled=True)]
    await site.goes_on(SILENT)
    b.findings = [replace(DISK, settled=True, state="ok")]
    await b.watch.notify()
    await site.goes_on(EVERY, a)
    await site.goes_on(SILENT)
    assert await site.desk.told() == ["Broken: disk on b", "Works again: disk on b"]


async def test_two_services_of_one_name() -> None:
    """The second is refused once the first is heard of again; one that was killed leaves its name."""
    site = Site("a")
    (first,) = site.machines
    second = site.started("a", "second")
    await site.goes_on(2 * SILENT, first, second)
    assert (await first.broken(), await second.broken()) == ([], ["node name"])
    await site.goes_on(2 * SILENT, second)
    assert await second.broken() == []
    await site.goes_on(SILENT, first, second)
    assert (await first.broken(), await second.broken()) == (["node name"], [])


async def test_all_that_a_machine_has_is_shown() -> None:
    """However much is broken on one machine, the others show all of it, and no node takes it for over."""
    site = Site("a", "b")
    a, b = site.machines
    b.findings = [replace(DISK, part=f"job: {number}") for number in range(40)]
    await site.goes_on(3 * SILENT)
    before = site.store.commits
    await site.goes_on(SILENT)
    assert len(await a.broken()) == len(await b.broken()) == 40
    assert site.store.commits - before == 2 * SILENT // PULSE


@pytest.mark.parametrize(
    ("name", "value", "quiet", "severity"),
    [
        ("processor_api_key", "5678", ROTATES, 4),
        ("[push]", "5678", ROTATES, 3),
        ("release", "1.1", UPGRADES, 3),
    ],
)
async def test_nodes_that_differ(name: str, value: str, quiet: timedelta, severity: int) -> None:
    """The odd one is named, once a rotation or an upgrade would be over, and until they are the same again."""
    site = Site("a", "b")
    site.machines.append(site.started("c", **{name: value}))
    await site.goes_on(quiet - SILENT)
    assert await site.machines[0].broken() == []
    await site.goes_on(2 * SILENT)
    for one in site.machines:
        (found,) = await one.problems.all()
        assert (found.key, found.severity) == (f"nodes: {name}", severity)
        assert found.finding.why == f"{name} on c differs from a and b."
    await site.machines.pop().nodes.leave()
    assert await site.machines[0].broken() == []
