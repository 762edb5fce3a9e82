"""The practice site's question whether a buyer has access (decision 11)."""

import secrets
from dataclasses import dataclass
from datetime import datetime

from orrery.checkout import keys
from orrery.checkout.catalogue import Catalogue
from orrery.checkout.records import AccessRecord
from orrery.errors import Invalid, RecordUnreadable
from orrery.owner import stored
from orrery.ports.clock import Clock
from orrery.ports.store import Absent, Entry, Put, Store


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to the practice site."""

    granted: bool
    expires_at: datetime | None


class Lookup:
    """Reads access records."""

    def __init__(self, store: Store, clock: Clock, catalogue: Catalogue, *, index_key: bytes) -> None:
        self._store = store
        self._clock = clock
        self._catalogue = catalogue
        self._index_key = index_key

    async def check_session(self, session_id: str, cert_code: str, vendor_slug: str | None = None) -> Answer:
        """Return whether the buyer of this session, who may have bought the product again, has access to it now.

        A session opens only its own product, and nothing once it was revoked. Raises as `check_email`.
        """
        record = await self.record(session_id)
        found = await self._known_by(record, cert_code) if record else []
        return self._answer(found, cert_code, vendor_slug)

    async def check_email(self, email: str, cert_code: str, vendor_slug: str | None = None) -> Answer:
        """Return whether any purchase of this buyer opens that product now.

        Raises `Invalid` when the code alone does not identify the product, and `RecordUnreadable` when no readable
        purchase opens it, but an unreadable one might.
        """
        return self._answer(await self.found_of(email), cert_code, vendor_slug)

    async def record(self, session_id: str) -> AccessRecord | None:
        """Return one access record; raise `RecordUnreadable`."""
        entry = await self._store.get(keys.access(session_id))
        return stored.read(AccessRecord, entry) if entry else None

    async def behind(self, index: Entry) -> AccessRecord | RecordUnreadable:
        """Return the access record that an entry of an index leads to, or why it cannot be read."""
        try:
            # No access record is ever removed: an index that leads to none is damaged itself.
            return await self.record(stored.read_id(index)) or stored.unreadable(index)
        except RecordUnreadable as error:
            return error

    async def records_of(self, email: str) -> list[AccessRecord]:
        """Return all access records of one buyer, by session id; raise `RecordUnreadable` for one of them."""
        records, left_out = stored.parted(await self.found_of(email))
        if left_out:
            raise left_out[0]
        return records

    async def found_of(self, email: str) -> list[AccessRecord | RecordUnreadable]:
        """Return one buyer's access records, by session id, and why some cannot be read."""
        found: list[AccessRecord | RecordUnreadable] = []
        for digest in keys.email_digests(email, self._index_key):
            index = await self._store.scan(keys.access_by_email(digest), limit=1000)
            found += [await self.behind(entry) for entry in index]
        return found

    async def _known_by(self, record: AccessRecord, cert_code: str) -> list[AccessRecord | RecordUnreadable]:
        """Return the access record of a session and the buyer's other records of the same product."""
        if record.revoked_at or not record.email or record.cert_code != cert_code:
            return [record]
        others = await self.found_of(record.email)
        same = [one for one in others if isinstance(one, RecordUnreadable) or one.product == record.product]
        return [record, *same]

    def _answer(
        self, found: list[AccessRecord | RecordUnreadable], cert_code: str, vendor_slug: str | None
    ) -> Answer:
        records, left_out = stored.parted(found)
        having_code = [record for record in records if record.cert_code == cert_code]
        vendor, now = vendor_slug or self._vendor(cert_code, having_code), self._clock.now()
        ends = [one.expires_at for one in having_code if one.vendor_slug == vendor and one.runs_at(now)]
        if left_out and not ends:
            raise left_out[0]
        return Answer(bool(ends), max(ends, default=None))

    def _vendor(self, cert_code: str, records: list[AccessRecord]) -> str | None:
        """Return the vendor of a code: from the catalogue, or from the buyer's records when it is not on sale."""
        vendors = self._catalogue.vendors_of(cert_code) or sorted({one.vendor_slug for one in records})
        if len(vendors) > 1:
            raise Invalid("vendorSlug: It is required, since more than one vendor has this certCode.")
        return vendors[0] if vendors else None


async def index_key(store: Store) -> bytes:
    """Return the store's own key for digests of e-mail addresses, made when the store is new (decision 10)."""
    while (entry := await store.get(keys.INDEX_KEY)) is None:
        _ = await store.commit([Put(keys.INDEX_KEY, secrets.token_bytes(32))], [Absent(keys.INDEX_KEY)])
    return entry.value
