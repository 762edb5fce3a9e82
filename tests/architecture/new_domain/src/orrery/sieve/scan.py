"""`orrery sieve`: what a hook runs, with argparse and the standard library only."""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence


def run(arguments: Sequence[str], deployment: object) -> int:
    """Print how many words were given; return 1 when one is forbidden."""
    del deployment
    parser = ArgumentParser(prog="orrery sieve", description="Look through words.")
    _ = parser.add_argument("words", nargs="*")
    words: list[str] = parser.parse_args(arguments).words
    _ = sys.stdout.write(f"{len(words)} words\n")
    return int("forbidden" in words)
