"""A store that cannot be used is one urgent push that needs no store, and one all-clear at its end."""

import asyncio
from collections.abc import Sequence

import pytest

from orrery.adapters.memory import MemoryStore
from orrery.adapters.unavailable_store import UnavailableStore
from orrery.errors import StoreError, StoreUnavailable
from orrery.ports.health import Finding
from orrery.ports.notifier import DeliveryFailed, OutgoingMessage
from orrery.ports.store import Store
from orrery.runtime.outbox import Outbox
from orrery.runtime.store_probe import broken_store
from orrery.runtime.watch import OutageWatch
from tests.support.clock import ManualClock
from tests.support.hasty_loop import run_ahead, run_without_pauses
from tests.support.notifiers import ScriptedNotifier
from tests.support.unreliable_store import UnreliableStore

FULL = broken_store("The disk is full.", "Ask `orrery doctor`.")
WELL = Finding("store", "ok", essential=True)
JOB = Finding("job: reconcile", "broken", "The disk is full.", essential=False, cause="store")
AWAY = DeliveryFailed("The push service cannot be reached.", permanent=False)
MINUTE = 6


class Watched:
    """Health rounds of a process whose store takes no commit while it is broken."""

    def __init__(self, push: ScriptedNotifier | None = None) -> None:
        self.clock = ManualClock()
        self.store = UnreliableStore(MemoryStore(self.clock))
        self.push = push or ScriptedNotifier()
        self.findings: list[Finding] = []
        self.watch = self.another(self.store)

    def another(self, store: Store) -> OutageWatch:
        """Return the watch of a process over a store."""
        return OutageWatch(store, self.clock, self._look, self.push)

    async def _look(self) -> Sequence[Finding]:
        return self.findings

    async def rounds(self, count: int, *findings: Finding, commits: bool = False) -> None:
        """Look every ten seconds; while the store is broken it fails every commit, or none."""
        self.findings = list(findings)
        for _ in range(count):
            fails = FULL in findings and not commits
            self.store.commit_errors = [StoreUnavailable("The disk is full.")] if fails else []
            try:
                await self.watch.notify()
            except StoreError:
                assert fails
            self.clock.advance(10)

    async def enqueued(self) -> list[tuple[str, str]]:
        """Return title and text of what went through the outbox."""
        return [(row.title, row.body) async for row in Outbox(self.store, self.clock, {}).rows()]


def test_a_round_that_a_store_delays_is_no_freeze() -> None:
    """A database that hangs makes each round longer than two are apart: its outage is pushed all the same."""

    async def watched() -> list[OutgoingMessage]:
        one = Watched()
        one.findings = [FULL]

        async def slow() -> Sequence[Finding]:
            for _ in range(25):
                passed = asyncio.Event()
                _ = asyncio.get_running_loop().call_later(1, passed.set)
                _ = await passed.wait()
                one.clock.advance(1)
            return one.findings

        watch = OutageWatch(one.store, one.clock, slow, one.push)
        for _ in range(4):
            await watch.notify()
        return one.push.accepted

    assert [one.title for one in run_without_pauses(watched())] == ["Broken: store"]


async def test_one_urgent_push_and_one_all_clear() -> None:
    """An outage of more than a day is pushed once, past the store, and its end once, by the outbox."""
    one = Watched()
    await one.rounds(25 * 60 * MINUTE, FULL)
    (message,) = one.push.accepted
    assert (message.title, message.priority, message.to) == ("Broken: store", "urgent", "")
    assert message.body == "Broken since 2026-03-01 12:00 UTC. The disk is full. Ask `orrery doctor`."
    await one.rounds(60 * MINUTE, WELL)
    end = "Broken since 2026-03-01 12:00 UTC, well since 13:00."
    assert (await one.enqueued(), len(one.push.accepted)) == ([("Works again: store", end)], 1)


@pytest.mark.parametrize("commits", [True, False])
async def test_a_store_that_takes_small_commits_is_pushed_once(commits: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """The outbox adds none about the outage when it works meanwhile, and none about jobs that failed by it."""
    one = Watched()
    await one.rounds(10, FULL, JOB, commits=commits)
    await one.rounds(30, WELL, JOB)
    await one.rounds(11 * MINUTE, WELL)
    assert [message.title for message in one.push.accepted] == ["Broken: store"]
    assert [title for title, _ in await one.enqueued()] == ["Works again: store"]


async def test_what_passes_in_seconds_is_not_pushed() -> None:
    """A lock of some seconds disturbs nobody."""
    one = Watched()
    await one.rounds(3, FULL)
    await one.rounds(11 * MINUTE, WELL)
    assert (one.push.tried, await one.enqueued()) == (0, [])


async def test_a_disk_that_has_room_now_and_then_is_one_outage() -> None:
    """Room for twenty seconds, again and again, is one push; the end comes ten minutes after the last of it."""
    one = Watched()
    for _ in range(100):
        await one.rounds(4, FULL)
        await one.rounds(2, WELL)
    assert (len(one.push.accepted), await one.enqueued()) == (1, [])
    await one.rounds(11 * MINUTE, WELL)
    assert [title for title, _ in await one.enqueued()] == ["Works again: store"]
    await one.rounds(5, FULL)
    assert len(one.push.accepted) == 2


async def test_a_push_service_that_is_away_is_asked_again() -> None:
    """Each later round asks until the push is accepted; the repeats have one id."""
    one = Watched(ScriptedNotifier([AWAY] * 5))
    await one.rounds(30, FULL)
    assert (one.push.tried, len(one.push.accepted)) == (6, 1)


async def test_an_outage_that_nobody_could_be_sent_is_told_at_its_end() -> None:
    """With the push service away all the time, the all-clear says when the store was broken."""
    one = Watched(ScriptedNotifier([AWAY] * 1000))
    await one.rounds(30, FULL)
    await one.rounds(11 * MINUTE, WELL)
    assert await one.enqueued() == [("Works again: store", "Broken since 2026-03-01 12:00 UTC, well since 12:05.")]


async def test_an_all_clear_waits_for_a_store_that_takes_it() -> None:
    """When the outbox cannot take it in that round, a later round gives it."""
    one = Watched()
    await one.rounds(5, FULL)
    await one.rounds(60, WELL)
    one.store.commit_errors = [StoreUnavailable("It is locked.")]
    with pytest.raises(StoreUnavailable):
        await one.watch.notify()
    await one.rounds(2, WELL)
    assert [title for title, _ in await one.enqueued()] == ["Works again: store"]


async def test_the_next_process_reports_the_end() -> None:
    """A process that ends because the store works again leaves its outage to the one that opens the store."""
    one = Watched()
    await one.rounds(5, FULL)
    one.store.commit_errors = []
    await one.watch.hand_over(one.store)
    one.watch = one.another(one.store)
    await one.rounds(30, WELL)
    await one.rounds(2 * 11 * MINUTE, FULL, commits=True)
    assert await one.enqueued() == []  # broken again: nothing is over
    assert len(one.push.accepted) == 2
    await one.rounds(11 * MINUTE, WELL)
    assert [title for title, _ in await one.enqueued()] == ["Works again: store"] * 2  # of each process one


async def test_what_was_not_pushed_is_not_handed_over() -> None:
    """A store that was locked for some seconds at the start needs no all-clear."""
    one = Watched()
    await one.rounds(2, FULL)
    one.store.commit_errors = []
    await one.watch.hand_over(one.store)
    one.watch = one.another(one.store)
    await one.rounds(12 * MINUTE, WELL)
    assert await one.enqueued() == []


class Silent(ScriptedNotifier):
    """A push service that takes the request and does not answer."""

    async def send(self, message: OutgoingMessage) -> None:
        """Wait for ever."""
        self.accepted.append(message)
        await asyncio.Event().wait()


def test_a_store_that_hangs_is_pushed() -> None:
    """A disk that neither answers nor fails holds up each check for some seconds, and no push."""
    one = Watched()
    one.store.scanned = lambda: asyncio.Event().wait()
    one.findings = [FULL]
    for _ in range(4):
        with pytest.raises(StoreUnavailable, match="does not answer"):
            run_ahead(one.watch.notify(), 3600)
        one.clock.advance(20)
    assert [message.title for message in one.push.accepted] == ["Broken: store"]


def test_a_push_service_that_does_not_answer_holds_up_one_round() -> None:
    """The wait has a deadline of its own."""
    one = Watched(Silent())
    one.watch = one.another(UnavailableStore(StoreUnavailable("The disk is full.")))

    def is_sent() -> None:
        assert one.push.accepted

    run_ahead(one.rounds(4, FULL), 3600, is_sent)
    assert len(one.push.accepted) == 1
