"""What follows from the mark `Personal` on a record: the export and the erasure of a collection (decision 45)."""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from orrery.errors import RecordUnreadable
from orrery.ports.store import Delete, StoreEntry, Unchanged
from orrery.runtime.collection import Changes, Collection
from orrery.runtime.privacy import ErasureRequest, ErasureRound, PersonalDataSource, commit_erasure, stored_json
from orrery.runtime.search_terms import SearchTerms

ORDER = 90
"""Behind the sources that a module writes itself."""


@dataclass(frozen=True, slots=True)
class MarkedData:
    """The records of a collection as data about people: an address is searched for in their keys and bytes."""

    records: Collection[Any]

    def source(self) -> PersonalDataSource:
        """Return them as one kind of data, by the name of their prefix."""
        prefix = self.records.prefix
        return PersonalDataSource(prefix.rstrip(":"), ORDER, self._find, self._erase, prefixes=(prefix,))

    async def _find(self, terms: SearchTerms) -> list[object]:
        return [stored_json(entry) async for entry in self._naming(terms)]

    async def _erase(self, request: ErasureRequest) -> ErasureRound:
        found = False
        async for entry in self._naming(request.terms):
            found = True
            changes = without_person(request.terms, self.records, entry)
            await commit_erasure(self.records.store, changes)
        return ErasureRound(found)

    async def _naming(self, terms: SearchTerms) -> AsyncIterator[StoreEntry]:
        async for entry in self.records.entries():
            if terms.addressed_in(entry.value) or terms.addressed_in(entry.key.encode()):
                yield entry


def without_person(terms: SearchTerms, collection: Collection[Any], entry: StoreEntry) -> Changes:
    """Return the changes that erase the person from a record: its marked fields, and those of a later release.

    A record that cannot be read, or that names the person all the same, is deleted.
    """
    try:
        found = collection.read(entry)
    except RecordUnreadable:
        return Changes([Delete(entry.key)], [Unchanged(entry.key, entry.version)])
    left = found.record.without_person()
    named = terms.addressed_in(entry.key.encode()) or terms.addressed_in(left.to_bytes())
    return collection.changes(found.id, found, None if named else left)


def with_marked(
    sources: Iterable[PersonalDataSource], marked: Mapping[str, Collection[Any]]
) -> list[PersonalDataSource]:
    """Return the sources of the modules, and one for each marked collection that none of them has."""
    own = list(sources)
    covered = {prefix for source in own for prefix in source.prefixes}
    return [*own, *(MarkedData(one).source() for prefix, one in marked.items() if prefix not in covered)]
