"""The personal data of the cockpit's own store: items of the action ledger that name a person (decision 51)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial

from orrery.cockpit.ledger import items
from orrery.cockpit.records import LedgerErasure
from orrery.ports.clock import Clock
from orrery.ports.store import Delete, Entry, Store, Unchanged
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

ERASED = "ledger-erased:"


def erasures(store: Store, clock: Clock) -> Collection[LedgerErasure]:
    """Return the collection of the erasures, by the ids of the erased items."""
    return Collection(store, clock, LedgerErasure, ERASED)


@dataclass(frozen=True, slots=True)
class LedgerData:
    """Finds and erases items that name a person in any of their texts, readable or not."""

    store: Store
    clock: Clock

    def source(self) -> PersonalDataSource:
        """Return what the cockpit keeps about people."""
        return PersonalDataSource("ledger", 10, self._find, self._erase, erasures=self._erasures)

    async def _find(self, terms: SearchTerms) -> list[object]:
        return [stored_json(entry) async for entry in self._naming(terms)]

    async def _erase(self, request: ErasureRequest) -> ErasureRound:
        found = False
        async for entry in self._naming(request.terms):
            found = True
            await self._delete(entry, request.reason)
        return ErasureRound(found)

    async def _erasures(self, before: Store) -> list[RepeatErasure]:
        done = await erasures(before, self.clock).all()
        return [partial(self._repeat, one.id, one.record) for one in done.records]

    async def _repeat(self, item_id: str, done: LedgerErasure, _: EraseAddress) -> bool:
        """Erase an item again, unless it was made after its erasure; the erasure is noted here, too."""
        collection = items(self.store, self.clock)
        entry = await collection.entry(item_id)
        found = await collection.find(item_id)
        if entry is None or (found and found.record.created_at > done.at):
            return False
        await self._delete(entry, done.reason)
        return True

    async def _delete(self, entry: Entry, reason: str) -> None:
        item_id = entry.key.removeprefix(items(self.store, self.clock).prefix)
        note = erasures(self.store, self.clock).writes(LedgerErasure(at=self.clock.now(), reason=reason), item_id)
        changes = Changes([Delete(entry.key), *note], [Unchanged(entry.key, entry.version)])
        await commit_erasure(self.store, changes)

    async def _naming(self, terms: SearchTerms) -> AsyncIterator[Entry]:
        async for entry in items(self.store, self.clock).entries():
            if terms.addressed_in(entry.value):
                yield entry
