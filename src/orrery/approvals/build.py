"""The parts of the approvals."""

from collections.abc import Sequence

from orrery.approvals.approvals import Approvals
from orrery.approvals.privacy import intents_source
from orrery.ports.panels import PanelSource
from orrery.ports.signatures import Signatures
from orrery.runtime.parts import Parts
from orrery.runtime.runtime import Runtime
from orrery.runtime.secret import SecretValues


def build(runtime: Runtime) -> Parts:
    """Return the approvals and their log, for the operations of all modules."""
    approvals = Approvals(
        runtime.store,
        runtime.clock,
        runtime.port(Signatures),
        deployment=runtime.deployment,
        forbidden=runtime.need(SecretValues).values(),
    )

    def allow(modules: Sequence[Parts]) -> None:
        approvals.allow(*(one for parts in modules for one in parts.operations))

    return Parts(
        module="approvals",
        remote_checks=[("approval log", approvals.finding)],
        panels=[PanelSource("Approvals", approvals.panel, 30)],
        personal_data=[intents_source(approvals)],
        unreadable=[approvals.unreadable_records],
        offers={Approvals: approvals},
        once_composed=[allow],
    )
