"""What is looked up: who has access (decision 11), the session of a reference (decision 46), a payment's offer."""

from dataclasses import dataclass
from datetime import datetime

import structlog

from orrery.checkout import keys
from orrery.checkout.catalogue import Catalogue
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import AccessRecord, Offer
from orrery.errors import Invalid, NotFound, RecordUnreadable
from orrery.ports.processor import ProcessorReads, split_unreadable
from orrery.ports.processor.errors import ProcessorRefused
from orrery.runtime.collection import RecordPage, Walk, gathered
from orrery.runtime.references import References, as_reference

_KNOWN = (keys.ACCESS, keys.PENDING, keys.OFFER, keys.OWN_SESSION)
"""Every kind of record that is kept under a session's id."""

_NOT_THERE = "resource_missing"

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class AccessAnswer:
    """The answer to the practice site."""

    granted: bool
    expires_at: datetime | None


class Lookup:
    """Reads access records."""

    def __init__(self, stored: CheckoutRecords, catalogue: Catalogue) -> None:
        self._stored = stored
        self._catalogue = catalogue

    async def check_session(self, session_id: str, cert_code: str, vendor_slug: str | None = None) -> AccessAnswer:
        """Return whether the buyer of this session, who may have bought the product again, has access to it now.

        A session opens only its own product, and nothing once it was revoked. Raises as `check_email`.
        """
        found = await self._stored.access.get(session_id)
        known: RecordPage[AccessRecord] = RecordPage([found] if found else [])
        if found:
            known += await self._others(found.record, cert_code)
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
        for digest in keys.email_digests(email, self._stored.index_key):
            found += await gathered(self._stored.access.indexed(Walk(keys.access_by_email(digest))))
        return found

    async def _others(self, record: AccessRecord, cert_code: str) -> RecordPage[AccessRecord]:
        """Return the other records of the same product that the buyer of a session has."""
        if record.revoked_at or not record.email or record.cert_code != cert_code:
            return RecordPage()
        found = await self.found_of(record.email)
        return RecordPage([one for one in found.records if one.record.product == record.product], found.unreadable)

    def _answer(self, found: RecordPage[AccessRecord], cert_code: str, vendor_slug: str | None) -> AccessAnswer:
        if vendor_slug is None and len(self._catalogue.vendors_of(cert_code)) > 1:
            raise Invalid("vendorSlug: It is required, since more than one vendor has this certCode.")
        now = self._stored.clock.now()
        asked = [one for one in found.values() if one.cert_code == cert_code]
        ends = [one.expires_at for one in asked if one.runs_at(now) and vendor_slug in (None, one.vendor_slug)]
        if found.unreadable and not ends:
            raise found.unreadable[0]
        return AccessAnswer(bool(ends), max(ends, default=None))


class Sessions:
    """Finds sessions by their references."""

    def __init__(self, stored: CheckoutRecords, references: References) -> None:
        self._stored = stored
        self._references = references

    async def named(self, text: str) -> str:
        """Return the session id of a reference, and any other text as it is.

        Raises `NotFound` for a reference of no session here, and the store's errors.
        """
        reference = as_reference(text)
        if reference is None:
            return text
        for prefix in _KNOWN:
            if found := await self._under(prefix, reference):
                return found
        raise NotFound("No session here has this reference.")

    async def _under(self, prefix: str, reference: str) -> str | None:
        async for entry in Walk(prefix).entries(self._stored.store, self._stored.clock):
            session_id = entry.key.removeprefix(prefix)
            if self._references.of(session_id) == reference:
                return session_id
        return None


class Offers:
    """Reads offers."""

    def __init__(self, stored: CheckoutRecords, reads: ProcessorReads) -> None:
        self._stored = stored
        self._reads = reads

    async def address_of(self, payment_intent: str) -> str | None:
        """Return the client address that asked for the session of a payment (decision 18).

        None: the session is not ours, its address has been erased, or its offer cannot be read. Raises the errors
        of the processor.
        """
        try:
            sessions, unread = split_unreadable(
                [one async for one in self._reads.list_sessions(payment_intent=payment_intent)]
            )
        except ProcessorRefused as error:
            if error.code == _NOT_THERE:
                return None
            raise
        for error in unread:
            log.warning("client address not known", why=str(error))
        offers = [await self._offer(session.id) for session in sessions]
        return next((offer.client_address for offer in offers if offer and offer.client_address), None)

    async def _offer(self, session_id: str) -> Offer | None:
        try:
            found = await self._stored.offers.get(session_id)
        except RecordUnreadable as error:
            log.warning("client address not known", session=session_id, why=str(error))
            return None
        return found.record if found else None
