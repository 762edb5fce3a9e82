"""`orrery tenants doctor`: each part of the tracks, how it is, why, and what to do."""

from functools import partial
from typing import TYPE_CHECKING

from orrery.runtime.console.findings import show_findings
from orrery.runtime.console.options import AsJson
from orrery.runtime.console.runner import Handed
from orrery.tenants.cli.options import sign_ins_of

if TYPE_CHECKING:
    from orrery.runtime.console.runner import Runner
    from orrery.tenants.health import TracksHealth


def command(
    as_json: AsJson = False,  # noqa: FBT002  a flag of the command line
    *,
    runner: Handed,
) -> None:
    """Examine the tracks, sign-ins, destinations, tool and scanner; exit 1 when something is broken."""
    show_findings(_health(runner).examine(), as_json=as_json)


def _health(runner: "Runner") -> "TracksHealth":
    from orrery.ports.publications import Publications  # noqa: PLC0415  `--help` needs none of it
    from orrery.ports.scanner import Scanner  # noqa: PLC0415  the same
    from orrery.tenants.health import TracksHealth, sign_in_findings  # noqa: PLC0415  the same
    from orrery.tenants.settings import TenantsSettings  # noqa: PLC0415  the same

    settings = runner.section(TenantsSettings)
    kept = {
        "place of the sign-ins": settings.directory,
        "place of the settings": runner.settings_file,
    }
    for file in runner.store_files:
        kept["place of the store"] = file
    sign_ins = partial(sign_in_findings, sign_ins_of(runner))
    return TracksHealth(settings, runner.port(Scanner), runner.port(Publications), kept, sign_ins)
