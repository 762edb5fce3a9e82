"""What is looked up: who has access (decision 11), the session of a reference (decision 46), a payment's address.

And the state of a session, for the success page (decision 48). The store knows which sessions were granted or
completed. For a session that was only offered the processor is asked: it may be open, just completed, or expired.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Literal

from orrery.checkout.access.notifications import Notifications
from orrery.checkout.access.rules import bought
from orrery.checkout.catalogue import Catalogue
from orrery.checkout.collections import BY_NUMBER, BY_REFERENCE, CheckoutRecords
from orrery.checkout.number_records import SALE_NUMBER
from orrery.checkout.records import AccessRecord, Offer
from orrery.errors import Invalid, NotConfigured, NotFound, RecordUnreadable
from orrery.logs import log
from orrery.ports.processor import (
    Charge,
    CheckoutSession,
    ItemUnreadable,
    Processor,
    ProcessorError,
    ProcessorReads,
    ProcessorRefused,
    SessionStatus,
    split_unreadable,
)
from orrery.runtime import outbox
from orrery.runtime.collection import Collection, RecordPage, Walk, commit, gathered, indexed_id
from orrery.runtime.references import as_reference
from orrery.runtime.tasks import together
from orrery.syntax.session_id import CHARGES, PAYMENTS

_NOT_THERE = "resource_missing"
_CHARGES_SINCE = timedelta(days=180)
"""How far back a charge is looked for: buyers' banks contest what is up to 120 days old (facts, The vendor)."""


@dataclass(frozen=True, slots=True)
class AccessAnswer:
    """The answer to the practice site."""

    granted: bool
    expires_at: datetime | None


class Lookup:
    """Reads access records, and finds sessions by their references and payments."""

    def __init__(self, stored: CheckoutRecords, catalogue: Catalogue, reads: ProcessorReads) -> None:
        self._stored = stored
        self._catalogue = catalogue
        self._reads = reads

    async def check_session(self, session_id: str, cert_code: str, vendor_slug: str | None = None) -> AccessAnswer:
        """Return whether the buyer of this session, who may have bought the product again, has access to it now.

        A session opens only its own product, and nothing once it was revoked. Raises as `check_email`.
        """
        found = await self._stored.access.get(session_id)
        known: RecordPage[AccessRecord] = RecordPage([found] if found else [])
        if found and not found.record.revoked_at and found.record.email and found.record.cert_code == cert_code:
            of_buyer, product = await self.found_of(found.record.email), found.record.product
            known += RecordPage(
                [one for one in of_buyer.records if one.record.product == product], of_buyer.unreadable
            )
        return self._answer(known, cert_code, vendor_slug)

    async def check_email(self, email: str, cert_code: str, vendor_slug: str | None = None) -> AccessAnswer:
        """Return whether any purchase of this buyer opens that product now.

        Without a vendor each product of that code counts, also of a vendor who is not in the catalogue any more.
        Raises `Invalid` when the catalogue lists several, and `RecordUnreadable` when no readable purchase opens
        it, but an unreadable one might.
        """
        return self._answer(await self.found_of(email), cert_code, vendor_slug)

    async def record(self, session_id: str) -> AccessRecord | None:
        """Return one access record; raise `RecordUnreadable`."""
        found = await self._stored.access.get(session_id)
        return found.record if found else None

    async def records_of(self, email: str) -> list[AccessRecord]:
        """Return all access records of one buyer, by session id; raise `RecordUnreadable` for one of them."""
        return (await self.found_of(email)).whole()

    async def found_of(self, email: str) -> RecordPage[AccessRecord]:
        """Return one buyer's access records, by session id."""
        found: RecordPage[AccessRecord] = RecordPage()
        for prefix in self._stored.of_buyer(email):
            found += await gathered(self._stored.access.indexed(Walk(prefix)))
        return found

    async def named(self, text: str) -> str:
        """Return the session that a reference, number, charge, payment or buyer's address names, or `text` itself.

        Raises `NotFound` where it names none here, `Invalid` with the candidates where it names several, and the
        errors of the store and of the processor.
        """
        text = text.strip()
        if "@" in text:
            return self._only(await self.records_of(text), "of this address")
        if text.startswith(CHARGES):
            return await self._session_of_charge(text)
        if text.startswith(PAYMENTS):
            return await self._session_of_payment(text)
        if SALE_NUMBER.fullmatch(text.upper()):
            return await self._session_of_number(text.upper())
        reference = as_reference(text)
        return await self.session_of_reference(reference) if reference else text

    def _only(self, records: Sequence[AccessRecord], which: str) -> str:
        if not records:
            raise NotFound(f"No access record here is {which}.")
        if len(records) == 1:
            return records[0].session_id
        of = self._stored.references.of
        named = (f"{of(one.session_id)} ({one.product.name}, {one.granted_at:%Y-%m-%d})" for one in records)
        raise Invalid(f"Several access records are {which}. Name one of them: {', '.join(named)}.")

    async def _session_of_charge(self, charge_id: str) -> str:
        known = (await self._stored.reversals.all()).values()
        if session_id := next((one.session_id for one in known if one.charge_id == charge_id), None):
            return session_id
        async for charge in self._reads.list_charges(self._stored.clock.now() - _CHARGES_SINCE):
            if isinstance(charge, ItemUnreadable) and charge.item_id == charge_id:
                raise charge
            if isinstance(charge, Charge) and charge.id == charge_id and charge.payment_intent:
                return await self._session_of_payment(charge.payment_intent)
        days = _CHARGES_SINCE.days
        raise NotFound(f"No charge of the last {days} days has this id: name the session's reference instead.")

    async def _session_of_payment(self, payment_intent: str) -> str:
        sessions, unread = await self.sessions_of(payment_intent)
        if unread:
            raise unread[0]
        if not sessions:
            raise NotFound("The processor knows no session of this payment.")
        return sessions[0].id

    async def _session_of_number(self, number: str) -> str:
        async for entry in self._stored.access.entries(f"{BY_NUMBER}{number}"):
            if entry.key == f"{BY_NUMBER}{number}":
                return indexed_id(entry)
        raise NotFound("No sale here has this number.")

    async def session_of_reference(self, reference: str) -> str:
        """Return the session of a reference; raise `NotFound`."""
        stored = self._stored
        async for entry in stored.access.entries(f"{BY_REFERENCE}{reference}"):
            return indexed_id(entry)
        # An earlier release indexed no records by it, and no other session is.
        for by_session in (stored.access, stored.pending, stored.offers, stored.own_sessions):
            async for entry in by_session.entries():
                session_id = entry.key.removeprefix(by_session.prefix)
                if stored.references.of(session_id) == reference:
                    return session_id
        raise NotFound("No session here has this reference.")

    async def paid(self, session_id: str) -> CheckoutSession | None:
        """Return a session at the processor that is paid, or None; raise the processor's errors."""
        try:
            found = await self._reads.get_session(session_id)
        except NotConfigured:
            return None
        except ProcessorRefused as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise
        return found if found.payment_status == "paid" else None

    async def address_of(self, payment_intent: str) -> str | None:
        """Return the client address that asked for the session of a payment (decision 18).

        None: the session is not ours, its address has been erased, or its offer cannot be read. Raises the errors
        of the processor.
        """
        sessions, unread = await self.sessions_of(payment_intent)
        for error in unread:
            log.warning("client address not known", why=str(error))
        offers = [await self._stored.offers.find(session.id) for session in sessions]
        return next((one.record.client_address for one in offers if one and one.record.client_address), None)

    async def sessions_of(self, payment_intent: str) -> tuple[list[CheckoutSession], list[ItemUnreadable]]:
        """Return the sessions of a payment, and what of them cannot be read; of an unknown payment none."""
        found = self._reads.list_sessions(payment_intent=payment_intent)
        try:
            return split_unreadable([one async for one in found])
        except ProcessorRefused as error:
            if error.code == _NOT_THERE:
                return [], []
            raise

    def _answer(self, found: RecordPage[AccessRecord], cert_code: str, vendor_slug: str | None) -> AccessAnswer:
        if vendor_slug is None and len(self._catalogue.vendors_of(cert_code)) > 1:
            raise Invalid("vendorSlug: It is required, since more than one vendor has this certCode.")
        now = self._stored.clock.now()
        asked = [one for one in found.values() if one.cert_code == cert_code]
        ends = [one.expires_at for one in asked if one.runs_at(now) and vendor_slug in (None, one.vendor_slug)]
        if found.unreadable and not ends:
            raise found.unreadable[0]
        return AccessAnswer(bool(ends), max(ends, default=None))


EVERY = timedelta(seconds=10)
"""Success pages cause at most one request to the processor per session in this time (decision 48)."""

MOST = 1000
"""Sessions that are remembered for that time."""

AT_ONCE = 4
"""Requests under way: while the processor hangs, success pages must not occupy the connections of buyers."""

DEADLINE = 3.0
"""Seconds that a page waits for the processor."""

LONGEST_SESSION = timedelta(hours=25)
"""A session expires at most 24 hours after its creation (facts, The vendor); an hour for clocks that differ."""

LEAST_LEFT = timedelta(minutes=30)
"""The processor is asked about a session that ends sooner, before it is handed out again.

It is the shortest time that the processor gives a buyer (facts, The vendor).
"""

StateName = Literal["open", "pending", "granted", "ended", "failed"]


@dataclass(frozen=True, slots=True)
class SessionState:
    """A session's state without personal data, for the success page.

    `open`: not completed. `pending`: completed and not granted, or not known, since the processor cannot be asked.
    `failed`: expired, or the payment failed: nothing was taken. `expires_at` is set for `granted` and `ended`.
    """

    state: StateName
    expires_at: datetime | None


_AT_THE_PROCESSOR: dict[SessionStatus, StateName] = {"open": "open", "complete": "pending", "expired": "failed"}


class SessionStates:
    """Finds the states of sessions, and stores which failed."""

    def __init__(self, stored: CheckoutRecords, processor: Processor, notifications: Notifications) -> None:
        self._stored = stored
        self._processor = processor
        self._notifications = notifications
        self._known: dict[str, tuple[float, StateName]] = {}
        self._asking = asyncio.Semaphore(AT_ONCE)

    async def of(self, session_id: str) -> SessionState:
        """Return the state of one session; raise `NotFound` (we never created it) and `RecordUnreadable`."""
        return await self._noted(session_id) or SessionState(await self._at_the_processor(session_id), None)

    async def is_over(self, session_id: str, expires_at: datetime | None) -> bool:
        """Return whether a session is of no use to its visitor: it cannot be paid, and opens no access.

        The processor is asked only where the session ends soon, or that is not known; while it cannot be asked, a
        session is over from its end on.
        """
        try:
            if noted := await self._noted(session_id):
                return noted.state in {"failed", "ended"}
        except NotFound:
            return True
        except RecordUnreadable:
            return False
        if expires_at and not self.ends_soon(expires_at):
            return False
        status = await self._read_status(session_id)
        if status is None:
            return expires_at is not None and self._stored.clock.now() >= expires_at
        return status == "expired"

    def ends_soon(self, expires_at: datetime) -> bool:
        return self._stored.clock.now() >= expires_at - LEAST_LEFT

    async def _noted(self, session_id: str) -> SessionState | None:
        """Return the state that the store knows; None when the session was offered and no more."""
        access, pending, offers = self._stored.access, self._stored.pending, self._stored.offers
        granted, noted, offer = await together(*(one.entry(session_id) for one in (access, pending, offers)))
        if granted:
            record = access.read(granted).record
            state: StateName = "granted" if record.runs_at(self._stored.clock.now()) else "ended"
            return SessionState(state, record.revoked_at or record.expires_at)
        try:
            if noted:
                return SessionState("failed" if pending.read(noted).record.failed_at else "pending", None)
        except RecordUnreadable:
            return SessionState("pending", None)
        if offer is None:
            raise NotFound("There is no such session.")
        with suppress(RecordUnreadable):  # the processor knows as well
            if offers.read(offer).record.failed_at:
                return SessionState("failed", None)
        return None

    async def note_expired(self, start: datetime) -> list[ItemUnreadable]:
        """Note which sessions of ours expired since the last reconciliation, or since `start` without one.

        Return what of them cannot be read.
        """
        unread: list[ItemUnreadable] = []
        last = await self._stored.reconciled.find()
        since = min(last.record.at, self._stored.clock.now()) - LONGEST_SESSION if last else start
        async for session in self._processor.list_expired_sessions(since):
            if isinstance(session, ItemUnreadable):
                unread.append(session)
                continue
            await note_expired(self._stored.offers, session.id)
        return unread

    async def payment_failed(
        self, session: CheckoutSession, *, dry_run: bool = False, held_because: str = ""
    ) -> bool:
        """Return whether the outstanding payment of a completed session failed; store and report it once."""
        noted = await self._stored.pending.find(session.id)
        if noted and noted.record.failed_at:
            return True
        if not session.payment_intent or not await self._newest_charge_failed(session.payment_intent):
            return False
        if noted and not dry_run:
            now = self._stored.clock.now()
            failed = self._stored.pending.changes(session.id, noted, noted.record.change(failed_at=now))
            push = self._notifications.payment_failed(session.id, bought(session))
            # After a conflict the next reconciliation stores and reports it.
            _ = await outbox.commit_with(self._stored.store, failed, [push], now, held_because=held_because)
        return True

    async def _newest_charge_failed(self, payment_intent: str) -> bool:
        async for charge in self._processor.list_charges_of(payment_intent):
            return not isinstance(charge, ItemUnreadable) and charge.status == "failed"
        return False

    async def _at_the_processor(self, session_id: str) -> StateName:
        now, kept = self._stored.clock.monotonic(), EVERY.total_seconds()
        self._known = {name: known for name, known in self._known.items() if now - known[0] < kept}
        if known := self._known.get(session_id):
            return known[1]
        if self._asking.locked() or len(self._known) == MOST:
            return "pending"
        self._known[session_id] = now, "pending"  # for pages of this session that ask meanwhile
        async with self._asking:
            status = await self._read_status(session_id)
        state = _AT_THE_PROCESSOR[status] if status else "pending"
        self._known[session_id] = now, state
        return state

    async def _read_status(self, session_id: str) -> SessionStatus | None:
        """Return a session's status at the processor, or None while it cannot be asked."""
        try:
            async with asyncio.timeout(DEADLINE):
                return (await self._processor.get_session(session_id)).status
        except (ProcessorError, NotConfigured, TimeoutError) as error:
            log.warning("the processor could not be asked about a session", kind=type(error).__name__)
            return None


async def note_expired(offers: Collection[Offer], session_id: str) -> None:
    """Note with the offer that its session expired; one without an offer was no visitor's."""
    offer = await offers.find(session_id)
    if offer and offer.record.failed_at is None:
        failed = offer.record.change(failed_at=offers.clock.now())
        # What changed meanwhile is noted by the next reconciliation, which sees the session again.
        _ = await commit(offers.store, offers.changes(session_id, offer, failed))
