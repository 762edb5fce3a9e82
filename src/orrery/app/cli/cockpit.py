"""`orrery cockpit`: the list of what waits for an answer, as a page on this machine (spec 3, decision 37)."""

from pathlib import Path
from typing import Annotated

import typer

from orrery.errors import Invalid
from orrery.runtime.console.runner import CONFIG_HELP

group = typer.Typer(invoke_without_command=True, add_completion=False)


@group.callback()
def cockpit(
    context: typer.Context,
    sample: Annotated[  # noqa: FBT002  a flag of the command line
        bool, typer.Option("--sample", help="Show made-up mailboxes, without settings; keep nothing.")
    ] = False,
    messages: Annotated[
        int, typer.Option(min=0, max=100_000, help="With --sample: how many messages each mailbox has.")
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the link only.")] = False,  # noqa: FBT002  the same
    config: Annotated[Path | None, typer.Option("--config", "-c", help=CONFIG_HELP)] = None,
) -> None:
    """Show what waits for an answer as a page on this machine, until Ctrl-C.

    \b
    orrery cockpit --sample
    orrery cockpit
    """
    if context.invoked_subcommand:
        raise Invalid(f"Write `orrery cockpit {context.invoked_subcommand}` first, and its options behind it.")
    if messages and not sample:
        raise Invalid("--messages goes with --sample.")
    from orrery.app.cli import cockpit_server  # noqa: PLC0415  `--help` needs no framework

    if sample:
        cockpit_server.run_sample(messages, browse=not no_browser)
    else:
        cockpit_server.run(config, browse=not no_browser)
