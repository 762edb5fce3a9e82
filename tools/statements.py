"""Count the statements of each package, and hold them to the table in `statements.toml`.

usage: statements.py [--update]   --update writes the present numbers into the table

Docstrings do not count, those of attributes among them, and neither do blanks, comments, or the way in which lines
are broken.
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class Row:
    """One package, or several as one: see the head of `statements.toml`."""

    name: str
    held: int
    added: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def packages(self) -> list[str]:
        """The names of the packages."""
        return self.name.split(" + ")

    @property
    def limit(self) -> int:
        """The most that it may have: its budget."""
        return self.held + sum(self.added.values())


def statements(text: bytes) -> int:
    """Return how many statements a file has, without its docstrings."""
    nodes = list(ast.walk(ast.parse(text)))
    return sum(isinstance(one, ast.stmt) and not _is_docstring(one) for one in nodes)


def _is_docstring(node: ast.AST) -> bool:
    """Return whether a node is a bare text: of a module, a class, a function, or the attribute above it."""
    match node:
        case ast.Expr(ast.Constant(str())):
            return True
        case _:
            return False


def counted(root: Path) -> Counter[str]:
    """Return the statements of each package in `src/orrery`, of the modules beside them as ".", and of `tests`."""
    found = Counter[str]()
    for package, file in files(root):
        found[package] += statements(file.read_bytes())
    return found


def files(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield each file that counts, with its package."""
    source = root / "src" / "orrery"
    for file in source.rglob("*.py"):
        first, *inside = file.relative_to(source).parts
        yield first if inside else ".", file
    yield from (("tests", file) for file in (root / "tests").rglob("*.py"))


def rows(text: str) -> list[Row]:
    """Return the rows of the table."""
    return [Row(name, **row) for name, row in tomllib.loads(text)["packages"].items()]


def problems(table: list[Row], counts: Mapping[str, int], records: Path) -> Iterator[str]:
    """Yield in sentences what is wrong with the table, and which package has more than it may."""
    named = [name for row in table for name in row.packages]
    yield from (f"{name} has no row." for name in sorted(counts.keys() - {*named}))
    yield from (f"{name} is no package." for name in sorted({*named} - counts.keys()))
    for row in table:
        present, most = _sum(row, counts), row.limit
        if present > most:
            yield f"{row.name} has {present} statements, and may have {most}: take out {present - most}."
        for record in row.added:
            if not [*records.glob(f"{record}-*.md")]:
                yield f"{row.name}: decision record {record} is missing."


def shown(table: list[Row], counts: Mapping[str, int]) -> Iterator[str]:
    """Yield the lines of the table that a person reads."""
    yield f"{'statements':<38}{'now':>8}{'budget':>8}"
    for row in table:
        yield f"{row.name:<38}{_sum(row, counts):>8}{row.limit:>8}"


def updated(text: str, table: list[Row], counts: Mapping[str, int]) -> str:
    """Return the table's text with the present numbers."""
    for row in table:
        held = _sum(row, counts) - sum(row.added.values())
        text = re.sub(rf'(?m)^("?{re.escape(row.name)}"? = {{ held = )\d+', rf"\g<1>{held}", text)
    return text


def _sum(row: Row, counts: Mapping[str, int]) -> int:
    return sum(counts.get(name, 0) for name in row.packages)


def main(arguments: list[str]) -> int:
    """Print the table, and on standard error what is wrong; return the exit code."""
    counts, text = counted(ROOT), TABLE.read_text()
    if arguments == ["--update"]:
        text = updated(text, rows(text), counts)
        TABLE.write_text(text)
    table = rows(text)
    sys.stdout.writelines(f"{line}\n" for line in shown(table, counts))
    wrong = list(problems(table, counts, ROOT / "docs" / "decisions"))
    sys.stderr.writelines(f"{one}\n" for one in wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
