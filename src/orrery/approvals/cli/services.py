"""The approvals, as the commands get them."""

from typing import TYPE_CHECKING

from orrery.runtime.console.runner import Services

if TYPE_CHECKING:
    from orrery.approvals.approvals import Approvals


def approvals_of(services: Services) -> "Approvals":
    """Return the approvals."""
    from orrery.approvals.approvals import Approvals  # noqa: PLC0415  it loads what reads the store

    return services[Approvals]
