"""What plain commands have in common: how they end, and what a group of them prints."""

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence

from orrery.app.modules import MODULES
from orrery.errors import Invalid, OrreryError
from orrery.syntax.lines import visible

USAGE = 2


def ended(work: Callable[[], int]) -> int:
    """Run a command; return 2 for bad input and settings, and 1 for what went wrong, said in a sentence."""
    try:
        return work()
    except OrreryError as error:
        lines = map(visible, str(error).split("\n"))
        _ = sys.stderr.write("".join(f"{line}\n" for line in lines))
        return USAGE if isinstance(error, Invalid) else 1
    except KeyboardInterrupt:
        _ = sys.stderr.write("\nEnded by Ctrl-C.\n")
        return 1


def group(name: str, text: str, arguments: Sequence[str]) -> int:
    """Print the commands of a group; return 0 when the help was asked for, and 2 otherwise."""
    below = [command for module in MODULES for command in module.commands if command.name.startswith(f"{name} ")]
    listed = "\n".join(f"    {one.name.removeprefix(f'{name} '):<12}{one.summary}" for one in below)
    parser = ArgumentParser(
        prog=f"orrery {name}",
        description=text,
        epilog=f"commands:\n{listed}",
        formatter_class=RawDescriptionHelpFormatter,
    )
    if any(one in ("-h", "--help") for one in arguments):
        parser.print_help()
        return 0
    parser.print_help(sys.stderr)
    return USAGE
