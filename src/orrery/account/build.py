"""The parts of the account at the processor."""

from orrery.account.account import AccountDesk
from orrery.account.key_probe import RESTRICTED, KeyProbe
from orrery.account.session import SessionLookup
from orrery.approvals.approvals import Approvals
from orrery.ports.processor import Processor, ProcessorReads, ProcessorWrites
from orrery.ports.sessions import SessionFinder
from orrery.runtime.parts import Parts
from orrery.runtime.runtime import Runtime
from orrery.runtime.secret_probe import SecretProbe


def build(runtime: Runtime) -> Parts:
    """Return the account over its ports."""
    reads = runtime.port(ProcessorReads)
    desk = AccountDesk(reads, runtime.port(ProcessorWrites), runtime.need(Approvals))
    lookup = SessionLookup(reads, runtime.need(SessionFinder))
    is_restricted = (runtime.secret("processor_api_key") or "").startswith(RESTRICTED)
    probe = KeyProbe(reads, runtime.port(Processor), runtime.clock, is_restricted)
    return Parts(
        module="account",
        operations=desk.operations(),
        secret_probes=[SecretProbe("processor_api_key", probe.remarks)],
        offers={AccountDesk: desk, SessionLookup: lookup},
    )
