"""The commands of the live counter."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from orrery.runtime.console.runner import Services, service_of

if TYPE_CHECKING:
    from orrery.live.build import LiveDomain

live_of: "Callable[[Services], LiveDomain]" = service_of("orrery.live.build:LiveDomain")
