"""The commands of fraud screening."""

from typing import TYPE_CHECKING

from orrery.runtime.console.runner import ServiceOf

if TYPE_CHECKING:
    from orrery.fraud.domain import FraudDomain

fraud_of: "ServiceOf[FraudDomain]" = ServiceOf("orrery.fraud.domain:FraudDomain")
