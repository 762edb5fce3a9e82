"""The commands of the approvals and of the secrets."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from orrery.runtime.console.runner import Services, service_of

if TYPE_CHECKING:
    from orrery.approvals.approvals import Approvals

approvals_of: "Callable[[Services], Approvals]" = service_of("orrery.approvals.approvals:Approvals")
