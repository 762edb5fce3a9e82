"""Buyers who click, pay, come back and look, one after the other, whatever they are answered."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from typing import ClassVar
from uuid import uuid4

import httpx2

from tests.support.deployment import Deployment
from tests.support.marked import MARK
from tests.support.visiting import CHECKOUT
from tests.support.waiting import IN_CLEAR, PATIENCE, until

WANTED = {"productType": "cert", "certCode": "hosted", "vendorSlug": "northwind"}
WEBHOOKS = ("webhook_down", "webhook_duplicate", "webhook_reorder")

LOOKS = 20
"""How often a buyer who has paid asks for access before they go."""

AGAIN = 0.1
"""Real seconds until somebody presses a button again: an edge refuses who presses it all the time."""

OK = 200


class Buyers:
    """What they ask a shop for, and how often which answer came.

    Of their payments, a share `strange` has its webhook late, twice or out of order; the seed says which.
    """

    PATIENCE: ClassVar[float] = PATIENCE
    """Real seconds for which they wait for an answer."""

    def __init__(self, shop: Deployment, buyers: int, *, seed: int = 0, strange: float = 0) -> None:
        self._shop, self._buyers, self._strange = shop, buyers, strange
        self._dice = random.Random(seed)  # noqa: S311  a course that can be repeated, no secret
        self._numbers, self._counting = count(), threading.Lock()
        self._stopped = threading.Event()
        self.granted = set[str]()
        """The sessions whose buyers were told that their access is open."""
        self.answers = Counter[tuple[str, str]]()

    @contextmanager
    def running(self) -> Generator[None]:
        """Let everybody act until the end of the block; raise what one of them met that a shop never does."""
        acts = [*[self._buy] * self._buyers, *self._others()]
        with ThreadPoolExecutor(len(acts)) as pool:
            acting = [pool.submit(self._repeated, act) for act in acts]
            try:
                yield
            finally:
                self._stopped.set()
            for one in acting:
                one.result()

    def await_sales(self, more: int) -> None:
        """Wait until so many more buyers were told that their access is open."""
        aim = len(self.granted) + more
        until(lambda: len(self.granted) >= aim)

    def await_answers(self, more: int) -> None:
        """Wait until so many more requests came to an end, whatever that was."""
        aim = self.answers.total() + more
        until(lambda: self.answers.total() >= aim)

    def _others(self) -> list[Callable[[], None]]:
        """Return what others do meanwhile, again and again."""
        return []

    def _look(self, client: httpx2.Client) -> None:
        """Look round before leaving."""
        self._asked("products", client, "GET", "/guided/api/products")

    def _repeated(self, act: Callable[[], None]) -> None:
        while not self._stopped.is_set():
            act()

    def _note(self, what: str, outcome: object) -> None:
        with self._counting:
            self.answers[what, str(outcome)] += 1

    def _buy(self) -> None:
        high, low = divmod(next(self._numbers), 250)  # the edge limits how often one address asks
        client = httpx2.Client(
            base_url=self._shop.public,
            transport=httpx2.HTTPTransport(verify=IN_CLEAR, local_address=f"127.1.{high}.{low + 1}"),
            timeout=self.PATIENCE,
        )
        with client:
            if session := self._click(client):
                self._pay(session)
                self._return(client, session)
            self._look(client)

    def _click(self, client: httpx2.Client) -> str | None:
        """Press the button until there is a session: each time with the same key, as the page does."""
        key = {"Idempotency-Key": uuid4().hex}
        while not self._stopped.is_set():
            answer = self._asked("click", client, "POST", CHECKOUT, json=WANTED, headers=key)
            if answer is not None:
                return str(answer.json()["id"])
            self._stopped.wait(AGAIN)
        return None

    def _pay(self, session: str) -> None:
        if self._dice.random() < self._strange:
            self._shop.sandbox.fault(self._dice.choice(WEBHOOKS), path="checkout.session.completed")
        self._shop.sandbox.pay(session, f"{MARK}.{uuid4().hex[:12]}@buyer.example.test")

    def _return(self, client: httpx2.Client, session: str) -> None:
        for _ in range(LOOKS):
            answer = self._asked("return", client, "GET", f"/guided/api/access/{session}")
            if answer is not None and answer.json()["state"] == "granted":
                self.granted.add(session)
                return

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
