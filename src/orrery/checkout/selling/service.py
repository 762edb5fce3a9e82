"""The checkout operation (spec 1, What the service does 1; decisions 2 to 8)."""

import asyncio
import hashlib
import json
import secrets
from contextlib import suppress
from dataclasses import dataclass

from orrery.checkout.access.lookup import SessionStates
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.errors import KeyReused, SessionMismatch
from orrery.checkout.records import Attempt, Offer
from orrery.checkout.selling.health import CreationHealth
from orrery.checkout.selling.products import CurrentOffer, Selling
from orrery.checkout.selling.receipts import payment_page
from orrery.checkout.selling.sessions import SessionRequest, ask_for_session
from orrery.errors import StoreError
from orrery.logs import log
from orrery.ports.processor import CheckoutSession, Processor, ProcessorError
from orrery.ports.store import Conflict, Write
from orrery.runtime import outbox
from orrery.runtime.collection import Changes, StoredRecord, commit, compare_and_set, write
from orrery.runtime.lasting import push
from orrery.runtime.tasks import Tasks

DEADLINE = 10.0
"""Seconds that all tries of one request may take."""

FIRST_ONES = 4.5
"""Seconds that a click waits for the session of the one before it, which is under way on another node.

With a try before it, time is left for one after it: then that node counts as frozen.
"""

LOOK_EVERY = 0.2
"""Seconds between two looks for that."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """One visitor's request. `client_address` is kept with the offer for 30 days (decision 8)."""

    product: ProductKey
    client_address: str
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class CreatedSession:
    """The new session, with the address of its payment page."""

    id: str
    url: str


class _MadeElsewhereError(Exception):
    """Another node has made the session meanwhile."""

    def __init__(self, session: CreatedSession) -> None:
        super().__init__(session.id)
        self.session = session


class Checkout:
    """Creates hosted payment sessions."""

    def __init__(
        self,
        stored: CheckoutRecords,
        processor: Processor,
        selling: Selling,
        health: CreationHealth,
        states: SessionStates,
        tasks: Tasks,
    ) -> None:
        self._stored = stored
        self._processor = processor
        self._selling = selling
        self._health = health
        self._states = states
        self._tasks = tasks
        self._under_way: dict[tuple[str, ProductKey], asyncio.Task[CreatedSession]] = {}

    async def create(self, purchase: Purchase) -> CreatedSession:
        """Return a new session for `purchase`, or for the same idempotency key the same one while it is of use.

        Raises `UnknownProduct`, `KeyReused`, `NotConfigured`, `NotPreflighted`, `ProcessorRefused`,
        `ProcessorUnreachable` and the store's errors.
        """
        if purchase.idempotency_key is None:
            return await self._create(purchase, None)
        # The second of two clicks waits for the first one's session: the processor would answer it 409 meanwhile.
        # The same on another node is `_in_use`.
        key = _scope(purchase)
        same = (key, purchase.product)
        if same not in self._under_way:
            task = self._under_way[same] = self._tasks.start(self._create(purchase, key))
            task.add_done_callback(lambda _: self._under_way.pop(same))
        return await asyncio.shield(self._under_way[same])

    async def create_unpaid(self, purchase: Purchase) -> CreatedSession | None:
        """Return the session as `create` does, but None where that of the key is not known to be unpaid."""
        found = await self._stored.attempts.get(_scope(purchase))
        if found and (known := found.record.session_id) and (await self._states.of(known)).state != "open":
            return None
        return await self.create(purchase)

    async def create_once(self, purchase: Purchase) -> CreatedSession | None:
        """Return a session that is not kept under the key, or None where that was used; raise as `create`."""
        offered = await self._selling.current_offer(purchase.product)
        key, attempts = _scope(purchase), self._stored.attempts
        if await attempts.get(key):
            return None
        used = await commit(self._stored.store, attempts.changes(key, None, _fresh_attempt(offered)))
        if isinstance(used, Conflict):
            return None
        # Under another key of the processor: a later request with this one gets another session.
        return await self._new_session(offered, purchase, _fresh_attempt(offered), None)

    async def _create(self, purchase: Purchase, key: str | None) -> CreatedSession:
        offered = await self._selling.current_offer(purchase.product)
        attempt = _fresh_attempt(offered)
        if key is not None:
            attempt = await self._attempt(key, attempt)
        try:
            return _made(attempt) or await self._new_session(offered, purchase, attempt, key)
        except _MadeElsewhereError as made:
            return made.session

    async def _attempt(self, key: str, new: Attempt) -> Attempt:
        """Return the attempt that goes on under a visitor's key: the one that is there, or `new` in its place."""

        async def attempt() -> Attempt | Conflict:
            found = await self._stored.attempts.get(key)
            known = found.record if found else new
            if (known.cert_code, known.vendor_slug) != (new.cert_code, new.vendor_slug):
                raise KeyReused("This Idempotency-Key was used for another product.")
            if found and await self._goes_on(known, new):
                return known
            outcome = await commit(
                self._stored.store, self._stored.attempts.changes(key, found, new, renewed=True)
            )
            return outcome if isinstance(outcome, Conflict) else new

        return await compare_and_set(attempt, "This Idempotency-Key is used all the time; nothing was created.")

    async def _goes_on(self, known: Attempt, new: Attempt) -> bool:
        if known.session_id:
            return not await self._states.is_over(known.session_id, known.expires_at)
        # The product was changed between two clicks: under the old key the processor would refuse it.
        return known.parameters_digest == new.parameters_digest

    async def _new_session(
        self, offered: CurrentOffer, purchase: Purchase, attempt: Attempt, key: str | None
    ) -> CreatedSession:
        session, url = await self._created(offered, attempt, key)
        writes = self._offer(session, offered, purchase)
        if key:
            done = attempt.change(session_id=session.id, url=url, expires_at=session.expires_at)
            writes.append(self._stored.attempts.put(done, key))
        await write(self._stored.store, writes)
        await self._report_currency(session, offered)
        log.info("session created", session=session.id, product=offered.product.name)
        return CreatedSession(session.id, url)

    async def _created(
        self, offered: CurrentOffer, attempt: Attempt, key: str | None
    ) -> tuple[CheckoutSession, str]:
        """Return a session and its address, having noted whether the processor gave one."""
        try:
            session = await ask_for_session(
                self._processor,
                self._stored.clock,
                self._request(offered, attempt, key),
                attempt.processor_key,
                seconds=DEADLINE,
                # The processor gives the session of a click of long ago, whose answer was lost.
                is_late=self._ends_soon if key else None,
            )
            url = payment_page(
                session,
                offered.product.key,
                offered.price_id,
                offered.accepted,
                livemode=self._selling.livemode,
            )
        except ProcessorError as error:
            await self._health.failed(offered.product.name, error)
            if isinstance(error, SessionMismatch):
                # Else the processor would give the same session to the visitor's next click.
                _ = await self._renew(attempt, key)
            raise
        await self._health.succeeded(offered.product.name)
        return session, url

    async def _report_currency(self, session: CheckoutSession, offered: CurrentOffer) -> None:
        """Enqueue one push about a currency that is not the accepted one; the visitor pays in it all the same."""
        accepted = offered.accepted.currency if offered.accepted else None
        if accepted in (None, session.currency):
            return
        with suppress(StoreError):  # the next session reports it
            draft = _currency_push(offered.product.name, session.currency or "", accepted)
            await outbox.notify_once(self._stored.store, self._stored.clock, draft)

    def _ends_soon(self, session: CheckoutSession) -> bool:
        return session.expires_at is not None and self._states.ends_soon(session.expires_at)

    def _request(self, offered: CurrentOffer, attempt: Attempt, key: str | None) -> SessionRequest:
        return SessionRequest(
            offered.parameters,
            offered.api_version,
            lambda used: self._renew(attempt, key, used),
            (lambda used: self._in_use(key, used)) if key else None,
        )

    async def _in_use(self, key: str, used: str) -> str:
        """Wait for the session of a click that is under way on another node, until that counts as frozen."""
        until = self._stored.clock.monotonic() + FIRST_ONES
        while self._stored.clock.monotonic() < until:
            await self._stored.clock.sleep(LOOK_EVERY)
            used = _key_of(await self._stored.attempts.get(key)) or used
        return used

    async def _renew(self, attempt: Attempt, key: str | None, used: str | None = None) -> str:
        # The processor stores a 5xx under its key and would replay it, also to the visitor's next click.
        if key is None:
            return _fresh_key()

        async def renewed() -> str | Conflict:
            found = await self._stored.attempts.get(key)
            if used and (present := _key_of(found)) and present != used:
                return present  # another node has met the same 5xx: two new keys would be two sessions
            after = attempt.change(processor_key=_fresh_key())
            changes = Changes([self._stored.attempts.put(after, key)], [self._stored.attempts.as_read(key, found)])
            outcome = await commit(self._stored.store, changes)
            return outcome if isinstance(outcome, Conflict) else after.processor_key

        return await compare_and_set(renewed, "This Idempotency-Key is used all the time; nothing was created.")

    def _offer(self, session: CheckoutSession, offered: CurrentOffer, purchase: Purchase) -> list[Write]:
        now, product = self._stored.clock.now(), offered.product
        offer = Offer(
            session_id=session.id,
            product_type=product.key.product_type,
            cert_code=product.cert_code,
            vendor_slug=product.vendor_slug,
            price_id=offered.price_id,
            amount_total=session.amount_total,
            currency=session.currency,
            client_address=purchase.client_address,
            created_at=now,
            title=product.title,
        )
        return self._stored.offers.writes(offer, session.id)


def _made(attempt: Attempt) -> CreatedSession | None:
    if attempt.session_id is None or attempt.url is None:
        return None
    return CreatedSession(attempt.session_id, attempt.url)


def _key_of(found: StoredRecord[Attempt] | None) -> str | None:
    """Return the processor's key of an attempt; raise `_MadeElsewhereError` with its session."""
    if found and (made := _made(found.record)):
        raise _MadeElsewhereError(made)
    return found.record.processor_key if found else None


def _scope(purchase: Purchase) -> str:
    scope = [purchase.product.product_type, purchase.client_address, purchase.idempotency_key]
    return hashlib.sha256(json.dumps(scope).encode()).hexdigest()


def _fresh_attempt(offered: CurrentOffer) -> Attempt:
    return Attempt(
        cert_code=offered.product.cert_code,
        vendor_slug=offered.product.vendor_slug,
        parameters_digest=offered.digest,
        processor_key=_fresh_key(),
    )


def _currency_push(product: str, currency: str, accepted: str) -> outbox.OutboxDraft:
    return push(
        f"session-currency-{product}-{currency}-{accepted}",
        f"Another currency: {product}",
        f"The processor's sessions are in {currency}; the preflight accepted {accepted}. "
        f"Visitors pay in {currency}. Look at the product's price at the processor's dashboard, then type "
        "`orrery checkout preflight`.",
    )


def _fresh_key() -> str:
    return f"orrery-{secrets.token_hex(16)}"
