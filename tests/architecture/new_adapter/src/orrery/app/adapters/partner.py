"""The adapter of the partner."""

from orrery.adapters.partner import HttpPartner
from orrery.app.adapters import Adapters
from orrery.ports.partner import Partner


def partner(adapters: Adapters) -> Partner:
    return HttpPartner(trust=adapters.trust)
