"""`orrery tenants canary`: a token for documents that must never leave."""

import secrets
from collections.abc import Sequence

from orrery.scanner.cli.arguments import QuietParser, explain, put
from orrery.scanner.deployment import ScanDeployment
from orrery.scanner.detectors.canary import new_canary

_BYTES = 16

HOW = """\
Put it into a document of track A that must never leave, one token a document: as white text, as a comment, in the
document's properties, or in a line of a data set. Note which document has which: nothing here keeps it.
Wherever it turns up, `orrery tenants scan` finds it, also without a watch-list, and it cannot be allowed."""


def new(arguments: Sequence[str], deployment: ScanDeployment) -> int:
    """`orrery tenants canary new`."""
    del deployment
    parser = QuietParser(
        "tenants canary new",
        "Print a canary token: a word that a scan finds wherever a document of track A was copied to.",
        "orrery tenants canary new",
        "orrery tenants canary new 2>/dev/null | wl-copy",
    )
    _ = parser.parsed(arguments, takes_terms=False)
    put(new_canary(secrets.token_bytes(_BYTES)))
    explain(HOW)
    return 0
