"""The parts of the tracks, from their settings."""

from orrery.ports.tracks import TrackGate
from orrery.runtime.parts import Parts
from orrery.runtime.runtime import Runtime
from orrery.tenants.gate import Gate
from orrery.tenants.settings import TenantsSettings


def build(runtime: Runtime) -> Parts:
    """Return the journal and the gate."""
    settings = runtime.section(TenantsSettings)
    return Parts(module="tenants", offers={TrackGate: Gate(settings)})
