"""Write the first shape of each new kind of record into `tests/architecture/record_shapes.json`.

usage: python -m tools.shapes   An entry that is there is never changed: what no longer agrees with it is named.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from orrery import durable
from tests.architecture.test_records import RECORDS, SHAPES, shape

Shapes = Mapping[str, Mapping[str, Any]]


def written(shapes: Shapes) -> str:
    """Return the file's text: one line a record, in the order of the names."""
    lines = (f"  {json.dumps(name)}: {json.dumps(shapes[name])}" for name in sorted(shapes))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def broken(first: Shapes, now: Shapes) -> Iterator[str]:
    """Yield in sentences which record no longer has what its first shape has."""
    for name in sorted(first):
        fields: Mapping[str, Any] = now[name]["fields"] if name in now else {}
        lost = [field for field, form in first[name]["fields"].items() if fields.get(field) != form]
        if lost:
            yield f"{name} has lost {', '.join(lost)}, or reads it in another form: give it a new `v`."


def main(file: Path = SHAPES) -> int:
    """Add what is missing, and name what is broken; return 1 when something is."""
    first = json.loads(file.read_text(encoding="utf-8"))
    now = {name: shape(kind) for name, kind in RECORDS.items()}
    new = sorted(now.keys() - first.keys())
    if new:
        durable.replace(file, written({name: now[name] for name in new} | first).encode(), 0o644)
    wrong = list(broken(first, now))
    sys.stdout.write(f"First shapes written: {', '.join(new) or 'none, every record has its own'}.\n")
    sys.stderr.writelines(f"{one}\n" for one in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
