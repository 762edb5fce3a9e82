"""The checklist that leads the owner's page until the first sale in live mode."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from orrery.checkout.access.sales import newest_sales
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.selling.products import Selling
from orrery.ports.health import Finding
from orrery.ports.panels import Panel

TITLE = "To go live"


@dataclass(frozen=True, slots=True)
class GoingLive:
    """Lists the steps that are left; `examined` are the findings about what the checkout needs."""

    stored: CheckoutRecords
    selling: Selling
    examined: Callable[[], Awaitable[Sequence[Finding]]]

    async def panel(self) -> Panel | None:
        """Return the checklist, or None from the first sale of a service in live mode on."""
        # In another mode all sales are of that one, and each would be read.
        if self.selling.livemode and await newest_sales(self.stored, 1, livemode=True):
            return None
        left = [(one.part, one.todo) for one in await self.examined() if one.state != "ok"]
        if any(one.state != "accepted" for one in await self.selling.statuses()):
            left.append(("acceptance of what is sold", "Type `orrery checkout preflight`."))
        if not self.selling.livemode:
            left.append(("live mode", 'Set `mode = "live"`, with its own store and secrets.'))
        left.append(("first sale", "Buy something yourself, then refund it at the processor's dashboard."))
        headline = f"{len(left)} steps are left" if len(left) > 1 else "One step is left"
        todo = "Type `orrery doctor` for the rest. This list is gone with the first sale in live mode."
        return Panel(TITLE, headline, "plain", todo, ("step", "what to do"), tuple(left))
