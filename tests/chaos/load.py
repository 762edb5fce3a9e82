"""The load: buyers who click, pay, come back and look, an owner who signs, whatever they are answered."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from uuid import uuid4

import httpx2

from tests.chaos.checker import ShownCount, Told
from tests.chaos.shop import ChaosShop
from tests.support.marked import MARK
from tests.support.program import run_orrery
from tests.support.ssh_keys import ssh_signed
from tests.support.visiting import CHECKOUT
from tests.support.waiting import IN_CLEAR, until

BUYERS_PATIENCE = 4.0
"""Real seconds for which a buyer looks at a page that does not come."""

WANTED = {"productType": "cert", "certCode": "hosted", "vendorSlug": "northwind"}
WEBHOOKS = ("webhook_down", "webhook_duplicate", "webhook_reorder")
OFTEN = 0.3
"""The share of payments whose webhook comes late, twice or out of order."""

LOOKS = 20
"""How often a buyer who has paid asks for access before they go."""

OK = 200


class Load:
    """What is asked of a shop, and how often which answer came."""

    def __init__(self, shop: ChaosShop, seed: int, buyers: int) -> None:
        self._shop, self._buyers = shop, buyers
        self._dice = random.Random(seed)  # noqa: S311  a course that can be repeated, no secret
        self._numbers, self._counting = count(), threading.Lock()
        self._stopped = False
        self.told = Told()
        self.answers = Counter[tuple[str, str]]()

    @contextmanager
    def running(self) -> Generator[None]:
        """Let everybody act until the end of the block; raise what one of them met that a shop never does."""
        with ThreadPoolExecutor(self._buyers + 1) as pool:
            acting = [pool.submit(self._repeated, self._buy) for _ in range(self._buyers)]
            acting.append(pool.submit(self._repeated, self._approve))
            try:
                yield
            finally:
                self._stopped = True
            for one in acting:
                one.result()

    def await_sales(self, more: int) -> None:
        """Wait until so many more buyers were told that their access is open."""
        aim = len(self.told.granted) + more
        until(lambda: len(self.told.granted) >= aim)

    def await_answers(self, more: int) -> None:
        """Wait until so many more requests came to an end, whatever that was."""
        aim = self.answers.total() + more
        until(lambda: self.answers.total() >= aim)

    def _repeated(self, act: Callable[[], None]) -> None:
        while not self._stopped:
            act()

    def _note(self, what: str, outcome: object) -> None:
        with self._counting:
            self.answers[what, str(outcome)] += 1

    def _buy(self) -> None:
        high, low = divmod(next(self._numbers), 250)
        client = httpx2.Client(
            base_url=self._shop.deployment.public,
            transport=httpx2.HTTPTransport(verify=IN_CLEAR, local_address=f"127.1.{high}.{low + 1}"),
            timeout=BUYERS_PATIENCE,
        )
        with client:
            if session := self._click(client):
                self._pay(session)
                self._return(client, session)
            self._look(client)

    def _click(self, client: httpx2.Client) -> str | None:
        """Press the button until there is a session: each time with the same key, as the page does."""
        key = {"Idempotency-Key": uuid4().hex}
        while not self._stopped:
            answer = self._asked("click", client, "POST", CHECKOUT, json=WANTED, headers=key)
            if answer is not None:
                return str(answer.json()["id"])
        return None

    def _pay(self, session: str) -> None:
        sandbox = self._shop.deployment.sandbox
        if self._dice.random() < OFTEN:
            sandbox.fault(self._dice.choice(WEBHOOKS), path="checkout.session.completed")
        sandbox.pay(session, f"{MARK}.{uuid4().hex[:12]}@buyer.example.test")

    def _return(self, client: httpx2.Client, session: str) -> None:
        for _ in range(LOOKS):
            answer = self._asked("return", client, "GET", f"/guided/api/access/{session}")
            if answer is not None and answer.json()["state"] == "granted":
                self.told.granted.add(session)
                return

    def _look(self, client: httpx2.Client) -> None:
        """Read the live count at a node: an edge's cache goes by the true time."""
        asked = self._shop.deployment.sandbox.now()
        node = self._dice.choice(self._shop.nodes)
        answer = self._asked("look", client, "GET", f"{node.address}/api/stats?realtime=1")
        if answer is not None and not answer.json().get("error"):
            found = answer.json()
            at = datetime.fromisoformat(found["generated_at"]).timestamp()
            self.told.counts.append(ShownCount(asked, at, found["stale"]))

    def _asked(
        self,
        what: str,
        client: httpx2.Client,
        method: str,
        url: str,
        json: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response | None:
        """Return an answer of success."""
        try:
            answer = client.request(method, url, json=json, headers=headers)
        except httpx2.TransportError as error:
            self._note(what, type(error).__name__)
            return None
        self._note(what, answer.status_code)
        return answer if answer.status_code == OK else None

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
        statement = self._shop.key.with_name(intent)
        statement.write_text(shown, encoding="utf-8", newline="")
        signature = statement.with_suffix(".sig")
        signature.write_bytes(ssh_signed(self._shop.key, shown.encode(), "orrery-approval"))
        words = ("approvals", "sign", intent, "--statement", str(statement), "--signature", str(signature))
        with ThreadPoolExecutor(2) as pool:
            for one in [pool.submit(self._typed, *words) for _ in range(2)]:
                one.result()

    def _typed(self, *words: str) -> str | None:
        """Return what a command prints that succeeds."""
        done = run_orrery(*words, "--config", str(self._shop.deployment.config))
        self._note(words[1], f"exit {done.returncode}")
        return done.stdout if done.returncode == 0 else None
