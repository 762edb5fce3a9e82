"""The commands of the approvals and of the secrets."""

from typing import TYPE_CHECKING

from orrery.runtime.console.runner import ServiceOf

if TYPE_CHECKING:
    from orrery.approvals.approvals import Approvals

approvals_of: "ServiceOf[Approvals]" = ServiceOf("orrery.approvals.approvals:Approvals")
