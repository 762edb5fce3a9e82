"""The practice site's question whether a buyer has access (decision 11)."""

from dataclasses import dataclass
from datetime import datetime

from orrery.checkout import keys
from orrery.checkout.catalogue import Catalogue
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import AccessRecord
from orrery.errors import Invalid
from orrery.runtime.collection import Page, Walk, gathered


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
        known: Page[AccessRecord] = Page([found] if found else [])
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

    async def found_of(self, email: str) -> Page[AccessRecord]:
        """Return one buyer's access records, by session id."""
        found: Page[AccessRecord] = Page()
        for digest in keys.email_digests(email, self._stored.index_key):
            found += await gathered(self._stored.access.indexed(Walk(keys.access_by_email(digest))))
        return found

    async def _others(self, record: AccessRecord, cert_code: str) -> Page[AccessRecord]:
        """Return the other records of the same product that the buyer of a session has."""
        if record.revoked_at or not record.email or record.cert_code != cert_code:
            return Page()
        found = await self.found_of(record.email)
        return Page([one for one in found.records if one.record.product == record.product], found.unreadable)

    def _answer(self, found: Page[AccessRecord], cert_code: str, vendor_slug: str | None) -> AccessAnswer:
        if vendor_slug is None and len(self._catalogue.vendors_of(cert_code)) > 1:
            raise Invalid("vendorSlug: It is required, since more than one vendor has this certCode.")
        now = self._stored.clock.now()
        asked = [one for one in found.values() if one.cert_code == cert_code]
        ends = [one.expires_at for one in asked if one.runs_at(now) and vendor_slug in (None, one.vendor_slug)]
        if found.unreadable and not ends:
            raise found.unreadable[0]
        return AccessAnswer(bool(ends), max(ends, default=None))
