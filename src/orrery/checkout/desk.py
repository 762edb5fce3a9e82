"""The owner's own changes to access records, each with its reason in the journal (issue item 6)."""

import re
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from orrery.checkout import keys
from orrery.checkout.access import one_year_after
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.fulfilment import stored_access
from orrery.checkout.letters import Letters
from orrery.checkout.lookup import Lookup
from orrery.checkout.records import AccessEnd, AccessRecord, GrantedBy
from orrery.errors import Invalid, NotFound, StoreUnavailable
from orrery.owner import outbox
from orrery.ports.clock import Clock
from orrery.ports.store import Absent, Committed, Delete, Put, Store, Unchanged, Write

JOURNAL = "journal:"

Action = Literal["grant", "import", "revoke", "change-email", "resend", "erase"]


class JournalEntry(BaseModel):
    """One change by the owner: no e-mail address in it, so that it can stay after an erasure."""

    v: Literal[1] = 1
    at: datetime
    action: Action
    session_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Gift:
    """Access that was not sold through the checkout: by the owner's word, or brought along from elsewhere."""

    email: str
    product: ProductKey
    granted_by: GrantedBy
    expires_at: datetime | None = None
    session_id: str | None = None


class Desk:
    """Reads and changes access records by the owner's word."""

    def __init__(self, store: Store, clock: Clock, lookup: Lookup, letters: Letters, *, index_key: bytes) -> None:
        self._store = store
        self._clock = clock
        self._lookup = lookup
        self._letters = letters
        self._index_key = index_key

    async def newest(self, limit: int) -> AsyncIterator[AccessRecord]:
        """Yield up to `limit` access records, the newest first."""
        after = None
        while limit > 0 and (
            page := await self._store.scan(keys.ACCESS_BY_TIME, after=after, limit=min(limit, 100), reverse=True)
        ):
            after = page[-1].key
            limit -= len(page)
            for entry in page:
                if record := await self._lookup.record(entry.value.decode()):
                    yield record

    async def find(self, session_or_email: str) -> list[AccessRecord]:
        """Return the records of one session or one e-mail address; raise `NotFound` when there are none."""
        if "@" in session_or_email:
            found = await self._lookup.records_of(session_or_email)
        else:
            record = await self._lookup.record(session_or_email)
            found = [record] if record else []
        if not found:
            raise NotFound("There is no access record of that session or e-mail address.")
        return found

    async def resend(self, session_id: str, reason: str) -> None:
        """Enqueue the buyer's e-mail once more."""
        record, version = await self._read(session_id)
        if not record.email:
            raise Invalid("This record has no e-mail address.")
        letter = self._letters.to_buyer(record, f"buyer-{session_id}-{secrets.token_hex(4)}")
        writes = outbox.enqueue([letter], self._clock.now())
        await self._commit(writes, record, version, "resend", reason)

    async def revoke(self, session_id: str, reason: str) -> AccessRecord:
        """Take access back from now on."""
        record, version = await self._read(session_id)
        if record.revoked_at:
            raise Invalid("This access is revoked already.")
        revoked = record.model_copy(update={"revoked_at": self._clock.now()})
        writes: list[Write] = [Put(keys.access(session_id), revoked.to_bytes())]
        await self._commit([*writes, *await self._end_without(record)], record, version, "revoke", reason)
        return revoked

    async def change_email(self, session_id: str, email: str, reason: str) -> AccessRecord:
        """Hand a record to another address of its buyer."""
        record, version = await self._read(session_id)
        changed = record.model_copy(update={"email": checked_email(email)})
        if changed.email == record.email:
            raise Invalid("The record has this address already.")
        stored = [write for write in stored_access(changed, self._index_key) if not _is_end(write)]
        writes = [
            *self._unindexed(record),
            *stored,
            *await self._end_without(record),
            *await self._end_with(changed),
        ]
        await self._commit(writes, record, version, "change-email", reason)
        return changed

    async def grant(self, gift: Gift, reason: str) -> AccessRecord:
        """Open access without a payment; an import that exists already is `Invalid`."""
        now = self._clock.now()
        record = self._given(gift, now)
        if not record.expires_at > now:
            raise Invalid("The access would have ended already.")
        writes = [write for write in stored_access(record, self._index_key) if not _is_end(write)]
        if gift.granted_by == "owner":
            writes += outbox.enqueue([self._letters.to_buyer(record, f"buyer-{record.session_id}")], now)
        writes += [*await self._end_with(record), Delete(keys.pending(record.session_id))]
        journal = self._journal(record.session_id, "grant" if gift.granted_by == "owner" else "import", reason)
        outcome = await self._store.commit([*writes, journal], [Absent(keys.access(record.session_id))])
        if not isinstance(outcome, Committed):
            raise Invalid(f"{record.session_id} has an access record already.")
        return record

    async def journal(self, limit: int) -> list[JournalEntry]:
        """Return the newest entries of the journal."""
        entries = await self._store.scan(JOURNAL, limit=limit, reverse=True)
        return [JournalEntry.model_validate_json(entry.value) for entry in entries]

    def _given(self, gift: Gift, now: datetime) -> AccessRecord:
        return AccessRecord(
            session_id=gift.session_id or f"owner_{secrets.token_hex(12)}",
            product_type=gift.product.product_type,
            cert_code=gift.product.cert_code,
            vendor_slug=gift.product.vendor_slug,
            email=checked_email(gift.email),
            granted_at=now,
            expires_at=gift.expires_at or one_year_after(now),
            amount_total=None,
            currency=None,
            livemode=True,
            payment_intent=None,
            event_id=None,
            granted_by=gift.granted_by,
            marketing_consent=None,
        )

    async def _read(self, session_id: str) -> tuple[AccessRecord, int]:
        entry = await self._store.get(keys.access(session_id))
        if entry is None:
            raise NotFound("There is no access record of that session.")
        return AccessRecord.model_validate_json(entry.value), entry.version

    async def _commit(
        self, writes: list[Write], record: AccessRecord, version: int, action: Action, reason: str
    ) -> None:
        journal = self._journal(record.session_id, action, reason)
        check = Unchanged(keys.access(record.session_id), version)
        if not isinstance(await self._store.commit([*writes, journal], [check]), Committed):
            raise StoreUnavailable("The record changed meanwhile; nothing was written, try again.")

    def _journal(self, session_id: str, action: Action, reason: str) -> Put:
        if not reason.strip():
            raise Invalid("A reason is needed.")
        now = self._clock.now()
        entry = JournalEntry(at=now, action=action, session_id=session_id, reason=reason)
        return Put(f"{JOURNAL}{keys.stamp(now)}:{secrets.token_hex(4)}", entry.model_dump_json().encode())

    def _unindexed(self, record: AccessRecord) -> list[Write]:
        if not record.email:
            return []
        return [Delete(keys.access_by_email(keys.email_digest(record.email, self._index_key), record.session_id))]

    async def _end_without(self, record: AccessRecord) -> list[Write]:
        others = [
            other for other in await self._lookup.records_of(record.email) if other.session_id != record.session_id
        ]
        return self._end(record, others) if record.email else []

    async def _end_with(self, record: AccessRecord) -> list[Write]:
        return self._end(record, [record, *await self._lookup.records_of(record.email)])

    def _end(self, record: AccessRecord, records: list[AccessRecord]) -> list[Write]:
        key = keys.access_end(keys.email_digest(record.email, self._index_key), record.product)
        ends = [one.expires_at for one in records if one.product == record.product and not one.revoked_at]
        return [Put(key, AccessEnd(expires_at=max(ends)).to_bytes())] if ends else [Delete(key)]


_EMAIL = re.compile(r"[^\s@]+@[^\s@.]+(\.[^\s@.]+)+")
_EMAIL_MAXIMUM = 254


def checked_email(email: str) -> str:
    """Return the address as it is stored; raise `Invalid` when it can not be one."""
    address = keys.normal_email(email)
    if len(address) > _EMAIL_MAXIMUM or not address.isprintable() or not _EMAIL.fullmatch(address):
        raise Invalid("That is not an e-mail address.")
    return address


def _is_end(write: Write) -> bool:
    return write.key.startswith("access-end:")
