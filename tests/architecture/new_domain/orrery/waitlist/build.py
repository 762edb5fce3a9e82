"""The parts of the waiting list, from its settings."""

from datetime import timedelta
from functools import partial

from orrery.ports.health import Finding
from orrery.ports.panels import Panel, PanelSource
from orrery.ports.seller import Seller
from orrery.runtime.jobs import Job
from orrery.runtime.operations import Operation
from orrery.runtime.parts import Figure, Parts, RestoreReport
from orrery.runtime.runtime import Runtime
from orrery.waitlist.routes import private_router, public_router
from orrery.waitlist.service import Waitlist
from orrery.waitlist.settings import WaitlistSettings

PART = "waiting list"


def build(runtime: Runtime) -> Parts:
    """Return everything that the waiting list brings."""
    most, token = runtime.section(WaitlistSettings).most, runtime.secret("waitlist_token")
    waitlist = Waitlist(runtime.store, runtime.clock, runtime.need(Seller), most)

    async def check() -> list[Finding]:
        if await waitlist.is_full():
            return [Finding(PART, "broken", "Nobody more may wait.", "Raise waitlist.most.", essential=False)]
        return [Finding(PART, "ok", essential=False)]

    async def partner() -> Finding:
        return Finding("waiting list's partner", "ok" if token else "off", essential=False)

    async def panel() -> Panel:
        return Panel("Waiting list", f"{await waitlist.count()} waiting")

    async def restored() -> RestoreReport:
        return RestoreReport([f"{await waitlist.count()} people wait, as in the snapshot."])

    return Parts(
        module="waitlist",
        routers=[partial(public_router, waitlist)],
        private_routers=[partial(private_router, waitlist)],
        jobs=[Job("count who waits", timedelta(hours=1), waitlist.count)],
        checks=[check],
        remote_checks=[("waiting list's partner", partner)],
        panels=[PanelSource("Waiting list", panel, 75)],
        operations=[Operation("close-waitlist", waitlist.close, waitlist.is_closed)],
        figures=[Figure("orrery_waitlist_joined", "People who joined.", "by", waitlist.joined)],
        unreadable=[waitlist.people.unreadable, waitlist.begun.unreadable],
        migrations=[waitlist.begin],
        after_restore=[restored],
        offers={Waitlist: waitlist},
    )
