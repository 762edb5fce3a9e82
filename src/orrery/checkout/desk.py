"""The owner's own changes to access records, each with its reason in the journal (issue item 6)."""

import re
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime

from orrery.checkout import keys
from orrery.checkout.access import one_year_after, without
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.fulfilment import stored_access
from orrery.checkout.letters import Letters
from orrery.checkout.lookup import Lookup
from orrery.checkout.records import AccessEnd, AccessRecord, GrantedBy
from orrery.errors import Invalid, NotFound, RecordUnreadable, StoreUnavailable
from orrery.owner import outbox, stored
from orrery.ports.clock import Clock
from orrery.ports.store import Absent, Check, Committed, Delete, Put, Store, Unchanged, Write
from orrery.record import Record
from orrery.syntax.email_address import is_email_address, normal_email, without_case

JOURNAL = "journal:"

Action = Literal["grant", "import", "revoke", "change-email", "resend", "erase"]


class JournalEntry(Record):
    """One change by the owner: no e-mail address in it, so that it can stay after an erasure."""

    v: Literal[1] = 1
    at: AwareDatetime
    action: Action
    session_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Grant:
    """Access without a sale of the checkout: granted by the owner, or imported from another system."""

    email: str
    product: ProductKey
    granted_by: GrantedBy
    expires_at: datetime | None = None
    session_id: str | None = None


class Desk:
    """Reads and changes access records for the owner.

    A change raises `RecordUnreadable` when it concerns a record that cannot be read, and writes nothing.
    """

    def __init__(
        self, store: Store, clock: Clock, lookup: Lookup, letters: Letters, *, livemode: bool, index_key: bytes
    ) -> None:
        self._store = store
        self._clock = clock
        self._lookup = lookup
        self._letters = letters
        self._livemode = livemode
        self._index_key = index_key

    async def newest(self, limit: int) -> AsyncIterator[AccessRecord | RecordUnreadable]:
        """Yield up to `limit` access records, the newest first, or why one cannot be read."""
        after = None
        while limit > 0 and (
            page := await self._store.scan(keys.ACCESS_BY_TIME, after=after, limit=min(limit, 100), reverse=True)
        ):
            after = page[-1].key
            limit -= len(page)
            for entry in page:
                yield await self._lookup.behind(entry)

    async def find(self, session_or_email: str) -> Sequence[AccessRecord | RecordUnreadable]:
        """Return the records of one session or one e-mail address, or why one of an address cannot be read.

        Raises `NotFound` when there are none, and `RecordUnreadable` for a session whose record cannot be read.
        """
        found: Sequence[AccessRecord | RecordUnreadable]
        if "@" in session_or_email:
            found = await self._lookup.found_of(session_or_email)
        else:
            record = await self._lookup.record(session_or_email)
            found = [record] if record else []
        if not found:
            raise NotFound("There is no access record of that session or e-mail address.")
        return found

    async def resend(self, session_id: str, reason: str) -> None:
        """Enqueue the buyer's e-mail, which says that access is open, once more."""
        record, unchanged = await self._read(session_id)
        if not record.email:
            raise Invalid("This record has no e-mail address.")
        if not record.runs_at(self._clock.now()):
            raise Invalid("This access has ended.")
        letter = self._letters.to_buyer(record, f"buyer-{session_id}-{secrets.token_hex(4)}")
        writes = outbox.enqueue([letter], self._clock.now())
        await self._commit([*writes, self._journal(session_id, "resend", reason)], [unchanged])

    async def revoke(self, session_id: str, reason: str) -> list[AccessRecord]:
        """Take access back from now on; return the records of the same buyer that therefore end earlier."""
        writes, checks, shortened = await self.revocation(session_id, reason)
        await self._commit(writes, checks)
        return shortened

    async def revocation(
        self, session_id: str, reason: str
    ) -> tuple[list[Write], list[Check], list[AccessRecord]]:
        """Return what takes access back from now on, as part of a commit, and the records that end earlier then.

        Raises `Invalid` when it is revoked already.
        """
        record, unchanged = await self._read(session_id)
        if record.revoked_at:
            raise Invalid("This access is revoked already.")
        revoked = record.change(revoked_at=self._clock.now())
        # Whatever changes another record of the buyer writes the end, too: its check stands for theirs.
        checks = [unchanged, await self._end_unchanged(record)] if record.email else [unchanged]
        others = await self._others(record)
        shortened = {one.session_id: one for one in without(record, others)}
        writes: list[Write] = [
            Put(keys.access(one.session_id), one.to_bytes()) for one in (revoked, *shortened.values())
        ]
        if record.email:
            writes.append(self._end(record, [shortened.get(one.session_id, one) for one in others]))
        return [*writes, self._journal(session_id, "revoke", reason)], checks, [*shortened.values()]

    async def change_email(self, session_id: str, email: str, reason: str) -> AccessRecord:
        """Hand a record to another address of its buyer."""
        record, unchanged = await self._read(session_id)
        changed = record.change(email=checked_email(email))
        if changed.email == record.email:
            raise Invalid("The record has this address already.")
        former = dict.fromkeys([*record.former_emails, *([record.email] if record.email else [])])
        changed = changed.change(former_emails=tuple(one for one in former if one != changed.email))
        records = [write for write in stored_access(changed, self._index_key) if not _is_end(write)]
        old_end, old_checks = await self._end_without(record)
        new_end, new_checks = await self._end_with(changed)
        writes = [*self._unindexed(record), *records, *old_end, *new_end]
        journal = self._journal(session_id, "change-email", reason)
        await self._commit([*writes, journal], [unchanged, *old_checks, *new_checks])
        return changed

    async def grant(self, grant: Grant, reason: str) -> AccessRecord:
        """Open access without a payment; a session that has access, or a line that was imported, is `Invalid`."""
        now, record = self._clock.now(), self.record_for(grant)
        if await self._lookup.record(record.session_id):
            raise Invalid(f"{record.session_id} has an access record already.")
        if await self.was_imported(grant):
            raise Invalid("This line was imported already.")
        unchanged, beside = await self._end_unchanged(record), await self._records_beside(record)
        if grant.expires_at is None:
            record = _extending(record, beside, now)
        writes = [write for write in stored_access(record, self._index_key) if not _is_end(write)]
        if grant.granted_by == "owner":
            writes += outbox.enqueue([self._letters.to_buyer(record, f"buyer-{record.session_id}")], now)
        journal = self._journal(record.session_id, "grant" if grant.granted_by == "owner" else "import", reason)
        writes += [self._end(record, [record, *beside]), Delete(keys.pending(record.session_id)), journal]
        checks: list[Check] = [Absent(keys.access(record.session_id)), unchanged]
        if former_ids := _former_ids(grant):
            line = keys.imported(former_ids[0], self._index_key)
            writes.append(Put(line, record.session_id.encode()))
            checks.append(Absent(line))
        await self._commit(writes, checks)
        return record

    async def was_imported(self, grant: Grant) -> bool:
        """Return whether this line was imported before, also when its record has changed since."""
        for former_id in _former_ids(grant):
            # A record that could not be read lies under its former id still.
            for key in (keys.imported(former_id, self._index_key), keys.access(former_id)):
                if await self._store.get(key):
                    return True
        return False

    async def journal(self, limit: int) -> list[JournalEntry | RecordUnreadable]:
        """Return the newest entries of the journal, or why one cannot be read."""
        entries = await self._store.scan(JOURNAL, limit=limit, reverse=True)
        return [stored.tried(JournalEntry, entry) for entry in entries]

    def record_for(self, grant: Grant) -> AccessRecord:
        """Return the access record that `grant` would write; raise `Invalid` for unusable values."""
        now = self._clock.now()
        if grant.expires_at is not None and grant.expires_at <= now:
            raise Invalid("The access would have ended already.")
        return AccessRecord(
            session_id=grant.session_id or _random_id(grant.granted_by),
            product_type=grant.product.product_type,
            cert_code=grant.product.cert_code,
            vendor_slug=grant.product.vendor_slug,
            email=checked_email(grant.email),
            granted_at=now,
            expires_at=grant.expires_at or one_year_after(now),
            amount_total=None,
            currency=None,
            livemode=self._livemode,
            payment_intent=None,
            event_id=None,
            granted_by=grant.granted_by,
            marketing_consent=None,
        )

    async def _read(self, session_id: str) -> tuple[AccessRecord, Check]:
        entry = await self._store.get(keys.access(session_id))
        if entry is None:
            raise NotFound("There is no access record of that session.")
        return stored.read(AccessRecord, entry), Unchanged(entry.key, entry.version)

    async def _commit(self, writes: list[Write], checks: list[Check]) -> None:
        if not isinstance(await self._store.commit(writes, checks), Committed):
            raise StoreUnavailable("The buyer's access changed meanwhile; nothing was written, try again.")

    def _journal(self, session_id: str, action: Action, reason: str) -> Put:
        checked_reason(reason)
        now = self._clock.now()
        entry = JournalEntry(at=now, action=action, session_id=session_id, reason=reason)
        return Put(f"{JOURNAL}{keys.stamp(now)}:{secrets.token_hex(4)}", entry.to_bytes())

    def _unindexed(self, record: AccessRecord) -> list[Write]:
        if not record.email:
            return []
        return [Delete(keys.access_by_email(keys.email_digest(record.email, self._index_key), record.session_id))]

    async def _end_without(self, record: AccessRecord) -> tuple[list[Write], list[Check]]:
        if not record.email:
            return [], []
        unchanged = await self._end_unchanged(record)
        return [self._end(record, await self._others(record))], [unchanged]

    async def _end_with(self, record: AccessRecord) -> tuple[list[Write], list[Check]]:
        unchanged = await self._end_unchanged(record)
        return [self._end(record, [record, *await self._records_beside(record)])], [unchanged]

    async def _end_unchanged(self, record: AccessRecord) -> Check:
        """Return the check that no sale changes the end meanwhile; ask before the records are read."""
        entry = await self._store.get(self._end_key(record))
        return Unchanged(entry.key, entry.version) if entry else Absent(self._end_key(record))

    async def _others(self, record: AccessRecord) -> list[AccessRecord]:
        """Return the buyer's other records of the same product: none of a buyer who is not known."""
        beside = await self._records_beside(record) if record.email else []
        return [one for one in beside if one.session_id != record.session_id]

    async def _records_beside(self, record: AccessRecord) -> list[AccessRecord]:
        return [one for one in await self._lookup.records_of(record.email) if one.product == record.product]

    def _end(self, record: AccessRecord, records: list[AccessRecord]) -> Write:
        ends = [one.expires_at for one in records if not one.revoked_at]
        key = self._end_key(record)
        return Put(key, AccessEnd(expires_at=max(ends)).to_bytes()) if ends else Delete(key)

    def _end_key(self, record: AccessRecord) -> str:
        return keys.access_end(keys.email_digest(record.email, self._index_key), record.product)


def _former_ids(grant: Grant) -> list[str]:
    """Return what an import is known by: by today's spelling of its address, and by that of an earlier release."""
    if grant.granted_by != "import" or grant.expires_at is None:
        return []
    address = checked_email(grant.email)
    spellings = dict.fromkeys((address, without_case(address)))
    return [keys.former_import_id(one, grant.product, grant.expires_at) for one in spellings]


def _random_id(granted_by: GrantedBy) -> str:
    # Nobody must be able to compute it from an address: it is a ticket (decision 46).
    return f"{'imported' if granted_by == 'import' else 'owner'}_{secrets.token_hex(12)}"


def checked_email(email: str) -> str:
    """Return the address as it is stored; raise `Invalid` when it cannot be one."""
    address = normal_email(email)
    if not is_email_address(address):
        raise Invalid("That is not an e-mail address.")
    return address


_SOMEWHERE_AN_EMAIL = re.compile(r"[^\s@]@[^\s@]+\.[^\s@.]")


def checked_reason(reason: str) -> None:
    """Raise `Invalid` unless the journal may keep this reason permanently."""
    if not reason.strip():
        raise Invalid("A reason is needed.")
    if _SOMEWHERE_AN_EMAIL.search(reason):
        raise Invalid("The reason must hold no e-mail address: it is kept, also after an erasure.")


def _extending(record: AccessRecord, beside: list[AccessRecord], now: datetime) -> AccessRecord:
    """Return `record` from the end of what runs, as a purchase would be (decision 10)."""
    ends = [one.expires_at for one in beside if one.runs_at(now)]
    return record.change(expires_at=one_year_after(max([now, *ends])))


def _is_end(write: Write) -> bool:
    return write.key.startswith("access-end:")
