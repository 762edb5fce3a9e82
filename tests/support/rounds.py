"""Health rounds for apps under test."""

from collections.abc import Callable

from orrery.ports.health import Finding, Round
from tests.support.clock import ManualClock


def found(*parts: Finding) -> Callable[[], Round]:
    """Return what a health round found, for an app to ask for."""
    ended = Round(ManualClock().now(), parts)
    return lambda: ended
