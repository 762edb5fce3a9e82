"""The parts of the tracks, from their settings."""

from orrery.runtime.parts import Parts
from orrery.runtime.runtime import Runtime
from orrery.tenants.journal import Journal
from orrery.tenants.privacy import journal_data


def build(runtime: Runtime) -> Parts:
    """Return the journal."""
    journal, personal = Journal(runtime.store, runtime.clock), journal_data(runtime.store, runtime.clock)
    return Parts(
        module="tenants",
        unreadable=[journal.entries.unreadable, personal.erasures.unreadable],
        personal_data=[personal.source("journal", 20)],
        offers={Journal: journal},
    )
