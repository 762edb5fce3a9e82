"""The access gate: may this browser see the pages of this product? The web server of a site asks each time."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Literal

from orrery.checkout.access.browsers import USE_NOTED
from orrery.checkout.catalogue import Catalogue, ProductKey
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.site.admission import Admission
from orrery.checkout.site.cookie import cookie_name, sent_cookie
from orrery.runtime.tasks import Tasks

EVERY = 1.0
"""Seconds after which the gate looks whether any access was taken back."""

MOST = 100_000
"""Browsers that are remembered with what they opened."""

GateStatus = Literal[204, 401, 403]
"""Open; not known; or known, and its access ended, was revoked, is to another product, or has no place in it."""


@dataclass(frozen=True, slots=True)
class _Asked:
    product: ProductKey
    cookie: bytes


class AccessGate:
    """Answers from memory for a browser that it knows, for as long as nothing was taken back from anybody."""

    def __init__(
        self,
        stored: CheckoutRecords,
        catalogue: Catalogue,
        admission: Admission,
        tasks: Tasks,
    ) -> None:
        self._stored, self._clock = stored, stored.clock
        self._tasks = tasks
        self._catalogue = catalogue
        self._admission = admission
        self._cookies = admission.cookies
        self._open = dict[tuple[str, bytes], datetime]()
        self._refused = dict[tuple[str, bytes], GateStatus]()
        self._generation: int | None = None
        self._looked_at: float | None = None
        self._looking: asyncio.Task[None] | None = None

    async def status(self, path: str, headers: Sequence[tuple[bytes, bytes]]) -> GateStatus:
        """Return the answer for `vendor/cert` and the headers of a request.

        Raises the store's errors, and `RecordUnreadable` where an access that cannot be read might be open.
        """
        asked = self._paths.get(path) or self._of(path)
        cookie = sent_cookie(headers, asked.cookie)
        known = path, cookie
        until = self._open.get(known)
        if until is None and self._cookies.browser_of(cookie) is None:
            return self._of_probe(path, cookie)  # a stranger costs no read
        if self._looked_at is None or self._clock.monotonic() - self._looked_at >= EVERY:
            await self._look()
            until = self._open.get(known)
        if until and self._clock.now() < until:
            return 204
        return self._refused.get(known) or await self._ask_store(asked.product, path, cookie)

    def _of_probe(self, path: str, cookie: bytes) -> GateStatus:
        probed = self._cookies.probed(cookie, self._clock.now())
        if probed is None:
            return 401
        return 204 if probed == path else 403

    @cached_property
    def _paths(self) -> dict[str, _Asked]:
        """Return what is asked by each path of the catalogue."""
        return {product.name: self._of(product.name) for product in self._catalogue.listed}

    def _of(self, path: str) -> _Asked:
        vendor, _, cert = path.partition("/")
        product = ProductKey("cert", cert, vendor)
        return _Asked(product, cookie_name(self._catalogue.site_of(product)))

    async def _look(self) -> None:
        """Share one look with all that wait, its failure too: a store that hangs costs each of them one wait."""
        if self._looking is None or self._looking.done():
            self._looking = self._tasks.start(self._read_generation())
        await asyncio.shield(self._looking)

    async def _read_generation(self) -> None:
        """Forget who was refused, and all that is open when an access was taken back since the last look."""
        now = self._clock.monotonic()
        entry = await self._stored.generation.entry()
        generation = entry.version if entry else 0
        self._refused.clear()
        if generation != self._generation:
            self._open.clear()
            self._generation = generation
        self._looked_at = now

    async def _ask_store(self, product: ProductKey, path: str, cookie: bytes) -> GateStatus:
        """Return the answer, and remember a refusal until the next look: until then an access may be granted."""
        looked_at = self._looked_at
        answer = await self._look_up(product, path, cookie)
        # A path that is no product's may be anything, of any length.
        if answer in {401, 403} and path in self._paths and looked_at == self._looked_at:
            if len(self._refused) >= MOST:
                self._refused.clear()
            self._refused[path, cookie] = answer
        return answer

    async def _look_up(self, product: ProductKey, path: str, cookie: bytes) -> GateStatus:
        generation = self._generation
        admitted = await self._admission.of(cookie, product)
        if admitted.state == "new":
            return 401
        if admitted.until is None:
            return 403
        # What was taken back meanwhile may have been open when it was read.
        if generation == self._generation:
            self._remember(path, cookie, min(admitted.until, self._clock.now() + USE_NOTED))
        return 204

    def _remember(self, path: str, cookie: bytes, until: datetime) -> None:
        if len(self._open) >= MOST:
            self._open.clear()
        self._open[path, cookie] = until
