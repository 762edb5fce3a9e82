"""`orrery doctor`: each configured part, how it is, why, and what to do (issue item 8)."""

from dataclasses import asdict

import typer
from rich.table import Table

from orrery.app import Orrery
from orrery.cli.doctor_approvals import approval_findings
from orrery.cli.services import AsJson, Config, configured, with_services
from orrery.cli.tables import show_json
from orrery.cli.terminal import marked, new_console
from orrery.owner.health import examined
from orrery.ports.health import Finding

_SIGNS = {"ok": "[green]ok[/green]", "broken": "[red]broken[/red]", "off": "[dim]off[/dim]"}


def command(as_json: AsJson = False, config: Config = None) -> None:  # noqa: FBT002  a flag of the command line
    """Examine everything, asking the vendors too; exit 1 when something is broken."""
    given = configured(config, quiet=True)[0].approvals
    findings = with_services(config, _examine) + approval_findings(given.owner_keys, given.signing_key)
    if as_json:
        show_json([asdict(finding) for finding in findings])
    else:
        new_console(soft_wrap=False).print(_table(findings))
    if any(finding.state == "broken" for finding in findings):
        raise typer.Exit(1)


async def _examine(orrery: Orrery) -> list[Finding]:
    checks = [*orrery.checkout.health.remote(), *orrery.live.health.remote()]
    remote = [await examined(part, check) for part, check in checks]
    log = await orrery.approvals.finding()
    return [*await orrery.findings(), *remote, *await orrery.health.remote(), log]


def _table(findings: list[Finding]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("part", "", "why", "what to do"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        table.add_row(finding.part, _SIGNS[finding.state], marked(finding.why), marked(finding.todo))
    return table
