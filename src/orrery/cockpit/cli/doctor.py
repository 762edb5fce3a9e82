"""`orrery cockpit doctor`: each part of the cockpit, how it is, why, and what to do."""

from orrery.runtime.console.findings import show_findings
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed


def command(
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Examine the store, the action ledger and each mailbox; exit 1 when something is broken."""
    from orrery.cockpit.health import CockpitHealth  # noqa: PLC0415  it loads the store's records

    show_findings(runner.run(lambda services: services[CockpitHealth].ask()), as_json=as_json)
