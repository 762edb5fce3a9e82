"""The parts of the waitlist, from its settings."""

from datetime import timedelta

from orrery.edge.client_address import ClientAddresses
from orrery.edge.rate_limit import Limit, RateLimit
from orrery.ports.health import Finding
from orrery.ports.panels import Panel, PanelSource
from orrery.ports.seller import Seller
from orrery.runtime.jobs import Job
from orrery.runtime.module import load
from orrery.runtime.operations import Operation
from orrery.runtime.parts import Figure, Parts, RestoreReport
from orrery.runtime.runtime import Runtime
from orrery.runtime.settings import ServerSettings
from orrery.waitlist.service import Waitlist
from orrery.waitlist.settings import WaitlistSettings


def build(runtime: Runtime) -> Parts:
    """Return everything that the waitlist brings."""
    settings, token = runtime.section(WaitlistSettings), runtime.secret("waitlist_token")
    waitlist = Waitlist(runtime.store, runtime.clock, runtime.need(Seller), settings.most)
    addresses = ClientAddresses(runtime.section(ServerSettings).trusted_proxies)
    limit = RateLimit(runtime.clock, Limit(settings.per_minute, 60))

    async def check() -> list[Finding]:
        if await waitlist.is_full():
            return [Finding("waitlist", "broken", "No more entries fit.", "Raise waitlist.most.", essential=False)]
        return [Finding("waitlist", "ok", essential=False)]

    async def mirror() -> Finding:
        return Finding("mirror of waitlist", "ok" if token else "off", essential=False)

    async def panel() -> Panel:
        return Panel("Waitlist", f"{await waitlist.count()} entries")

    async def restored() -> RestoreReport:
        return RestoreReport([f"The waitlist has {await waitlist.count()} entries, as in the snapshot."])

    return Parts(
        module="waitlist",
        routes=lambda: load("orrery.waitlist.routes:waitlist_routes")(waitlist, addresses, limit),
        jobs=[Job("count the waitlist", timedelta(hours=1), waitlist.count)],
        checks=[check],
        remote_checks=[("mirror of waitlist", mirror)],
        panels=[PanelSource("Waitlist", panel, 75)],
        operations=[Operation("close-waitlist", waitlist.close, waitlist.is_closed)],
        figures=[Figure("orrery_waitlist_added", "Entries that were added.", "by", waitlist.added)],
        unreadable=[waitlist.stored.unreadable, waitlist.begun.unreadable],
        migrations=[waitlist.begin],
        after_restore=[restored],
        offers={Waitlist: waitlist},
    )
