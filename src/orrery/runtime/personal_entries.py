"""Entries of a collection that may name a person: each that does is exported, erased, and erased after a restore.

A collection with a mark `Personal` (`orrery/record.py`) is one without a line of its module (decision 45).
"""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from hashlib import blake2b
from typing import Any, Generic, TypeVar

from pydantic import AwareDatetime

from orrery.errors import RecordUnreadable
from orrery.ports.store import Delete, Store, StoreEntry, Unchanged
from orrery.record import Record, Sentence
from orrery.runtime.collection import FOR_EVER, Changes, Collection, StoredRecord, write
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

R = TypeVar("R", bound=Record)

ORDER = 90
"""Of what a mark makes a source: behind those that a module writes itself."""


class EntryErasure(Record):
    """An entry was erased: after a restore of an older snapshot it is erased again. It names no person.

    `stays`: only its marked fields were emptied.
    """

    at: AwareDatetime
    reason: Sentence
    stays: bool = False


class PersonalEntries(Generic[R]):
    """Finds and erases entries that name a person in their key or in any text, readable or not.

    `erasures` has the last erasure of each entry, by `note_id` of its id. With `made_at`, the time at which an
    entry was made, an entry is deleted, and one made after its erasure stays; else its marked fields are emptied.
    """

    def __init__(
        self,
        entries: Collection[R],
        erasures: Collection[EntryErasure],
        *,
        made_at: Callable[[R], datetime] | None = None,
        note_id: Callable[[str], str] = str,
    ) -> None:
        self._entries, self.erasures = entries, erasures
        self._store, self._clock = entries.store, entries.clock
        self._made_at, self._note_id = made_at, note_id

    def source(self, name: str, order: int) -> PersonalDataSource:
        """Return the entries as one kind of data about people."""
        prefixes = (self._entries.prefix,)
        return PersonalDataSource(
            name, order, self._find, self._erase, erasures=self._to_repeat, prefixes=prefixes
        )

    async def _find(self, terms: SearchTerms) -> list[object]:
        return [stored_json(entry) async for entry in self._naming(terms)]

    async def _erase(self, request: ErasureRequest) -> ErasureRound:
        found = False
        async for entry in self._naming(request.terms):
            found = True
            stays = self._made_at is None and _stays(request.terms, self._entries, entry)
            done = EntryErasure(at=self._clock.now(), reason=request.reason, stays=stays)
            await self._commit(entry, done)
        return ErasureRound(found)

    async def _to_repeat(self, before: Store) -> list[RepeatErasure]:
        done = await replace(self.erasures, store=before).all()
        unreadable: list[RepeatErasure] = [partial(_left_out, error) for error in done.unreadable]
        return [partial(self._repeat, done.records), *unreadable] if done.records else unreadable

    async def _repeat(self, done: Sequence[StoredRecord[EntryErasure]], _: EraseAddress) -> int:
        """Repeat the erasures that this store has no note of: what it holds under a known one came afterwards.

        Each is noted here, too, whether it had to be repeated or not: a later restore asks this store.
        """
        here = {one.id: one.record.at for one in (await self.erasures.all()).records}
        new = {one.id: one.record for one in done if here.get(one.id) != one.record.at}  # a clock may be put back
        found = [entry async for entry in self._entries.entries() if self._is_of_before(entry, new)]
        for entry in found:
            await self._commit(entry, new.pop(self._noted(entry)))
        await write(self._store, [self.erasures.put(one, note_id) for note_id, one in new.items()])
        return len(found)

    def _is_of_before(self, entry: StoreEntry, erasures: Mapping[str, EntryErasure]) -> bool:
        """Return whether an entry is one of those that were erased, and was not made again since."""
        done = erasures.get(self._noted(entry))
        if done is None or self._made_at is None:
            return done is not None
        try:
            return self._made_at(self._entries.read(entry).record) <= done.at
        except RecordUnreadable:
            return True

    async def _commit(self, entry: StoreEntry, done: EntryErasure) -> None:
        changes = _emptied(self._entries, entry) if done.stays else _deleted(entry)
        note = Changes(self.erasures.writes(done, self._noted(entry)))
        await commit_erasure(self._store, changes + note)

    def _noted(self, entry: StoreEntry) -> str:
        return self._note_id(entry.key.removeprefix(self._entries.prefix))

    async def _naming(self, terms: SearchTerms) -> AsyncIterator[StoreEntry]:
        async for entry in self._entries.entries():
            if terms.addressed_in(entry.value) or terms.addressed_in(entry.key.encode()):
                yield entry


async def _left_out(error: RecordUnreadable, _: EraseAddress) -> int:
    """Raise for a note that cannot be read: the erasure that it is of is not repeated."""
    raise error


def without_person(terms: SearchTerms, records: Collection[Any], entry: StoreEntry) -> Changes:
    """Return the changes that erase the person from a record: its marked fields, and those of a later release.

    A record that cannot be read, or that names the person all the same, is deleted.
    """
    return _emptied(records, entry) if _stays(terms, records, entry) else _deleted(entry)


def _stays(terms: SearchTerms, records: Collection[Any], entry: StoreEntry) -> bool:
    try:
        left = records.read(entry).record.without_person()
    except RecordUnreadable:
        return False
    return not terms.addressed_in(entry.key.encode()) and not terms.addressed_in(left.to_bytes())


def _emptied(records: Collection[Any], entry: StoreEntry) -> Changes:
    try:
        found = records.read(entry)
    except RecordUnreadable:  # in a snapshot, what could be read when it was erased
        return _deleted(entry)
    return records.changes(found.id, found, found.record.without_person())


def _deleted(entry: StoreEntry) -> Changes:
    return Changes([Delete(entry.key)], [Unchanged(entry.key, entry.version)])


def marked_entries(records: Collection[Any], index_key: bytes) -> PersonalEntries[Any]:
    """Return what follows from the mark on a record. An id may be an address: its erasure is noted by a digest."""
    erasures = Collection(
        records.store, records.clock, EntryErasure, f"record-erased:{records.prefix}", life=FOR_EVER
    )

    def digest(record_id: str) -> str:
        return blake2b(record_id.encode(), digest_size=16, key=index_key).hexdigest()

    return PersonalEntries(records, erasures, note_id=digest)


def with_marked(
    sources: Iterable[PersonalDataSource], marked: Mapping[str, Collection[Any]], index_key: bytes
) -> list[PersonalDataSource]:
    """Return the sources of the modules, and one for each marked collection that none of them has."""
    own = list(sources)
    covered = {prefix for source in own for prefix in source.prefixes}
    by_mark = {prefix: marked_entries(one, index_key) for prefix, one in marked.items() if prefix not in covered}
    return [*own, *(one.source(prefix.rstrip(":"), ORDER) for prefix, one in by_mark.items())]
