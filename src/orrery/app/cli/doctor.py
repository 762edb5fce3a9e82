"""`orrery doctor`: each configured part, how it is, why, and what to do."""

import asyncio

from orrery.app.cli.examination import examined
from orrery.app.cli.services import Config, configured
from orrery.app.composition import opened_for_examination
from orrery.app.settings.reader import Secrets, Settings
from orrery.approvals.settings import ApprovalSettings
from orrery.ports.health import Finding, Problem
from orrery.runtime.console.ending import end_broken
from orrery.runtime.console.findings import print_findings
from orrery.runtime.console.options import AsJson
from orrery.runtime.findings import Findings
from orrery.runtime.problems import Problems


def command(as_json: AsJson = False, config: Config = None) -> None:  # noqa: FBT002  a flag of the command line
    """Examine everything, asking the vendors too; exit 1 when something is broken."""
    settings, secrets = configured(config, quiet=True)
    findings, problems = asyncio.run(_examine(settings, secrets))
    print_findings(findings, as_json=as_json, problems=problems)
    end_broken(when=problems)


async def _examine(settings: Settings, secrets: Secrets) -> tuple[list[Finding], list[Problem]]:
    async with opened_for_examination(settings, secrets) as orrery:
        everything = await examined(orrery[Findings], settings[ApprovalSettings])
        return everything, await orrery[Problems].among(everything)
