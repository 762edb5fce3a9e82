"""The personal data of the cockpit's own store: items of the action ledger that name a person (decision 51)."""

from dataclasses import dataclass

from orrery.cockpit.ledger import items
from orrery.cockpit.records import LedgerItem
from orrery.ports.clock import Clock
from orrery.ports.store import Store
from orrery.runtime.collection import FOR_EVER, Collection
from orrery.runtime.personal_entries import EntryErasure, PersonalEntries
from orrery.runtime.privacy import PersonalDataSource

ERASED = "ledger-erased:"


@dataclass(frozen=True, slots=True)
class LedgerData:
    """The ledger's items as data about people."""

    store: Store
    clock: Clock

    @property
    def entries(self) -> PersonalEntries[LedgerItem]:
        """The items that may name a person, and their erasures."""
        erasures = Collection(self.store, self.clock, EntryErasure, ERASED, life=FOR_EVER)
        return PersonalEntries(items(self.store, self.clock), erasures, made_at=lambda item: item.created_at)

    def source(self) -> PersonalDataSource:
        """Return what the cockpit keeps about people."""
        return self.entries.source("ledger", 10)
