"""The commands of the live counter."""

from typing import TYPE_CHECKING

from orrery.runtime.console.runner import ServiceOf

if TYPE_CHECKING:
    from orrery.live.domain import LiveDomain

live_of: "ServiceOf[LiveDomain]" = ServiceOf("orrery.live.domain:LiveDomain")
