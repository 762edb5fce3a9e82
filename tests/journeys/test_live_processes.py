"""Several services on one store: one of them asks the provider, also when that one is killed (decision 26)."""

import random
import signal
import sqlite3
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial

import httpx2
import pytest

from orrery.live import keys
from orrery.live.records import Active, Pages
from tests.journeys.live_counter import PAGES, REFRESH, TOTAL, USUAL, LiveCounter
from tests.support.deployment import CounterSettings, Deployment, beside_a_sandbox
from tests.support.program import Program
from tests.support.soak import rounds
from tests.support.visiting import expect_equal
from tests.support.waiting import eventually

TICKS = 5

KILLED_AT_ONCE = 4
LONGEST_REFRESH = 0.03
"""Real seconds, from a request on, within which the kill of its service falls."""


@dataclass
class Pair:
    """Two services over one store that refresh by themselves."""

    programs: list[Program]
    first: LiveCounter
    second: LiveCounter

    @property
    def shop(self) -> Deployment:
        """The deployment that they are of."""
        return self.first.shop

    @contextmanager
    def only_first_asks(self) -> Generator[None]:
        """Let the next minute come while the second stands still; it goes on once the first has asked."""
        before = self.first.asked()
        self.stop(self.programs[1])
        try:
            self.first.next_minute()
            eventually(lambda: expect_equal(self.first.asked() - before, {TOTAL: 1, PAGES: 1}))
            yield
        finally:
            self.programs[1].process.send_signal(signal.SIGCONT)

    def stop(self, program: Program) -> None:
        """Let a service stand still, but not in the middle of a write: nobody else could write then."""
        eventually(partial(self._stop_between_writes, program))

    def _stop_between_writes(self, program: Program) -> None:
        program.process.send_signal(signal.SIGSTOP)
        with closing(sqlite3.connect(self.shop.store, timeout=0, isolation_level=None)) as database:
            try:
                database.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                program.process.send_signal(signal.SIGCONT)
                raise AssertionError("it writes at this moment") from None
            database.execute("ROLLBACK")

    def await_shown(self, visitors: int) -> None:
        """Wait until both show this count as fresh, and until neither is in the middle of a tick any more.

        A service whose tick ends after the clock was moved on makes no further one for that minute.
        """
        eventually(partial(self.expect_shown, visitors))
        for counter in (self.first, self.second):
            counter.refresh()

    def expect_shown(self, visitors: int) -> None:
        """Fail, for now, unless both show this count as fresh."""
        for counter in (self.first, self.second):
            assert (counter.site()["active"], counter.site()["stale"]) == (visitors, False)


@pytest.fixture(scope="module")
def running_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Run two services for the tests of this module."""
    deployment = Deployment(tmp_path_factory.mktemp("pair"), counter=CounterSettings(refresh=True))
    with beside_a_sandbox(deployment) as shop:
        second, base_url = shop.launch_another_service()
        first = shop.start_service()
        shop.await_answer(second, base_url)
        yield Pair([first, second], LiveCounter(shop), LiveCounter(shop, base_url))


@pytest.fixture
def pair(running_pair: Pair) -> Iterator[Pair]:
    """Lend the pair to a test, at the begin of a minute in which it has counted already."""
    running_pair.shop.sandbox.visitors(USUAL)
    running_pair.first.next_morning()
    running_pair.await_shown(USUAL)
    yield running_pair
    running_pair.shop.sandbox.clear_faults()


def test_two_services(pair: Pair) -> None:
    """Two services ask once a minute between them, and both show what was counted."""
    before, begun = pair.first.asked(), pair.first.minute()
    for visitors in range(1, TICKS + 1):
        pair.shop.sandbox.visitors(visitors)
        pair.first.next_minute()
        pair.await_shown(visitors)
    eventually(lambda: expect_equal((pair.first.asked() - before)[TOTAL], pair.first.minute() - begun))


def test_killed_while_asking(pair: Pair) -> None:
    """The service that waits for the provider is killed (`kill -9`): at its next tick the other takes over."""
    pair.shop.sandbox.fault("analytics_timeout", count=2)
    with pair.only_first_asks():
        pair.programs[0].kill()
    pair.shop.sandbox.visitors(USUAL + 1)
    eventually(partial(expect_taken_over, pair))
    pair.programs[0] = pair.shop.start_service()
    pair.expect_shown(USUAL + 1)


def expect_taken_over(pair: Pair) -> None:
    """Fail, for now, until the second service has counted one visitor more; let some seconds pass."""
    pair.shop.sandbox.advance(5)
    assert pair.second.site()["active"] == USUAL + 1


def test_killed_at_any_moment(counter: LiveCounter) -> None:
    """Whenever a refresher is killed, what is stored can be read and is of one count; the next one refreshes."""
    dice, shop = random.Random(23), counter.shop  # noqa: S311  moments, not secrets
    counter.refresh()
    for _ in range(rounds(1)):
        started = [shop.launch_another_service() for _ in range(KILLED_AT_ONCE)]
        for number, (program, base_url) in enumerate(started):
            shop.await_answer(program, base_url)
            victim = LiveCounter(shop, base_url)
            counter.next_minute()
            victim.refresh()  # the first one takes longer: it fetches a token
            shop.sandbox.visitors(visitors := USUAL + number)
            counter.next_minute()
            refresh_and_kill(victim, program, dice.uniform(0, LONGEST_REFRESH))
            see_one_count(counter)
            counter.next_minute()
            assert counter.refresh()["active"] == visitors


def refresh_and_kill(counter: LiveCounter, program: Program, life: float) -> None:
    """Let a service refresh, and kill it so many seconds after it was told to."""
    with ThreadPoolExecutor(1) as pool:
        told = pool.submit(counter.ask, "POST", REFRESH)
        program.kill_within(life)
        with suppress(httpx2.TransportError):
            told.result()


def see_one_count(counter: LiveCounter) -> None:
    """See that total and pages can be read, and were written together."""
    stored = counter.shop.records.scan("realtime:")
    active, pages = Active.from_bytes(stored[keys.ACTIVE]), Pages.from_bytes(stored[keys.PAGES])
    assert active.generated_at == pages.generated_at
