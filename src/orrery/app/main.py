"""`orrery`: finds the command by its words, and imports only that one."""

import sys
from collections.abc import Sequence

from orrery.app.garbage import put_off_collection
from orrery.app.modules import MODULES
from orrery.runtime.module import Command, load


def main() -> None:
    """Run the command line. A plain command does not import typer."""
    put_off_collection()
    arguments = sys.argv[1:]
    found = command_of(arguments)
    if found and found.plain:
        if found.role == "scan":
            load("orrery.app.scan.own_memory:keep_memory_private")()  # before there is a term in it
        sys.exit(load("orrery.app.plain:run")(found, arguments[len(found.name.split()) :]))
    load("orrery.app.command_line:run")(arguments)


def command_of(arguments: Sequence[str]) -> Command | None:
    """Return the command that the arguments begin with: `tenants scan` rather than `tenants`."""
    commands = [command for module in MODULES for command in module.commands]
    begun = [one for one in commands if list(arguments[: len(one.name.split())]) == one.name.split()]
    return max(begun, key=lambda one: len(one.name), default=None)
