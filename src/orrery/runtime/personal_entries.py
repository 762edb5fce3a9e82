"""Entries of a collection whose texts may name a person: each that does is exported, and erased as a whole."""

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Generic, Literal, TypeVar

from pydantic import AwareDatetime

from orrery.ports.store import Delete, Store, StoreEntry, Unchanged
from orrery.record import Record
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
    reason: str


class PersonalEntries(Generic[R]):
    """Finds and erases entries that name a person in any of their texts, readable or not.

    `erasures` has each erasure by the id of its entry; `made_at` returns when an entry was made.
    """

    def __init__(
        self, entries: Collection[R], erasures: Collection[EntryErasure], made_at: Callable[[R], datetime]
    ) -> None:
        self._entries, self.erasures = entries, erasures
        self._store, self._clock = entries.store, entries.clock
        self._made_at = made_at

    def source(self, name: str, order: int) -> PersonalDataSource:
        """Return the entries as one kind of data about people."""
        return PersonalDataSource(name, order, self._find, self._erase, erasures=self._to_repeat)

    async def _find(self, terms: SearchTerms) -> list[object]:
        return [stored_json(entry) async for entry in self._naming(terms)]

    async def _erase(self, request: ErasureRequest) -> ErasureRound:
        found = False
        async for entry in self._naming(request.terms):
            found = True
            await self._delete(entry, request.reason)
        return ErasureRound(found)

    async def _to_repeat(self, before: Store) -> list[RepeatErasure]:
        done = await replace(self.erasures, store=before).all()
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
