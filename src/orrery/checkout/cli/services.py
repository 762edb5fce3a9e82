"""The services of the checkout, as its commands get them."""

from typing import TYPE_CHECKING

from orrery.runtime.console.runner import Services

if TYPE_CHECKING:
    from orrery.checkout.build import CheckoutDomain


def checkout_of(services: Services) -> "CheckoutDomain":
    """Return the services of this domain."""
    from orrery.checkout.build import CheckoutDomain  # noqa: PLC0415  it loads the web framework

    return services[CheckoutDomain]
