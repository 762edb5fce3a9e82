"""One outage is one push and one all-clear, whatever comes and goes, restarts, races or fails."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.adapters.memory import MemoryStore
from orrery.errors import StoreUnavailable
from orrery.ports.health import Concern, Finding
from orrery.ports.store import Put, Store
from orrery.runtime.outbox import Notification, Outbox
from orrery.runtime.watch import OUTAGE, OVER_AFTER, OutageWatch
from tests.support.clock import ManualClock
from tests.support.secrets_checked import KEY, CheckedSecrets
from tests.support.unreliable_store import UnreliableStore

SECRET = Finding("webhook secret", "broken", "It is missing.", "Put it into its file.", essential=True)
JOB = Finding("job: reconcile", "broken", "The processor answered 500.", essential=False)
BROKEN, WORKS = "Broken: webhook secret", "Works again: webhook secret"
MINUTE = timedelta(minutes=1)
HOLD = OVER_AFTER // MINUTE


class Desk:
    """A watch over findings that a test sets, and what the owner was told."""

    def __init__(self, store: Store | None = None) -> None:
        self.clock = ManualClock()
        self.store = store or MemoryStore(self.clock)
        self.findings: list[Finding] = []
        self.watch = self.another()

    def another(self) -> OutageWatch:
        """Return the watch of another process, or of this one after a restart."""
        return OutageWatch(self.store, self.clock, self._look)

    async def _look(self) -> Sequence[Finding]:
        # No two processes look at quite the same moment.
        self.clock.advance(0.001)
        return list(self.findings)

    async def looks(self, count: int, *findings: Finding) -> None:
        """Look once a minute, while the parts are like this."""
        self.findings = list(findings)
        for _ in range(count):
            await self.watch.notify()
            self.clock.advance(MINUTE.total_seconds())

    async def rows(self) -> list[Notification]:
        """Return what the owner was told, in order."""
        rows = [row async for row in Outbox(self.store, self.clock, {}).rows()]
        return sorted(rows, key=lambda row: row.created_at)

    async def told(self) -> list[str]:
        """Return the titles of what the owner was told."""
        return [row.title for row in await self.rows()]


async def test_one_outage_is_one_push_and_one_all_clear() -> None:
    """However many days it lasts, an outage is told once, and once that it is over, in low priority."""
    desk = Desk()
    await desk.looks(
        3 * 24 * 60, SECRET, Finding("store", "ok", essential=True), Finding("push", "off", essential=True)
    )
    (row,) = await desk.rows()
    assert (row.channel, row.title, row.priority, row.body) == (
        "push",
        BROKEN,
        "urgent",
        "It is missing. Put it into its file. Look: `orrery doctor`.",
    )
    await desk.looks(3 * 24 * 60, Finding("webhook secret", "ok", essential=True))
    _, over = await desk.rows()
    assert (over.title, over.priority) == (WORKS, "low")
    assert over.body == "Broken since 2026-03-01 12:00 UTC, well since 12:00."
    assert await desk.store.scan(OUTAGE) == []


async def test_a_second_outage_of_one_day_is_told_again() -> None:
    """What breaks again after its all-clear is another outage."""
    desk = Desk()
    for _ in range(2):
        await desk.looks(2, SECRET)
        await desk.looks(HOLD + 1)
    assert await desk.told() == [BROKEN, WORKS] * 2


async def test_what_passes_in_seconds_is_not_told() -> None:
    """A part that is broken at one look only, and then well, tells nobody."""
    desk = Desk()
    await desk.looks(1, SECRET)
    await desk.looks(2 * HOLD)
    assert (await desk.told(), await desk.store.scan(OUTAGE)) == ([], [])


async def test_what_comes_and_goes_is_told_once() -> None:
    """A part that is broken now and then is one outage, until it was well for ten minutes."""
    desk = Desk()
    for pause in (1, 1, 1, 5, 9, 1):
        await desk.looks(1, SECRET)
        await desk.looks(pause)
    assert await desk.told() == [BROKEN]
    await desk.looks(10)
    assert await desk.told() == [BROKEN, WORKS]


async def test_a_part_that_judges_over_time_is_told_at_once() -> None:
    """What is an outage by a rule of its own is told at the first look, and is over at the first that says so."""
    desk = Desk()
    settled = Finding("session creation", "broken", "It fails.", "Look.", settled=True, essential=True)
    over = replace(settled, state="ok", why="5 requests failed, and none since then.", todo="")
    await desk.looks(1, settled)
    assert await desk.told() == ["Broken: session creation"]
    await desk.looks(12, settled)
    await desk.looks(1, over)
    (_, works) = await desk.rows()
    assert works.title == "Works again: session creation"
    assert works.body == (
        "Broken since 2026-03-01 12:00 UTC, well since 12:13. 5 requests failed, and none since then."
    )
    assert await desk.store.scan(OUTAGE) == []
    await desk.looks(1, settled)
    assert len(await desk.rows()) == 3


async def test_a_part_that_is_broken_for_too_short_a_time_is_not_told() -> None:
    """What its part calls too early stays suspected, however often it is looked at, and is told when it is due."""
    desk = Desk()
    early = Finding("gateway", "broken", "It is silent.", essential=False, early=True)
    await desk.looks(12, early)
    assert await desk.told() == []
    await desk.looks(3, replace(early, early=False))
    await desk.looks(2 * HOLD, early)
    assert await desk.told() == ["Broken: gateway"]
    await desk.looks(HOLD + 1)
    assert await desk.told() == ["Broken: gateway", "Works again: gateway"]


async def test_an_urgent_part_need_not_be_essential() -> None:
    """The push about it is urgent; it becomes so by a second one where the first was not."""
    desk = Desk()
    silent = Finding("gateway", "broken", "It is silent.", essential=False)
    await desk.looks(3, silent)
    await desk.looks(3, replace(silent, severity=5))
    assert [row.priority for row in await desk.rows()] == ["high", "urgent"]


async def test_a_restart_repeats_nothing_and_loses_nothing() -> None:
    """A process that starts amid an outage does not tell it again, and tells that it is over."""
    desk = Desk()
    await desk.looks(5, SECRET)
    desk.watch = desk.another()
    await desk.looks(5, SECRET)
    desk.watch = desk.another()
    await desk.looks(HOLD + 1)
    assert await desk.told() == [BROKEN, WORKS]


async def test_nothing_is_well_while_nobody_looks() -> None:
    """After a standstill, ten minutes of looking are needed: the jobs of a new process have not run yet."""
    desk = Desk()
    await desk.looks(2, SECRET)
    await desk.looks(1)
    desk.clock.advance(3600)
    desk.watch = desk.another()
    await desk.looks(1)
    await desk.looks(5, SECRET)
    assert await desk.told() == [BROKEN]


async def test_parts_that_break_together_are_one_push() -> None:
    """What one look finds is one push, as urgent as its worst part, and one all-clear."""
    desk = Desk()
    await desk.looks(3, SECRET, JOB)
    await desk.looks(HOLD + 1)
    broken, works = await desk.rows()
    assert (broken.title, broken.priority) == ("Broken: webhook secret and 1 more", "urgent")
    assert works.title == "Works again: job: reconcile and 1 more"
    assert broken.body.splitlines() == [
        "webhook secret: It is missing. Put it into its file. Look: `orrery doctor`.",
        "job: reconcile: The processor answered 500. Look: `orrery doctor`.",
    ]


async def test_a_part_that_becomes_essential_is_told_again() -> None:
    """Another reason is the same outage; that nothing works any more is told."""
    desk = Desk()
    await desk.looks(3, JOB)
    await desk.looks(3, replace(JOB, why="The processor answered 503."))
    await desk.looks(3, replace(JOB, essential=True))
    await desk.looks(3, JOB)
    await desk.looks(3, replace(JOB, essential=True))
    assert [row.priority for row in await desk.rows()] == ["high", "urgent"]
    await desk.looks(HOLD + 1)
    assert len(await desk.rows()) == 3


async def test_what_concerns_something_new_is_told_again() -> None:
    """A push for each look that finds more items, and none for less of the same or for other words."""
    desk = Desk()
    one = replace(JOB, items=("a",))
    await desk.looks(5, one)
    await desk.looks(5, replace(one, items=("a", "b")))
    await desk.looks(5, replace(one, items=("b",), why="Others."))
    assert len(await desk.told()) == 2
    await desk.looks(5, replace(one, items=("b", "c")))
    assert await desk.told() == ["Broken: job: reconcile"] * 3


async def test_what_concerns_one_payment_is_a_push_of_its_own() -> None:
    """It names what it concerns, and no address; nothing is told of its end."""
    desk = Desk()
    concern = Concern("isc2/cissp", 4900, "usd", "a…@example.org", "https://processor.example/pi_1")
    dispute = Finding("dispute:du_1", "broken", "Open.", "Answer.", essential=False, severity=5, concern=concern)
    await desk.looks(3, JOB, dispute)
    second, first = sorted(await desk.rows(), key=lambda row: row.id)
    assert (first.title, second.title) == ("Broken: job: reconcile", "Broken: dispute, 49.00 USD, isc2/cissp")
    assert second.body.startswith("Open. 49.00 USD, isc2/cissp, https://processor.example/pi_1. Answer.")
    await desk.looks(HOLD + 1)
    assert (await desk.told())[2:] == ["Works again: job: reconcile"]


async def test_what_matters_less_explains_nothing() -> None:
    """An urgent part that follows from one that is not is told by itself, in the pushes as in the list."""
    desk = Desk()
    await desk.looks(3, JOB, replace(SECRET, cause=JOB.part))
    assert await desk.told() == [f"{BROKEN} and 1 more"]


async def test_a_vanished_secret_is_one_push() -> None:
    """A service that starts without a secret that was there: one push names it, and not what follows from it."""
    before = CheckedSecrets()
    await before.look()
    process = before.beside("here:8081")
    key = Finding("processor key", "broken", "It is missing.", cause=f"secret {KEY}", essential=True)

    async def findings() -> list[Finding]:
        return [*await process.secrets_check.findings(), key]

    assert process.store
    watch = OutageWatch(process.store, process.clock, findings)
    for _ in range(24 * 60):
        await process.secrets_check.check()
        await watch.notify()
        process.clock.advance(60)
    assert await process.told() == [f"Broken: secret {KEY} and 1 more"]


async def test_a_part_that_is_no_longer_configured() -> None:
    """Taking a broken part out of the settings ends its outage, and the push says why."""
    desk = Desk()
    await desk.looks(2, SECRET)
    await desk.looks(HOLD + 1, Finding("webhook secret", "off", essential=True))
    assert (await desk.rows())[-1].body.endswith("It is no longer configured.")


async def test_push_and_outage_are_one_commit() -> None:
    """When the store fails, neither is there, and the next look does both."""
    clock = ManualClock()
    store = UnreliableStore(MemoryStore(clock))
    desk = Desk(store)
    await desk.looks(1, SECRET)
    store.commit_errors = [StoreUnavailable("The disk is full.")]
    with pytest.raises(StoreUnavailable):
        await desk.looks(1, SECRET)
    assert await desk.told() == []
    desk.clock.advance(60)
    await desk.looks(3, SECRET)
    assert await desk.told() == [BROKEN]


@pytest.mark.parametrize("lost", ["before", "after"])
async def test_a_lost_answer_repeats_nothing(lost: str) -> None:
    """When the answer of the commit is lost, the owner is told once."""
    desk = Desk()
    desk.store = store = UnreliableStore(desk.store)
    desk.watch = desk.another()
    await desk.looks(1, SECRET)
    store.lose = lost
    await desk.looks(3, SECRET)
    assert await desk.told() == [BROKEN]


async def test_processes_that_look_at_once_tell_once() -> None:
    """Ten processes looking at the same moment tell each outage and each all-clear once."""
    desk = Desk()
    desk.store = UnreliableStore(desk.store)
    watches = [desk.another() for _ in range(10)]
    for minute in range(30):
        desk.findings = [SECRET] if minute < 10 else []
        await asyncio.gather(*(watch.notify() for watch in watches))
        desk.clock.advance(60)
    assert await desk.told() == [BROKEN, WORKS]


async def test_a_part_is_well_when_every_process_finds_it_so() -> None:
    """A job that fails in one process of two is an outage until it is well in both."""
    desk = Desk()
    other = desk.another()
    for minute in range(60):
        desk.findings = []
        await other.notify()
        await desk.looks(1, *([JOB] if minute < 30 else []))
    assert await desk.told() == ["Broken: job: reconcile", "Works again: job: reconcile"]


async def test_a_store_that_stays_too_busy_is_an_error() -> None:
    """A look that is overtaken again and again fails, and is tried again at the next minute."""
    clock = ManualClock()
    inside = MemoryStore(clock)
    store = UnreliableStore(inside)
    desk = Desk(store)
    await desk.looks(1, SECRET)
    (entry,) = await inside.scan(OUTAGE)

    async def rewrite() -> None:
        await inside.commit([Put(entry.key, entry.value)])

    store.overtaken_by = rewrite
    with pytest.raises(StoreUnavailable, match="too busy"):
        await desk.looks(1, SECRET)
    assert await desk.told() == []


async def test_an_outage_of_a_newer_version_is_left_as_it_is() -> None:
    """What a newer version wrote stays, and stops no other part from being told."""
    desk, newer = Desk(), b'{"v": 2}'
    await desk.store.commit([Put(OUTAGE + SECRET.part, newer)])
    await desk.looks(3, SECRET, JOB)
    await desk.looks(HOLD + 1)
    entry = await desk.store.get(OUTAGE + SECRET.part)
    assert entry
    assert entry.value == newer
    assert await desk.told() == ["Broken: job: reconcile", "Works again: job: reconcile"]


@pytest.mark.parametrize("value", [b"", b"{", b'{"v": 1}', b"null"])
async def test_a_damaged_outage_is_begun_anew(value: bytes) -> None:
    """A record that is damaged silences nothing."""
    desk = Desk()
    await desk.store.commit([Put(OUTAGE + SECRET.part, value)])
    await desk.looks(3, SECRET)
    await desk.looks(HOLD + 1)
    assert await desk.told() == [BROKEN, WORKS]


@pytest.mark.parametrize("back", [timedelta(hours=5), timedelta(days=400)])
async def test_a_clock_that_is_put_back_silences_nothing(back: timedelta) -> None:
    """An outage that was seen by a wrong clock is told, and ends, by the right one."""
    desk = Desk()
    await desk.looks(1, SECRET)
    desk.clock = ManualClock(desk.clock.now() - back)
    desk.watch = desk.another()
    await desk.looks(3, SECRET)
    assert await desk.told() == [BROKEN]
    await desk.looks(1)
    desk.clock = ManualClock(desk.clock.now() - back)
    desk.watch = desk.another()
    await desk.looks(HOLD + 1)
    assert sorted(await desk.told()) == [BROKEN, WORKS]


MINUTES = st.lists(st.sampled_from(["broken", "well", "restart"]), max_size=60)


@given(MINUTES)
def test_a_push_and_an_all_clear_take_turns(minutes: list[str]) -> None:
    """Whatever comes and goes, alarm and all-clear take turns, and there is none within ten minutes of a fault."""
    asyncio.run(_take_turns(minutes))


async def _take_turns(minutes: list[str]) -> None:
    desk, last_bad = Desk(), None
    for minute in minutes:
        if minute == "restart":
            desk.watch = desk.another()
        if minute == "broken":
            last_bad = desk.clock.now()
        before = len(await desk.told())
        await desk.looks(1, *([SECRET] if minute == "broken" else []))
        titles = await desk.told()
        if titles[before:] == [WORKS]:
            assert last_bad
            assert desk.clock.now() - last_bad > OVER_AFTER
    titles = await desk.told()
    assert titles == ([BROKEN, WORKS] * len(titles))[: len(titles)]
    assert bool(await desk.store.scan(OUTAGE)) or len(titles) % 2 == 0
    await desk.looks(2, SECRET)
    await desk.looks(2 * HOLD)
    assert (await desk.told())[-1] == WORKS
