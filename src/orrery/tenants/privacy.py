"""The personal data of the tracks: entries of the journal that name a person (decision 51)."""

from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.collection import FOR_EVER, Collection
from orrery.runtime.personal_entries import EntryErasure, PersonalEntries
from orrery.tenants.journal import entries
from orrery.tenants.records import TrackJournalEntry

ERASED = "track-journal-erased:"


def journal_data(store: Store, clock: Clock) -> PersonalEntries[TrackJournalEntry]:
    """Return the journal's entries that may name a person, and their erasures."""
    erasures = Collection(store, clock, EntryErasure, ERASED, life=FOR_EVER)
    return PersonalEntries(entries(store, clock), erasures, made_at=lambda one: one.created_at)
