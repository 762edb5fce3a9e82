"""The commands of the checkout."""

from typing import TYPE_CHECKING

from orrery.runtime.console.runner import ServiceOf

if TYPE_CHECKING:
    from orrery.checkout.domain import CheckoutDomain

checkout_of: "ServiceOf[CheckoutDomain]" = ServiceOf("orrery.checkout.domain:CheckoutDomain")
