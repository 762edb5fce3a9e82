"""The services of fraud screening, as its commands get them."""

from typing import TYPE_CHECKING

from orrery.runtime.console.runner import Services

if TYPE_CHECKING:
    from orrery.fraud.build import FraudDomain


def fraud_of(services: Services) -> "FraudDomain":
    """Return the services of this domain."""
    from orrery.fraud.build import FraudDomain  # noqa: PLC0415  it loads the web framework

    return services[FraudDomain]
