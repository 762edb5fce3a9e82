"""Refuses a cockpit's store in a destination of the other track (spec 3, Authentication 4)."""

from orrery.app.settings.sections import Settings
from orrery.cockpit.settings import CockpitSettings, SampleMailboxSettings
from orrery.syntax.track import TRACKS
from orrery.tenants.gate import Gate
from orrery.tenants.settings import TenantsSettings


def require_apart(settings: Settings) -> None:
    """Raise `TrackRefused` for a store, sign-ins or drafts that would go public, or to the other track."""
    tenants = settings[TenantsSettings]
    gate = Gate(tenants)
    for place in (settings.store.store_file, tenants.directory):
        gate.require(TRACKS, place)
    for one in settings[CockpitSettings].mailboxes:
        if isinstance(one, SampleMailboxSettings):
            gate.require((one.track,), one.folder)
