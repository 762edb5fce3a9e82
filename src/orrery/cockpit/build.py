"""The parts of the cockpit, from its settings."""

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from orrery.cockpit.actions import Actions
from orrery.cockpit.bodies import Bodies
from orrery.cockpit.comms import Comms
from orrery.cockpit.health import CockpitHealth
from orrery.cockpit.inbox import Inbox
from orrery.cockpit.ledger import Ledger
from orrery.cockpit.privacy import LedgerData
from orrery.cockpit.set_aside import SetAsides
from orrery.cockpit.settings import CockpitSettings
from orrery.cockpit.sign_in import SignInTabs
from orrery.edge.launch import Launch
from orrery.ports.accounts import Accounts
from orrery.ports.comms.mailboxes import Mailboxes
from orrery.ports.comms.tasks import TaskBooks
from orrery.runtime.jobs import Job, Workers
from orrery.runtime.module import load
from orrery.runtime.parts import Parts
from orrery.runtime.runtime import Runtime
from orrery.runtime.store_probe import StoreProbe

if TYPE_CHECKING:
    from orrery.cockpit.routes import CockpitRoutes
    from orrery.edge.routes import Routes

READ_EVERY = timedelta(minutes=5)
"""How often the mailboxes are read without anybody asking."""


def build(runtime: Runtime) -> Parts:
    """Return the list, what is done with its rows, and the page."""
    settings = runtime.section(CockpitSettings)
    store, clock, tasks = runtime.store, runtime.clock, runtime.tasks
    mailboxes = runtime.port(Mailboxes).all
    watched = frozenset(one.lower() for one in settings.watched_lists)
    inboxes = tuple(Inbox(mailbox, clock, tasks, settings.scores, watched) for mailbox in mailboxes)
    ledger, set_asides = Ledger(store, clock), SetAsides(store, clock)
    books = runtime.port(TaskBooks)
    comms = Comms(inboxes, ledger, set_asides, clock, settings.scores, books)
    actions = Actions(comms, Bodies(clock, tasks), ledger, set_asides, books, settings)
    personal = LedgerData(store, clock)
    health = CockpitHealth(StoreProbe(store, clock), ledger, inboxes, clock, runtime.need(Workers).failing)
    launch = Launch(clock)
    tabs = SignInTabs(partial(runtime.port, Accounts), comms, tasks)

    def routes() -> "Routes":
        make: type[CockpitRoutes] = load("orrery.cockpit.routes:CockpitRoutes")
        return make(actions, health, launch, tabs).all()

    return Parts(
        module="cockpit",
        routes=routes,
        jobs=[Job("read the mailboxes", READ_EVERY, comms.read_all, everywhere=True)],
        unreadable=[ledger.items.unreadable, set_asides.records.unreadable, personal.entries.erasures.unreadable],
        personal_data=[personal.source()],
        offers={Ledger: ledger, SetAsides: set_asides, CockpitHealth: health, Launch: launch},
    )
