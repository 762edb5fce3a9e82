"""The `orrery` command: a name and a sentence for each command; only the one that is used is imported."""

import importlib
import inspect
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer

from orrery.errors import Invalid, OrreryError

_COMMANDS = {
    "serve": "Run the service: both listeners and the workers.",
    "demo": "Run service, sandbox and a shop on this machine, with nothing to set up.",
    "sandbox": "Run the stand-ins for the vendors alone.",
    "init": "Write orrery.toml with every key explained, and make the store.",
    "store": "Make the store where the settings say.",
    "doctor": "Look at each configured part: ok or broken, why, and what to do.",
    "access": "List, show, grant, revoke, change and import access; resend its e-mail.",
    "checkout": "Try, verify and reconcile what is sold at the payment processor.",
    "processor": "Look at the payment processor; change its account with your signature.",
    "live": "Refresh, check and schedule the live visitor counter.",
    "fraud": "Look at clusters of declined payments; block and unblock with your approval.",
    "approvals": "List, show and sign what waits for your approval; read and verify its log.",
    "admin": "Make the hash of the owner's password.",
    "secrets": "Check each secret; announce that one is about to change.",
    "notifications": "List, release or drop notifications; send a test message.",
    "privacy": "Export or erase a person's data.",
    "backup": "Write a checked snapshot of the store while the service runs.",
    "restore": "Put a snapshot in place of the store; the service must be stopped.",
}

_NAME = "orrery"

_COMPLETED_VARIABLES = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""The variables in which the shells' completion scripts pass the typed text: bash's, and that of the others."""

WIDEST = 120
"""Columns of the help."""

USAGE = 2
"""The exit code of bad input; 1 is for what went wrong or is broken."""


def main() -> None:
    """Run the command line."""
    try:
        _application([*sys.argv[1:], *_to_complete()])(prog_name=_NAME)
    except OrreryError as error:
        from orrery.cli.terminal import new_console, visible  # noqa: PLC0415  rich doubles the time to start

        new_console(stderr=True).print(visible(str(error)), style="red", markup=False)
        sys.exit(USAGE if isinstance(error, Invalid) else 1)


def _application(arguments: Sequence[str]) -> typer.Typer:
    root = typer.Typer(
        name=_NAME,
        help="One person's checkout and live counter, and the desk to watch them from.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # boxes around the help take longer than all else of it
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
    )
    root.callback()(_options)
    wanted = next((argument for argument in arguments if argument in _COMMANDS), None)
    for name, summary in _COMMANDS.items():
        _add(root, name, summary, imported=name == wanted)
    return root


def _add(root: typer.Typer, name: str, summary: str, *, imported: bool) -> None:
    if not imported:
        root.command(name, short_help=summary)(_only_listed)
        return
    module = importlib.import_module(f"orrery.cli.{name}")
    if hasattr(module, "group"):
        _show_whole_summaries(module.group)
        root.add_typer(module.group, name=name, help=summary, short_help=summary)
    else:
        root.command(name, help=summary, short_help=summary)(module.command)


def _show_whole_summaries(group: typer.Typer) -> None:
    """Without this the list of a group's commands cuts each summary to fit on one line."""
    for command in group.registered_commands:
        text = inspect.getdoc(command.callback) if command.callback else None
        command.short_help = command.short_help or (text or "").partition("\n\n")[0].replace("\n", " ")


def _to_complete() -> list[str]:
    """Return the words of a line that the shell wants completed: they are not among the arguments."""
    return " ".join(os.environ.get(name, "") for name in _COMPLETED_VARIABLES).split()  # noqa: TID251  the shell's own


def _show_version(value: bool) -> None:  # noqa: FBT001  typer calls it with the flag
    if value:
        typer.echo(f"orrery {version('orrery')}")
        raise typer.Exit


def _options(
    _version: Annotated[  # noqa: FBT002  a flag of the command line, read by its callback
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Handle the options before the command."""


def _only_listed() -> None:
    """Replace a command that is only listed, not run."""
