"""The services of the live counter, as its commands get them."""

from typing import TYPE_CHECKING

from orrery.runtime.console.runner import Services

if TYPE_CHECKING:
    from orrery.live.domain import LiveDomain


def live_of(services: Services) -> "LiveDomain":
    """Return the services of this domain."""
    from orrery.live.domain import LiveDomain  # noqa: PLC0415  it loads the web framework

    return services[LiveDomain]
