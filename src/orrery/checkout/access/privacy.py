"""The personal data of checkout: buyers' access records, the offers that they were made, and the raw events."""

from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from typing import Any

from orrery.checkout.access.browsers import Browsers
from orrery.checkout.access.events import ERASED_EVENT
from orrery.checkout.access.lookup import Lookup
from orrery.checkout.collections import OFFER_ADDRESS, CheckoutRecords
from orrery.checkout.records import KEEP_EVENTS, AccessRecord, ErasedSession, JournalEntry
from orrery.ports.clock import Clock
from orrery.ports.store import Absent, Committed, Delete, Put, Store, StoreEntry, Unchanged, Write
from orrery.runtime.collection import Changes, Collection, StoredRecord, Walk, commit, sortable, write
from orrery.runtime.personal_entries import without_person
from orrery.runtime.privacy import (
    EraseAddress,
    ErasureRequest,
    ErasureRound,
    PersonalDataSource,
    RepeatErasure,
    commit_erasure,
    stored_json,
)
from orrery.runtime.search_terms import SearchTerms

KEEP_ADDRESSES = timedelta(days=30)
"""How long an offer keeps the client address (decision 8)."""

_FUTURE = timedelta(hours=1)
"""An offer from further ahead was made before the clock was put back."""


EarlierErasure = tuple[StoredRecord[JournalEntry], AccessRecord | None]
"""An erasure in the store that a restore replaces: its journal entry, and the record without its buyer."""


class BuyerData:
    """Finds and erases what checkout keeps about buyers."""

    def __init__(self, stored: CheckoutRecords, lookup: Lookup, browsers: Browsers) -> None:
        self._stored = stored
        self._browsers = browsers
        self._lookup = lookup
        self._others: tuple[Collection[Any], ...] = (
            stored.offers,
            stored.pending,
            stored.reversals,
            stored.unreadable_events,
        )

    def sources(self) -> list[PersonalDataSource]:
        """Return the access records, which hold the former addresses, and what else names a buyer."""
        return [
            PersonalDataSource(
                "access",
                10,
                self._find_access,
                self._erase_access,
                self._search_terms,
                self._erasures,
                prefixes=(self._stored.access.prefix,),
            ),
            PersonalDataSource(
                "offers", 20, self._find_offers, self._erase_others, prefixes=(self._stored.offers.prefix,)
            ),
            PersonalDataSource(
                "browsers", 25, self._find_browsers, self._erase_browsers, prefixes=(self._stored.browsers.prefix,)
            ),
            PersonalDataSource("events", 30, self._find_events, self._erase_events),
        ]

    async def erase_old_addresses(self) -> int:
        """Remove the client address from offers older than 30 days; return how many (decision 8)."""
        erased = 0
        async for index in self._old_addresses():
            changes = await self._without_address(index.key.rpartition(":")[2])
            if index.key not in {one.key for one in changes.writes}:
                changes += Changes([Delete(index.key)])
            # What changed meanwhile is found again by the next run.
            erased += isinstance(await commit(self._stored.store, changes), Committed)
        if erased:
            _ = await self._stored.store.scrub()
        return erased

    async def _old_addresses(self) -> AsyncIterator[StoreEntry]:
        """Yield the index of addresses that are old, or of a future that was undone: their age is not known."""
        now, prefix = self._stored.clock.now(), OFFER_ADDRESS
        old = Walk(prefix, until=f"{prefix}{sortable(now - KEEP_ADDRESSES)}")
        undone = Walk(prefix, until=f"{prefix}{sortable(now + _FUTURE)}", newest_first=True)
        for walk in (old, undone):
            async for index in walk.entries(self._stored.store, self._stored.clock):
                yield index

    async def _search_terms(self, address: str) -> SearchTerms:
        """Return the sessions of an address, and its former ones, unless another record has one of them now."""
        records = await self._records(address)
        former = {one for record in records for one in record.former_emails}
        unused = [one for one in former if (await self._lookup.found_of(one)).is_empty]
        return SearchTerms(frozenset(unused), frozenset(record.session_id for record in records))

    async def _find_access(self, terms: SearchTerms) -> list[object]:
        return [record.model_dump(mode="json") async for record in self._held_by(terms)]

    async def _find_offers(self, terms: SearchTerms) -> list[object]:
        offers = [await self._stored.offers.entry(record.session_id) async for record in self._held_by(terms)]
        return [stored_json(offer) for offer in offers if offer]

    async def _find_browsers(self, terms: SearchTerms) -> list[object]:
        opened = [await self._stored.browsers.entry(session_id) for session_id in sorted(terms.ids)]
        return [stored_json(one) for one in opened if one]

    async def _erase_browsers(self, request: ErasureRequest) -> ErasureRound:
        """Close the access in every browser that opened it."""
        found = False
        for session_id in request.terms.ids:
            if await self._stored.browsers.entry(session_id):
                found = True
                await commit_erasure(self._stored.store, await self._browsers.closed(session_id))
        return ErasureRound(found)

    async def _find_events(self, terms: SearchTerms) -> list[object]:
        return [stored_json(entry) async for entry in self._events(terms)]

    async def _erase_events(self, request: ErasureRequest) -> ErasureRound:
        found = False
        async for entry in self._events(request.terms):
            found = True
            note = Delete(self._stored.unreadable_events.key(entry.key.removeprefix(self._stored.events.prefix)))
            erased = Put(entry.key, ERASED_EVENT, KEEP_EVENTS)
            await commit_erasure(
                self._stored.store, Changes([erased, note], [Unchanged(entry.key, entry.version)])
            )
        return ErasureRound(found)

    async def _erase_others(self, request: ErasureRequest) -> ErasureRound:
        """Erase the person from records that are about something else."""
        found = False
        for collection in self._others:
            async for entry in collection.entries():
                if request.terms.addressed_in(entry.value):
                    found = True
                    await commit_erasure(self._stored.store, without_person(request.terms, collection, entry))
        return ErasureRound(found)

    async def _erase_access(self, request: ErasureRequest) -> ErasureRound:
        """Erase the buyer; the sale stays, and access that runs stays open by its session id."""
        records = await self._records(request.address)
        found = bool(records)
        for record in records:
            await self._erase_record(record, request.reason)
        async for entry in self._stored.access.entries():
            if request.terms.addressed_in(entry.value) and (
                changes := _without_former(request.terms, self._stored.access, entry)
            ):
                found = True
                await commit_erasure(self._stored.store, changes)
        return ErasureRound(found)

    async def _erasures(self, before: Store) -> list[RepeatErasure]:
        return [partial(self._repeat, *one) for one in await earlier_erasures(before, self._stored.clock)]

    async def _repeat(
        self, noted: StoredRecord[JournalEntry], without_buyer: AccessRecord | None, erase: EraseAddress
    ) -> bool:
        """Erase a session's buyer again, unless that is done; raise `RecordUnreadable`.

        A record that this store does not contain is copied without its buyer, so that its session id keeps the
        access.
        """
        session_id, journal = noted.record.session_id, self._stored.journal.put(noted.record, noted.id)
        if await self._stored.erased.entry(self._stored.erasure_id(session_id)):
            return False
        record = await self._lookup.record(session_id)
        if record and record.email:
            _ = await erase(record.email, noted.record.reason)
        blank = [] if record or without_buyer is None else self._stored.access.writes(without_buyer, session_id)
        await write(self._stored.store, [journal, self._tombstone(session_id), *blank])
        return True

    async def _records(self, address: str) -> list[AccessRecord]:
        """Return the access records of an address in every spelling, also one in other capitals beyond ASCII."""
        found = {one.session_id: one for one in await self._lookup.records_of(address)}
        async for record in self._held_by(SearchTerms(frozenset({address}))):
            found[record.session_id] = record
        return list(found.values())

    async def _held_by(self, terms: SearchTerms) -> AsyncIterator[AccessRecord]:
        async for entry in self._stored.access.entries():
            if terms.addressed_in(entry.value):
                record = self._stored.access.read(entry).record
                if terms.is_address(record.email):
                    yield record

    async def _events(self, terms: SearchTerms) -> AsyncIterator[StoreEntry]:
        async for entry in Walk(self._stored.events.prefix).entries(self._stored.store, self._stored.clock):
            if terms.named_in(entry.value):
                yield entry

    async def _erase_record(self, record: AccessRecord, reason: str) -> None:
        found = await self._stored.access.find(record.session_id)
        if found is None or found.record != record:
            return
        blank = record.without_person()
        now = self._stored.clock.now()
        journal = JournalEntry(at=now, action="erase", session_id=record.session_id, reason=reason)
        writes: list[Write] = [
            Delete(self._stored.ends.key(self._stored.end_id(record))),
            self._stored.journal.put(journal, f"{sortable(now)}:{record.session_id}"),
            self._tombstone(record.session_id),
        ]
        changes = self._stored.access.changes(record.session_id, found, blank) + Changes(writes)
        await commit_erasure(self._stored.store, changes + await self._without_address(record.session_id))

    def _tombstone(self, session_id: str) -> Put:
        return self._stored.erased.put(
            ErasedSession(erased_at=self._stored.clock.now()), self._stored.erasure_id(session_id)
        )

    async def _without_address(self, session_id: str) -> Changes:
        if offer := await self._stored.offers.find(session_id):
            blank = offer.record.without_person()
            return self._stored.offers.changes(session_id, offer, blank)
        unreadable = await self._stored.offers.unchanged(session_id)
        if isinstance(unreadable, Absent):
            return Changes()
        # It may contain the address, and every reader treats it as missing.
        return Changes([Delete(unreadable.key)], [unreadable])


def _without_former(terms: SearchTerms, records: Collection[AccessRecord], entry: StoreEntry) -> Changes | None:
    """Return the changes that erase former addresses from an access record, the proof of a sale; None without any.

    Raises `RecordUnreadable`.
    """
    found = records.read(entry)
    left = found.record.without_unknown_fields()
    left = left.change(former_emails=tuple(one for one in left.former_emails if not terms.is_address(one)))
    return records.changes(found.id, found, left) if left != found.record else None


async def earlier_erasures(store: Store, clock: Clock) -> list[EarlierErasure]:
    """Return the erasures in a store's journal, the oldest first, each with the record that has no buyer now."""
    found: list[EarlierErasure] = []
    stored = CheckoutRecords(store, clock, b"")
    for noted in (await stored.journal.all()).records:
        if noted.record.action == "erase":
            record = await stored.access.find(noted.record.session_id)
            found.append((noted, record.record if record and not record.record.email else None))
    return found
