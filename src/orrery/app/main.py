"""`orrery`: finds the command by its words, and imports only that one."""

import gc
import sys
from collections.abc import Sequence

from orrery.app.modules import MODULES
from orrery.runtime.module import Command, load


def main() -> None:
    """Run the command line. A plain command does not import typer."""
    arguments = sys.argv[1:]
    found = command_of(arguments)
    if found and found.plain:
        gc.disable()  # what a start makes stays: looking through it for garbage takes a tenth of a commit's scan
        if found.role == "scan":
            load("orrery.app.scan.own_memory:keep_memory_private")()  # before there is a term in it
        sys.exit(load("orrery.app.plain:run")(found, arguments[len(found.name.split()) :]))
    load("orrery.app.command_line:run")(arguments)


def command_of(arguments: Sequence[str]) -> Command | None:
    """Return the command that the arguments begin with: `tenants scan` rather than `tenants`."""
    commands = [command for module in MODULES for command in module.commands]
    begun = [one for one in commands if list(arguments[: len(one.name.split())]) == one.name.split()]
    return max(begun, key=lambda one: len(one.name), default=None)
