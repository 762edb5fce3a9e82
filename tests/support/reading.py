"""Every record of a store, read by the code that lies beside this file: `python -m tests.support.reading FILE`.

It prints the keys that cannot be read, one a line, and exits with 1 when there is one. An earlier release runs it
over what today's code wrote.
"""

import ast
import asyncio
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import ValidationError

import orrery
from orrery.adapters.clock import SystemClock
from orrery.app.modules import MODULES
from orrery.ports.clock import Clock
from orrery.ports.store import StoreEntry
from orrery.record import Record
from tests.support.stores import entries

SOURCE = Path(orrery.__file__).parent
MAKERS = {"Collection", "cached_counts"}
"""What makes a collection: store, clock, the kind of its records, and their prefix."""

DECLARED = tuple(prefix for module in MODULES for prefix in module.prefixes)


def collections(path: Path) -> Iterator[tuple[str, type[Record]]]:
    """Yield the prefix and the kind of each collection that a module makes, but where its caller names them."""
    module = import_module(".".join(("orrery", *path.relative_to(SOURCE).with_suffix("").parts)))
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    for kind, prefix in (node.args[2:4] for node in calls if ast.unparse(node.func) in MAKERS):
        if ast.unparse(kind) not in {"kind", "Record"}:
            yield _meant(prefix, module), _meant(kind, module)


def _meant(written: ast.expr, module: ModuleType) -> Any:  # noqa: ANN401  a text or a class
    """Return what an expression is; of a text with something filled in, what is before that."""
    if isinstance(written, ast.JoinedStr):
        written = written.values[0]
    return written.value if isinstance(written, ast.Constant) else attrgetter(ast.unparse(written))(module)


def _kinds() -> dict[str, list[type[Record]]]:
    found: defaultdict[str, list[type[Record]]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        is_product = path.relative_to(SOURCE).parts[0] != "sandbox"
        if is_product and any(f"{one}(" in path.read_text(encoding="utf-8") for one in MAKERS):
            for prefix, kind in collections(path):
                found[prefix] += [kind] if kind not in found[prefix] else []
    return dict(found)


KINDS = _kinds()
"""The kinds of the records under each prefix, from the collections of the source."""


def prefix_of(key: str) -> str:
    """Return the longest prefix that a key has, of those with a collection and those that a module declares."""
    return max((prefix for prefix in (*KINDS, *DECLARED) if key.startswith(prefix)), key=len, default="")


def read(entry: StoreEntry) -> Record | None:
    """Return the record in an entry, or None for what is no record; raise `ValidationError`."""
    kinds = KINDS.get(prefix_of(entry.key), [])
    return _either(kinds, entry.value) if kinds else None


def _either(kinds: Sequence[type[Record]], value: bytes) -> Record:
    first, *others = kinds
    try:
        return first.from_bytes(value)
    except ValidationError:
        if not others:
            raise
        return _either(others, value)


async def unreadable(path: Path, clock: Clock) -> list[str]:
    """Return the keys of a store whose records cannot be read; a key that nobody knows here is not looked at."""
    found: list[str] = []
    async for entry in entries(path, clock):
        try:
            _ = read(entry)
        except ValidationError:
            found.append(entry.key)
    return found


def main() -> int:
    """Print the keys that cannot be read."""
    found = asyncio.run(unreadable(Path(sys.argv[1]), SystemClock()))
    print("\n".join(found))  # noqa: T201  a program of its own
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
