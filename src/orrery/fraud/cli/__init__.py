"""The commands of fraud screening."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from orrery.runtime.console.runner import Services, service_of

if TYPE_CHECKING:
    from orrery.fraud.build import FraudDomain

fraud_of: "Callable[[Services], FraudDomain]" = service_of("orrery.fraud.build:FraudDomain")
