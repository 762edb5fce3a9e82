"""The commands of the checkout."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from orrery.runtime.console.runner import Services, service_of

if TYPE_CHECKING:
    from orrery.checkout.build import CheckoutDomain

checkout_of: "Callable[[Services], CheckoutDomain]" = service_of("orrery.checkout.build:CheckoutDomain")
