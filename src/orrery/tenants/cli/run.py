"""`orrery tenants run`: the command-line tool, for one account."""

from typing import Annotated

import typer

from orrery.errors import Invalid
from orrery.ports.tool import ToolProcess
from orrery.runtime.console.runner import Handed
from orrery.runtime.console.tables import note
from orrery.tenants.accounts import accounts, resolve
from orrery.tenants.cli.options import Named, only
from orrery.tenants.settings import TenantsSettings
from orrery.tenants.tool import arguments


def command(
    account: Named,
    args: Annotated[list[str] | None, typer.Argument(help="The tool's own arguments, behind --.")] = None,
    *,
    runner: Handed,
) -> None:
    """Run the tool of the settings for one account, and nothing of it for another.

    The tool takes the place of this command. Its server mode is refused: that ignores the account.

    \b
    orrery tenants run --account ann -- mail list --top 5
    """
    settings = runner.section(TenantsSettings)
    program = settings.tool.program
    if program is None:
        raise Invalid("The settings name no tool: set `program` in [tenants.tool].")
    chosen = resolve(settings, only(account))
    given = arguments(settings.tool, chosen.name, [one.name for one in accounts(settings)], args or [])
    variable = settings.tool.account_variable
    note(str(chosen))
    runner.port(ToolProcess).become(program, given, [*settings.tool.cleared, *([variable] if variable else [])])
