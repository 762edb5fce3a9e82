"""Entries of a collection whose texts may name a person: each that does is exported, and erased as a whole."""

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from functools import partial
from typing import Generic, Literal, TypeVar

from pydantic import AwareDatetime

from orrery.ports.store import Delete, Store, StoreEntry, Unchanged
from orrery.record import Record, Sentence
from orrery.runtime.collection import Changes, Collection
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


class EntryErasure(Record):
    """An entry was erased: after a restore of an older snapshot it is erased again. It names no person."""

    v: Literal[1] = 1
    at: AwareDatetime
    reason: Sentence


class PersonalEntries(Generic[R]):
    """Finds and erases entries that name a person in any of their texts, readable or not.

    `erased` is the prefix under which each erasure is noted, by the id of its entry; `made_at` returns when an
    entry was made.
    """

    def __init__(self, entries: Collection[R], erased: str, made_at: Callable[[R], datetime]) -> None:
        self._entries = entries
        self._store, self._clock = entries.store, entries.clock
        self._erased, self._made_at = erased, made_at

    @property
    def erasures(self) -> Collection[EntryErasure]:
        """The collection of the erasures, by the ids of the erased entries."""
        return self._erasures_in(self._store)

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
            await self._delete(entry, request.reason)
        return ErasureRound(found)

    async def _to_repeat(self, before: Store) -> list[RepeatErasure]:
        done = await self._erasures_in(before).all()
        return [partial(self._repeat, one.id, one.record) for one in done.records]

    async def _repeat(self, entry_id: str, done: EntryErasure, _: EraseAddress) -> bool:
        """Erase an entry again, unless it was made after its erasure; the erasure is noted here, too."""
        entry = await self._entries.entry(entry_id)
        found = await self._entries.find(entry_id)
        if entry is None or (found and self._made_at(found.record) > done.at):
            return False
        await self._delete(entry, done.reason)
        return True

    async def _delete(self, entry: StoreEntry, reason: str) -> None:
        entry_id = entry.key.removeprefix(self._entries.prefix)
        note = self.erasures.writes(EntryErasure(at=self._clock.now(), reason=reason), entry_id)
        await commit_erasure(
            self._store, Changes([Delete(entry.key), *note], [Unchanged(entry.key, entry.version)])
        )

    async def _naming(self, terms: SearchTerms) -> AsyncIterator[StoreEntry]:
        async for entry in self._entries.entries():
            if terms.addressed_in(entry.value):
                yield entry

    def _erasures_in(self, store: Store) -> Collection[EntryErasure]:
        return Collection(store, self._clock, EntryErasure, self._erased)
