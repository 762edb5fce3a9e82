"""Make the measurements: all of them, or those whose names are given, each in several rounds.

usage: python -m bench [NAME…] [--rounds N] [--against COMMIT | --write]

With --against, an older commit is measured beside this one, in turns. With --write, what was found goes into
docs/reference/measurements.md.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import chain

from rich.table import Table

from bench import page
from bench.measurement import Round, named, names
from bench.reading import ENOUGH, pairs, rows, short
from bench.version import CURRENT, CannotBeMeasured, Version, version_of
from orrery.runtime.console.terminal import new_console


def in_turns(name: str, versions: Sequence[Version], rounds: int) -> list[list[Round]]:
    """Return the rounds of each version, after a short one; every other turn begins with the other."""
    for version in versions:
        version.round(name, "--short")
    found: list[list[Round]] = [[] for _ in versions]
    for number in range(rounds):
        turn = [*zip(versions, found, strict=True)]
        for version, made in turn if number % 2 else reversed(turn):
            made.append(version.round(name))
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{name}: round {number + 1} of {rounds}   ")
    return found


def alone(name: str, rounds: Sequence[Round]) -> Table:
    """Return the table of one version."""
    made = _table(name, f"median of {len(rounds)} rounds", "median", "spread", "ratio", "beside", "aim", "limit")
    for row in rows(rounds):
        figure, ratio = row.figure, row.ratio
        cells = f"{short(row.value.median)} {figure.unit}", str(row.value), short(ratio.median) if ratio else ""
        made.add_row(figure.name, *cells, figure.beside, row.bound(figure.aim), row.bound(figure.limit))
    return made


def against(name: str, older: Version, both: Sequence[Sequence[Round]]) -> Table:
    """Return the table of two versions."""
    caption = f"median of {len(both[0])} rounds in turns; marked: each of {ENOUGH} or more found the same ahead"
    made = _table(f"{name} against {older.name}", caption, older.name, "this", "ratio", "spread", "")
    for pair in pairs(*both):
        ratio = f"{pair.ratio.median:.2f}", f"{pair.ratio.low:.2f} to {pair.ratio.high:.2f}"
        cells = (f"{short(value)} {pair.figure.unit}" for value in (pair.old, pair.new))
        made.add_row(pair.figure.name, *cells, *ratio, pair.mark)
    return made


def _table(title: str, caption: str, *headings: str) -> Table:
    made = Table(title=title, caption=caption)
    made.add_column("figure")
    for heading in headings:
        made.add_column(heading, justify="left" if heading in {"", "beside"} else "right")
    return made


def main(words: Sequence[str]) -> int:
    """Measure; 2 for a name or a commit that there is not, 1 where something could not be measured."""
    parser = argparse.ArgumentParser(prog="./run bench", description="Measurements, side by side.")
    known = names()
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which: {', '.join(known)}; without one, all")
    parser.add_argument("--rounds", type=int, help="how many rounds; without it, as many as each needs")
    beside = parser.add_mutually_exclusive_group()
    beside.add_argument("--against", metavar="COMMIT", help="measure an older commit beside this one, in turns")
    beside.add_argument("--write", action="store_true", help="put what was found into the page of measurements")
    given = parser.parse_args(words)
    if unknown := set(given.names) - set(known):
        parser.error(f"There is no measurement {min(unknown)!r}; there are: {', '.join(known)}.")
    if given.rounds is not None and given.rounds < 1:
        parser.error("--rounds takes 1 or more.")
    try:
        versions = [version_of(given.against)] if given.against else []
    except CannotBeMeasured as error:
        parser.error(str(error))
    failed = [name for name in given.names or known if not _measured(name, [*versions, CURRENT], given)]
    return int(bool(failed))


def _measured(name: str, versions: Sequence[Version], given: argparse.Namespace) -> bool:
    """Measure and print; tell whether it could be measured."""
    console = new_console(soft_wrap=False)
    measurement = named(name)
    if why := measurement.refused() or measurement.lacks():
        console.print(f"{name} cannot be measured here: {why}.")
        return False
    try:
        found = in_turns(name, versions, given.rounds or measurement.rounds)
    except CannotBeMeasured as error:
        console.print(str(error))
        return False
    console.print(against(name, versions[0], found) if given.against else alone(name, found[0]))
    if given.write:
        page.keep(name, list(chain(*found)))
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
