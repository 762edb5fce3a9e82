"""The parts of the account at the processor."""

from orrery.account.account import AccountDesk
from orrery.account.session import SessionLookup
from orrery.approvals.approvals import Approvals
from orrery.ports.processor import ProcessorReads, ProcessorWrites
from orrery.ports.sessions import SessionFinder
from orrery.runtime.parts import Parts
from orrery.runtime.runtime import Runtime


def build(runtime: Runtime) -> Parts:
    """Return the account over its ports."""
    reads = runtime.port(ProcessorReads)
    desk = AccountDesk(reads, runtime.port(ProcessorWrites), runtime.need(Approvals))
    lookup = SessionLookup(reads, runtime.need(SessionFinder))
    return Parts(
        module="account",
        operations=desk.operations(),
        offers={AccountDesk: desk, SessionLookup: lookup},
    )
