"""`orrery waitlist count`: how many addresses a file has. It is plain: the standard library only."""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path


def run(arguments: Sequence[str]) -> int:
    """Print the number of words."""
    parser = ArgumentParser(prog="orrery waitlist count", description="Count the addresses in a file.")
    _ = parser.add_argument("file", type=Path)
    file: Path = parser.parse_args(arguments).file
    _ = sys.stdout.write(f"{len(file.read_text().split())}\n")
    return 0
