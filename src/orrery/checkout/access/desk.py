"""The owner's own changes to access records, each with its reason in the journal."""

import secrets
from collections.abc import Callable
from datetime import datetime

from orrery.checkout.access.browsers import Browsers
from orrery.checkout.access.emails import Emails
from orrery.checkout.access.lookup import Lookup
from orrery.checkout.access.report import settled_by_hand
from orrery.checkout.access.rules import one_year_after, without
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.collections import ACCESS_BY_TIME, CheckoutRecords
from orrery.checkout.records import AccessEnd, AccessRecord, GrantedBy, JournalAction, JournalEntry, Reversal
from orrery.errors import Invalid, NotFound, StoreUnavailable
from orrery.ports.store import Check, Committed, Delete, Write
from orrery.runtime import outbox
from orrery.runtime.collection import (
    Changes,
    RecordPage,
    StoredRecord,
    Walk,
    commit,
    gathered,
    sortable,
)
from orrery.syntax.email_address import is_email_address, normal_email
from orrery.syntax.reason import checked_reason


class Desk:
    """Reads and changes access records for the owner.

    A change raises `RecordUnreadable` when it concerns a record that cannot be read, and writes nothing.
    """

    def __init__(
        self,
        stored: CheckoutRecords,
        lookup: Lookup,
        browsers: Browsers,
        emails: Emails,
        *,
        livemode: bool,
    ) -> None:
        self._stored = stored
        self._lookup = lookup
        self._browsers = browsers
        self._emails = emails
        self._livemode = livemode

    async def newest(
        self, limit: int, wanted: Callable[[AccessRecord], bool] | None = None
    ) -> RecordPage[AccessRecord]:
        """Return up to `limit` access records, the newest first: all of them, or those that are wanted."""
        found: RecordPage[AccessRecord] = RecordPage()
        walk = Walk(ACCESS_BY_TIME, None if wanted else limit, newest_first=True)
        async for page in self._stored.access.indexed(walk):
            kept = [one for one in page.records if wanted is None or wanted(one.record)]
            found += RecordPage(kept[: limit - len(found.records)], page.unreadable)
            if len(found.records) == limit:
                break
        return found

    async def count(self, wanted: Callable[[AccessRecord], bool] | None = None) -> int:
        """Return how many access records there are, without reading them, or how many of them are wanted."""
        if wanted is None:
            return sum([1 async for _ in self._stored.access.entries(ACCESS_BY_TIME)])
        pages = self._stored.access.indexed(Walk(ACCESS_BY_TIME))
        return sum([wanted(one.record) async for page in pages for one in page.records])

    async def find(self, session_or_email: str) -> RecordPage[AccessRecord]:
        """Return the records of one session or one e-mail address.

        Raises `NotFound` without a record, and `RecordUnreadable` for a session whose record cannot be read.
        """
        if "@" in session_or_email:
            found = await self._lookup.found_of(session_or_email)
        else:
            record = await self._stored.access.get(session_or_email)
            found = RecordPage([record] if record else [])
        if found.is_empty:
            raise NotFound("There is no access record of that session or e-mail address.")
        return found

    async def resend(self, session_id: str, reason: str, *, new_link: bool = False) -> None:
        """Enqueue the buyer's e-mail about open access once more.

        With a new link the former ones open nothing, and the access is closed in all browsers.
        """
        found = await self._found(session_id)
        if not found.record.email:
            raise Invalid("This record has no e-mail address.")
        if not found.record.runs_at(self._stored.clock.now()):
            raise Invalid("This access has ended.")
        record = found.record.change(link_generation=found.record.link_generation + new_link)
        email = self._emails.opened(record, f"buyer-{session_id}-{secrets.token_hex(4)}")
        changes = Changes(
            outbox.enqueue([email], self._stored.clock.now()), [self._stored.access.as_read(session_id, found)]
        )
        if new_link:
            changes += self._stored.access.changes(session_id, found, record)
            changes += await self._browsers.closed(session_id)
        await self._commit(changes + self._noted(session_id, "resend", reason))

    async def revoke(self, session_id: str, reason: str) -> list[AccessRecord]:
        """Take access back from now on; return the records of the same buyer that therefore end earlier."""
        changes, shortened = await self.revocation(session_id, reason)
        await self._commit(changes)
        return shortened

    async def revocation(
        self, session_id: str, reason: str, reversal: Reversal | None = None
    ) -> tuple[Changes, list[AccessRecord]]:
        """Return what takes access back from now on, as part of a commit, and the records that end earlier then.

        Its buyer gets an e-mail. `reversal` is what went back, where the store does not have it yet. Raises
        `Invalid` when it is revoked already.
        """
        found = await self._found(session_id)
        record = found.record
        if record.revoked_at:
            raise Invalid("This access is revoked already.")
        revoked = record.change(revoked_at=self._stored.clock.now())
        # Each change of another record of the buyer writes the end, too: the end's check covers theirs.
        unchanged, others = await self._beside(record)
        shortened = {one.session_id: one for one in without(record, others)}
        writes: list[Write] = [self._stored.access.put(one, one.session_id) for one in shortened.values()]
        writes += self._end(record, [shortened.get(one.session_id, one) for one in others])
        changes = self._stored.access.changes(session_id, found, revoked) + Changes(writes, unchanged)
        changes += self._stored.taken_back()
        if reversal is None and record.payment_intent:
            known = await self._stored.reversals.find(record.payment_intent)
            reversal = known.record if known else None
        emails = self._emails.ended(revoked, reversal, [*shortened.values()])
        changes += Changes(outbox.enqueue(emails, self._stored.clock.now()))
        changes += await self._settled(session_id)
        return changes + self._noted(session_id, "revoke", reason), [*shortened.values()]

    async def keep(self, session_id: str, reason: str) -> None:
        """Let access run on though its payment went back: it is no problem any more, now or later."""
        payment = (await self._found(session_id)).record.payment_intent
        known = await self._stored.reversals.get(payment) if payment else None
        if not payment or not known:
            raise Invalid("No refund or dispute of this access is known.")
        kept = self._stored.reversals.changes(payment, known, known.record.change(access_stays=True))
        await self._commit(kept + await self._settled(session_id) + self._noted(session_id, "grant", reason))

    async def change_email(self, session_id: str, email: str, reason: str) -> AccessRecord:
        """Hand a record to another address of its buyer; the browsers and links of before open it no more."""
        found = await self._found(session_id)
        record = found.record
        changed = record.change(email=checked_email(email))
        if changed.email == record.email:
            raise Invalid("The record has this address already.")
        former = dict.fromkeys([*record.former_emails, *([record.email] if record.email else [])])
        changed = changed.change(
            former_emails=tuple(one for one in former if one != changed.email),
            link_generation=record.link_generation + 1,
        )
        before, left = await self._beside(record)
        after, beside = await self._beside(changed)
        ends = [*self._end(record, left), *self._end(changed, [changed, *beside])]
        changes = self._stored.access.changes(session_id, found, changed) + Changes(ends, [*before, *after])
        changes += await self._browsers.closed(session_id)
        await self._commit(changes + self._noted(session_id, "change-email", reason))
        return changed

    async def grant(
        self, email: str, product: ProductKey, reason: str, *, session_id: str | None = None
    ) -> AccessRecord:
        """Open access without a payment, or for a paid session that was refused, and write to the buyer.

        A session that has an access record is `Invalid`.
        """
        now = self._stored.clock.now()
        new_id = session_id or unguessable("owner")
        record = self.record(new_id, email, product, one_year_after(now), "owner")
        if await self._stored.access.get(record.session_id):
            raise Invalid(f"{record.session_id} has an access record already.")
        if session_id and (paid := await self._lookup.paid(session_id)):
            record = record.change(
                amount_total=paid.amount_total,
                currency=paid.currency,
                payment_intent=paid.payment_intent,
                paid_at=paid.created,
            )
            record = self._emails.in_series(record)
        unchanged, beside = await self._beside(record)
        # From the end of what runs, as a purchase would be (decision 10).
        ends = [one.expires_at for one in beside if one.runs_at(now)]
        record = record.change(expires_at=one_year_after(max([now, *ends])))
        writes = outbox.enqueue(self._emails.first(record), now)
        writes += [*self._end(record, [record, *beside]), Delete(self._stored.pending.key(record.session_id))]
        added = self.added(record, "grant", reason) + Changes(writes, unchanged)
        await self._commit(added + await self._settled(record.session_id))
        return record

    async def change_end(self, session_id: str, expires_at: datetime, reason: str) -> None:
        """Correct when imported access ends. What was bought on top of it keeps its end."""
        found = await self._found(session_id)
        changed = found.record.change(expires_at=expires_at)
        unchanged, beside = await self._beside(changed)
        changes = Changes(self._end(changed, [changed, *beside]), unchanged) + self._stored.taken_back()
        changes += self._stored.access.changes(session_id, found, changed)
        await self._commit(changes + self._noted(session_id, "import", reason))

    async def journal(self, limit: int) -> RecordPage[JournalEntry]:
        """Return the newest entries of the journal."""
        return await gathered(self._stored.journal.pages(limit=limit, newest_first=True))

    async def journal_length(self) -> int:
        """Return how many entries the journal has, without reading them."""
        return sum([1 async for _ in self._stored.journal.entries()])

    def record(
        self, session_id: str, email: str, product: ProductKey, expires_at: datetime, granted_by: GrantedBy
    ) -> AccessRecord:
        """Return a record of access that begins now, without a payment."""
        return AccessRecord(
            session_id=session_id,
            product_type=product.product_type,
            cert_code=product.cert_code,
            vendor_slug=product.vendor_slug,
            email=checked_email(email),
            granted_at=self._stored.clock.now(),
            expires_at=expires_at,
            amount_total=None,
            currency=None,
            livemode=self._livemode,
            payment_intent=None,
            event_id=None,
            granted_by=granted_by,
            marketing_consent=None,
            title=self._emails.catalogue.title_of(product),
        )

    def added(self, record: AccessRecord, action: JournalAction, reason: str) -> Changes:
        """Return what adds a new record, and notes why in the journal."""
        added = self._stored.access.changes(record.session_id, None, record)
        return added + self._noted(record.session_id, action, reason)

    async def _found(self, session_id: str) -> StoredRecord[AccessRecord]:
        if found := await self._stored.access.get(session_id):
            return found
        raise NotFound("There is no access record of that session.")

    async def _commit(self, changes: Changes) -> None:
        if not isinstance(await commit(self._stored.store, changes), Committed):
            raise StoreUnavailable("The buyer's access changed meanwhile; nothing was written, try again.")

    async def _settled(self, session_id: str) -> Changes:
        """Return what takes the session out of the last reconciliation, where that lists it."""
        last = await self._stored.reconciled.get()
        settled = last and settled_by_hand(last.record, session_id)
        if not last or not settled or settled == last.record:
            return Changes()
        return self._stored.reconciled.changes("", last, settled)

    def _noted(self, session_id: str, action: JournalAction, reason: str) -> Changes:
        checked_reason(reason)
        now = self._stored.clock.now()
        entry = JournalEntry(at=now, action=action, session_id=session_id, reason=reason)
        return Changes([self._stored.journal.put(entry, f"{sortable(now)}:{secrets.token_hex(4)}")])

    async def _beside(self, record: AccessRecord) -> tuple[list[Check], list[AccessRecord]]:
        """Return the buyer's other records of the same product, and the check that no sale changes their end."""
        if not record.email:
            return [], []
        unchanged = await self._stored.ends.unchanged(self._stored.end_id(record))  # before the records are read
        found = await self._lookup.records_of(record.email)
        same = [one for one in found if one.product == record.product and one.session_id != record.session_id]
        return [unchanged], same

    def _end(self, record: AccessRecord, records: list[AccessRecord]) -> list[Write]:
        """Return the write of the latest end among these records of its buyer; none where no buyer is known."""
        end_id, ends = self._stored.end_id(record), [one.expires_at for one in records if not one.revoked_at]
        if not record.email:
            return []
        if not ends:
            return [Delete(self._stored.ends.key(end_id))]
        return [self._stored.ends.put(AccessEnd(expires_at=max(ends)), end_id)]


def checked_email(email: str) -> str:
    """Return the address as it is stored; raise `Invalid` when it cannot be one."""
    address = normal_email(email)
    if not is_email_address(address):
        raise Invalid("That is not an e-mail address.")
    return address


def unguessable(kind: str) -> str:
    """Return a session id without a payment: it is a ticket, and not made of an address (decision 46)."""
    return f"{kind}_{secrets.token_hex(12)}"
