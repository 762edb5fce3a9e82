"""A person's data: the export of all data about an address, and its erasure (decisions 8 and 10)."""

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from orrery.checkout import collections, keys
from orrery.checkout.desk import checked_reason
from orrery.checkout.lookup import Lookup
from orrery.checkout.mentions import SearchTerms
from orrery.checkout.raw_events import ERASED_EVENT
from orrery.checkout.records import KEEP_EVENTS, AccessRecord, ErasedSession, JournalEntry
from orrery.errors import Invalid, NotFound, RecordUnreadable
from orrery.owner import outbox
from orrery.owner.approvals import Approvals, Proposal, normal_reason
from orrery.owner.intent_store import INTENT
from orrery.ports.clock import Clock
from orrery.ports.store import Absent, Committed, Delete, Entry, Put, Store, Unchanged, Write
from orrery.runtime.collection import Changes, Collection, Walk, sortable, unreadable, write
from orrery.syntax.email_address import normal_email
from orrery.syntax.lines import is_line

KEEP_ADDRESSES = timedelta(days=30)
"""How long an offer keeps the client address (decision 8)."""

LONGEST_ADDRESS = 1000
"""Characters of an address that may be searched for."""

_SOMEBODY = re.compile(r".*[^\s@]@[^\s@]+\.[^\s@]+")


@dataclass(slots=True)
class PersonalData:
    """Everything that the store holds about one address, ready for JSON."""

    access: list[object] = field(default_factory=list[object])
    offers: list[object] = field(default_factory=list[object])
    events: list[object] = field(default_factory=list[object])
    notifications: list[object] = field(default_factory=list[object])
    intents: list[object] = field(default_factory=list[object])


@dataclass(frozen=True, slots=True)
class Erasure:
    """The erased data, and why intents that name the address are kept, by their ids.

    `former` are the former addresses that were erased with it. `is_scrubbed`: the store's log has none of it.
    """

    data: PersonalData
    kept: Mapping[str, str]
    former: tuple[str, ...] = ()
    is_scrubbed: bool = True


@dataclass(frozen=True, slots=True)
class EarlierErasure:
    """An erasure in the store that a restore replaces: its journal entry, and the record without its buyer."""

    session_id: str
    reason: str
    journal: Put
    record: AccessRecord | None


class Privacy:
    """Exports and erases personal data."""

    def __init__(
        self, store: Store, clock: Clock, lookup: Lookup, approvals: Approvals, *, index_key: bytes
    ) -> None:
        self._store = store
        self._clock = clock
        self._lookup = lookup
        self._approvals = approvals
        self._index_key = index_key
        self._access = lookup.records
        self._offers = collections.offers(store, clock)
        self._journal = collections.journal(store, clock)
        self._erased = collections.erased_sessions(store, clock)
        self._others: tuple[Collection[Any], ...] = (
            self._offers,
            collections.pending_sessions(store, clock),
            collections.reversals(store, clock),
            collections.unreadable_events(store, clock),
        )

    async def export(self, email: str) -> PersonalData:
        """Return all that is kept about `email`; raise `RecordUnreadable` for one of its access records."""
        return await self._exported(await self._search_terms(normal_email(email)))

    async def erase(self, email: str, reason: str) -> Erasure:
        """Erase `email` everywhere; sales stay, without their buyer, and intents of which something may come.

        The former addresses of its records are erased too, unless another record has one of them now. Access that
        runs stays open by its session id. Raises `Invalid` for an unusable reason, and the store's errors; a
        repeat completes an interrupted erasure.
        """
        address = normal_email(email)
        checked_reason(reason)
        reason = normal_reason(reason)
        terms = await self._search_terms(address)
        data = await self._exported(terms)
        # The records go last: until then a repeat learns from them which the former addresses were.
        kept = await self._erase_intents(terms, reason)
        # Until nothing is found: a sale, delivery or change meanwhile made its part of the erasure conflict.
        while await self._erase_found(terms, address, reason):
            terms |= await self._search_terms(address)
        former = sorted(terms.addresses - {address})
        return Erasure(data, kept, tuple(former), is_scrubbed=await self._store.scrub())

    async def erase_again(self, done: Sequence[EarlierErasure]) -> tuple[int, list[RecordUnreadable]]:
        """Repeat in a restored store the erasures that were `done` in the previous one.

        Returns how many sessions were erased, and why others were not. A record that the snapshot does not contain
        is copied without its buyer, so that its session id keeps the access.
        """
        again, left_out = 0, list[RecordUnreadable]()
        for one in done:
            if await self._store.get(keys.erased(one.session_id, self._index_key)):
                continue
            try:
                record = await self._lookup.record(one.session_id)
                if record and record.email:
                    _ = await self.erase(record.email, one.reason)
            except RecordUnreadable as error:
                left_out.append(error)
                continue
            blank = [] if record or one.record is None else self._access.writes(one.record, one.session_id)
            await write(self._store, [one.journal, self._tombstone(one.session_id), *blank])
            again += 1
        return again, left_out

    async def erase_old_addresses(self) -> int:
        """Remove the client address from offers older than 30 days; return how many (decision 8)."""
        erased = 0
        due = Walk(keys.OFFER_ADDRESS, until=f"{keys.OFFER_ADDRESS}{sortable(self._clock.now() - KEEP_ADDRESSES)}")
        async for entries in due.over(self._store, self._clock):
            for index in entries:
                changes = await self._without_address(index.key.rpartition(":")[2])
                if index.key not in {one.key for one in changes.writes}:
                    changes += Changes([Delete(index.key)])
                # What changed meanwhile is found again by the next run.
                erased += isinstance(await self._store.commit(changes.writes, changes.checks), Committed)
        if erased:
            _ = await self._store.scrub()
        return erased

    async def _search_terms(self, address: str) -> SearchTerms:
        records, former = await self._records(address), set[str]()
        for one in {former for record in records for former in record.former_emails}:
            if (await self._lookup.found_of(one)).is_empty:
                former.add(one)
        return SearchTerms(frozenset({address} | former), frozenset(record.session_id for record in records))

    async def _exported(self, terms: SearchTerms) -> PersonalData:
        data = PersonalData()
        async for record in self._held_by(terms):
            data.access.append(record.model_dump(mode="json"))
            if offer := await self._store.get(keys.offer(record.session_id)):
                data.offers.append(_stored_json(offer))
        async for entry in self._events(terms):
            data.events.append(_stored_json(entry))
        async for entry in self._notifications(terms):
            data.notifications.append(_stored_json(entry))
        data.intents += [_intent_json(proposal) for proposal in await self._proposals(terms)]
        data.intents += [_stored_json(entry) for entry in await self._damaged_intents(terms)]
        return data

    async def _erase_found(self, terms: SearchTerms, address: str, reason: str) -> bool:
        """Erase the data that is found now; return whether there was any."""
        found = False
        async for entry in self._events(terms):
            found = True
            note = Delete(keys.unreadable_event(entry.key.removeprefix(keys.EVENT)))
            erased = Put(entry.key, ERASED_EVENT, KEEP_EVENTS)
            await self._commit(Changes([erased, note], [Unchanged(entry.key, entry.version)]))
        async for entry in self._notifications(terms):
            found = True
            await self._commit(Changes(outbox.removed(entry), [Unchanged(entry.key, entry.version)]))
        for record in await self._records(address):
            found = True
            await self._erase_record(record, reason)
        async for entry in self._scanned(keys.ACCESS):
            if terms.addressed_in(entry.value) and (changes := _without_former(terms, self._access, entry)):
                found = True
                await self._commit(changes)
        for collection in self._others:
            async for entry in self._scanned(collection.prefix):
                if terms.addressed_in(entry.value):
                    found = True
                    await self._commit(_without_person(terms, collection, entry))
        return found

    async def _erase_intents(self, terms: SearchTerms, reason: str) -> dict[str, str]:
        """Erase the intents that name the person; return why others are kept, by their ids."""
        damaged = await self._damaged_intents(terms)
        kept = {entry.key.removeprefix(INTENT): str(unreadable(entry.key)) for entry in damaged}
        for proposal in await self._proposals(terms):
            try:
                await self._approvals.erase(proposal.intent.id, reason)
            except NotFound:  # another process has erased it meanwhile
                continue
            except Invalid as error:
                kept[proposal.intent.id] = str(error)
        return kept

    async def _records(self, address: str) -> list[AccessRecord]:
        """Return the access records of an address in every spelling, also one in other capitals beyond ASCII."""
        found = {one.session_id: one for one in await self._lookup.records_of(address)}
        async for record in self._held_by(SearchTerms(frozenset({address}))):
            found[record.session_id] = record
        return list(found.values())

    async def _held_by(self, terms: SearchTerms) -> AsyncIterator[AccessRecord]:
        async for entry in self._scanned(keys.ACCESS):
            if terms.addressed_in(entry.value):
                record = self._access.read(entry).record
                if terms.is_address(record.email):
                    yield record

    async def _events(self, terms: SearchTerms) -> AsyncIterator[Entry]:
        async for entry in self._scanned(keys.EVENT):
            if terms.named_in(entry.value):
                yield entry

    async def _notifications(self, terms: SearchTerms) -> AsyncIterator[Entry]:
        """Yield the notifications to the person; a push to the owner names a session and no person."""
        async for entry in self._scanned(outbox.ROW):
            if terms.addressed_in(entry.value) or (outbox.is_email(entry) and terms.named_in(entry.value)):
                yield entry

    async def _proposals(self, terms: SearchTerms) -> list[Proposal]:
        proposals = await self._approvals.proposals()
        return [one for one in proposals if terms.addressed_in(json.dumps(_intent_json(one)).encode())]

    async def _damaged_intents(self, terms: SearchTerms) -> list[Entry]:
        return [one for one in await self._approvals.unreadable() if terms.addressed_in(one.value)]

    async def _erase_record(self, record: AccessRecord, reason: str) -> None:
        found = await self._access.find(record.session_id)
        if found is None or found.record != record:
            return
        digest = keys.email_digest(record.email, self._index_key)
        blank = record.without_unknown_fields().change(email="", former_emails=(), marketing_consent=None)
        now = self._clock.now()
        journal = JournalEntry(at=now, action="erase", session_id=record.session_id, reason=reason)
        writes: list[Write] = [
            Delete(keys.access_end(digest, record.product)),
            self._journal.put(journal, f"{sortable(now)}:{record.session_id}"),
            self._tombstone(record.session_id),
        ]
        changes = self._access.changes(record.session_id, found, blank) + Changes(writes)
        await self._commit(changes + await self._without_address(record.session_id))

    def _tombstone(self, session_id: str) -> Put:
        key = keys.erased(session_id, self._index_key)
        return self._erased.put(ErasedSession(erased_at=self._clock.now()), key.removeprefix(keys.ERASED))

    async def _without_address(self, session_id: str) -> Changes:
        if offer := await self._offers.find(session_id):
            blank = offer.record.without_unknown_fields().change(client_address=None)
            return self._offers.changes(session_id, offer, blank)
        unreadable = await self._offers.unchanged(session_id)
        if isinstance(unreadable, Absent):
            return Changes()
        # It may contain the address, and every reader treats it as missing.
        return Changes([Delete(unreadable.key)], [unreadable])

    async def _scanned(self, prefix: str) -> AsyncIterator[Entry]:
        async for entry in Walk(prefix).entries(self._store, self._clock):
            yield entry

    async def _commit(self, changes: Changes) -> None:
        # What changed meanwhile is found again: the erasure looks until there is nothing.
        _ = await self._store.commit(changes.writes, changes.checks)


def search_address(text: str) -> str:
    """Return an address as it is stored; raise `Invalid` for a text under which nothing can be stored.

    It accepts more than deliverable addresses: the buyer's text on the payment page is stored as it was.
    """
    address = normal_email(text)
    if not is_line(address, LONGEST_ADDRESS) or not _SOMEBODY.fullmatch(address):
        raise Invalid("That is not an e-mail address.")
    return address


def _stored_json(entry: Entry) -> object:
    """Return the content of an entry, ready for JSON; for a damaged one, its text."""
    try:
        return json.loads(entry.value)
    except (ValueError, RecursionError):
        return entry.value.decode(errors="replace")


def _intent_json(proposal: Proposal) -> Mapping[str, object]:
    """Return the content and the progress of an intent, ready for JSON."""
    progress = proposal.progress
    return proposal.intent.model_dump(mode="json") | {
        "progress": progress.model_dump(mode="json") if progress else None
    }


def _without_former(terms: SearchTerms, records: Collection[AccessRecord], entry: Entry) -> Changes | None:
    """Return the changes that erase former addresses from an access record, the proof of a sale; None without any.

    Raises `RecordUnreadable`.
    """
    found = records.read(entry)
    left = found.record.without_unknown_fields()
    left = left.change(former_emails=tuple(one for one in left.former_emails if not terms.is_address(one)))
    return records.changes(found.id, found, left) if left != found.record else None


def _without_person(terms: SearchTerms, collection: Collection[Any], entry: Entry) -> Changes:
    """Return the changes that erase the person from a record that others need.

    The address is in a field that this release does not know. A record that still names it, or cannot be read, is
    deleted.
    """
    try:
        found = collection.read(entry)
    except RecordUnreadable:
        return Changes([Delete(entry.key)], [Unchanged(entry.key, entry.version)])
    left = found.record.without_unknown_fields()
    return collection.changes(found.id, found, None if terms.addressed_in(left.to_bytes()) else left)


async def earlier_erasures(store: Store, clock: Clock) -> list[EarlierErasure]:
    """Return the erasures in a store's journal, the oldest first."""
    found: list[EarlierErasure] = []
    journal, records = collections.journal(store, clock), collections.access_records(store, clock, b"")
    async for page in journal.pages():
        for entry in page.records:
            noted = entry.record
            if noted.action == "erase":
                record = await records.find(noted.session_id)
                blank = record.record if record and not record.record.email else None
                found.append(EarlierErasure(noted.session_id, noted.reason, journal.put(noted, entry.id), blank))
    return found
