"""Runs a plain command, without typer: how it ends, and what a group of them prints."""

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence

from orrery.app.modules import MODULES
from orrery.errors import Invalid, OrreryError, words_of
from orrery.runtime.module import Command, load
from orrery.syntax.lines import visible

_SCAN_DEPLOYMENT = "orrery.app.scan.deployment:DEPLOYMENT"
"""A guest's command loads none of it."""


def run(command: Command, arguments: Sequence[str]) -> int:
    """Return the exit code; an error that is raised on purpose is printed as its sentence, and has its own."""
    if not command.target:
        return _group(command, arguments)
    try:
        handed = [load(_SCAN_DEPLOYMENT)] if command.role == "scan" else []
        code: int = load(command.target)(arguments, *handed)
        _ = sys.stdout.flush()
    except OrreryError as error:
        lines = map(visible, str(error).split("\n"))
        _ = sys.stderr.write("".join(f"{line}\n" for line in lines))
        return error.exit_code
    except BrokenPipeError:
        # The reader of the output has enough: what is left must not fail once more when the process ends.
        _ = os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OrreryError.exit_code
    except OSError as error:
        _ = sys.stderr.write(f"It ended early: {words_of(error)}.\n")
        return OrreryError.exit_code
    except KeyboardInterrupt:
        _ = sys.stderr.write("\nEnded by Ctrl-C.\n")
        return OrreryError.exit_code
    return code


def _group(group: Command, arguments: Sequence[str]) -> int:
    """Print the commands of a group; return 0 when the help was asked for, and 2 otherwise."""
    above = f"{group.name} "
    below = [command for module in MODULES for command in module.commands if command.name.startswith(above)]
    listed = "\n".join(f"    {one.name.removeprefix(above):<12}{one.summary}" for one in below)
    parser = ArgumentParser(
        prog=f"orrery {group.name}",
        description=group.summary,
        epilog=f"commands:\n{listed}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    if any(one in {"-h", "--help"} for one in arguments):
        parser.print_help()
        return 0
    parser.print_help(sys.stderr)
    return Invalid.exit_code
