"""Make one round of a measurement, and print its raw figures as JSON, on the last line.

usage: python -m bench.round [--short] NAME
"""

import json
import sys
from dataclasses import asdict

from bench.measurement import named
from bench.service import FORKED


def main(words: list[str]) -> None:
    """Make the round; `--short` takes the smallest form."""
    measurement = named(words[-1])
    _ = FORKED.set("--short" in words)
    found = measurement.measure(**(measurement.short if FORKED.get() else {}))
    sys.stdout.write(f"{json.dumps([asdict(figure) for figure in found])}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
