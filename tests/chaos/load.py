"""The load: buyers, an owner who signs, somebody who has the visitors counted, whatever they are answered."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime

import httpx2
import psycopg

from orrery.adapters.clock import SystemClock
from orrery.adapters.movable_clock import MovableClock
from orrery.ports.clock import Clock
from tests.chaos.checker import ShownCount, Told
from tests.chaos.shop import ChaosShop
from tests.support.buying import Buyers
from tests.support.marked import ADMIN_PASSWORD
from tests.support.program import run_orrery
from tests.support.ssh_keys import ssh_signed
from tests.support.waiting import IN_CLEAR

BUYERS = 4

OFTEN = 0.3
"""The share of payments whose webhook comes late, twice or out of order."""

PAUSE = 0.2
"""Real seconds between two looks at which live count the store has."""


class Load(Buyers):
    """What is asked of a shop, how often which answer came, and what was told."""

    PATIENCE = 4.0

    def __init__(self, shop: ChaosShop, seed: int) -> None:
        super().__init__(shop.deployment, BUYERS, seed=seed, strange=OFTEN)
        self._chaos, self._clock = shop, MovableClock(shop.deployment.folder / "sandbox" / "clock")
        self.told = Told(self.granted)

    def _others(self) -> list[Callable[[], None]]:
        return [self._approve, self._count, self._watch]

    def _look(self, client: httpx2.Client) -> None:
        """Read the live count at a node: an edge's cache goes by the true time."""
        asked, at = _now(self._clock), _now(SystemClock())
        node = self._dice.choice(self._chaos.nodes)
        answer = self._asked("look", client, "GET", f"{node.address}/api/stats?realtime=1")
        if answer is not None and not answer.json().get("error"):
            found = answer.json()
            made = datetime.fromisoformat(found["generated_at"]).timestamp()
            log = node.config.with_suffix(".log")
            self.told.counts.append(ShownCount(asked, made, found["stale"], log, (at, _now(SystemClock()))))

    def _count(self) -> None:
        """Have one node count the visitors: none does so by itself, or knows by that what the other counted."""
        with httpx2.Client(timeout=self.PATIENCE, verify=IN_CLEAR) as client:
            headers = {"Authorization": f"Bearer {ADMIN_PASSWORD}"}
            address = self._dice.choice(self._chaos.nodes).address
            self._asked("count", client, "POST", f"{address}/api/stats?refresh=realtime", headers=headers)
        self._stopped.wait(PAUSE)

    def _watch(self) -> None:
        """Note when the store was seen to have a live count: it had it by then."""
        with suppress(psycopg.OperationalError):  # no server takes questions now
            for one in self._chaos.ledgers.records("realtime:active").values():
                made = datetime.fromisoformat(one["generated_at"]).timestamp()
                if made <= (now := _now(self._clock)):  # else a clock is wrong, and no node shows it
                    self.told.counted.setdefault(made, now)
        self._stopped.wait(PAUSE)

    def _approve(self) -> None:
        """Propose to block an address, sign it, and have two processes carry it out at once."""
        number = next(self._numbers)
        address = f"9.9.{number // 250}.{number % 250 + 1}"
        proposed = self._typed("fraud", "block", "--ip", address, "--reason", "chaos")
        if proposed is None:
            return
        intent = proposed.split()[-1]
        shown = self._typed("approvals", "show", intent, "--statement")
        if shown is None:
            return
        statement = self._chaos.key.with_name(intent)
        statement.write_text(shown, encoding="utf-8", newline="")
        signature = statement.with_suffix(".sig")
        signature.write_bytes(ssh_signed(self._chaos.key, shown.encode(), "orrery-approval"))
        words = ("approvals", "sign", intent, "--statement", str(statement), "--signature", str(signature))
        with ThreadPoolExecutor(2) as pool:
            for one in [pool.submit(self._typed, *words) for _ in range(2)]:
                one.result()

    def _typed(self, *words: str) -> str | None:
        """Return what a command prints that succeeds."""
        done = run_orrery(*words, "--config", str(self._shop.config))
        self._note(words[1], f"exit {done.returncode}")
        return done.stdout if done.returncode == 0 else None


def _now(clock: Clock) -> float:
    return clock.now().timestamp()
