"""The personal data of the tracks: entries of the journal that name a person (decision 51)."""

from dataclasses import dataclass

from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.collection import FOR_EVER, Collection
from orrery.runtime.personal_entries import EntryErasure, PersonalEntries
from orrery.runtime.privacy import PersonalDataSource
from orrery.tenants.journal import entries
from orrery.tenants.records import TrackJournalEntry

ERASED = "track-journal-erased:"


@dataclass(frozen=True, slots=True)
class JournalData:
    """The journal's entries as data about people."""

    store: Store
    clock: Clock

    @property
    def entries(self) -> PersonalEntries[TrackJournalEntry]:
        """The entries that may name a person, and their erasures."""
        erasures = Collection(self.store, self.clock, EntryErasure, ERASED, life=FOR_EVER)
        return PersonalEntries(entries(self.store, self.clock), erasures, made_at=lambda one: one.created_at)

    def source(self) -> PersonalDataSource:
        """Return what the journal keeps about people."""
        return self.entries.source("journal", 20)
