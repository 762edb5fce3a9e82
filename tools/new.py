"""Add a domain or an adapter: copy the worked example under a name of its own, and register it.

usage: python -m tools.new domain|adapter NAME

An example is a tree that mirrors this repository: `new_domain` and `new_adapter` in `tests/architecture`. A new
file is copied; of a page that is there already, each section goes under its heading, or to the end.

Each write is whole, and what makes the new thing known comes last. A repeat after a kill finds its own files as it
would write them, and completes what is missing: nothing is added twice.
"""

import builtins
import keyword
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from orrery import durable
from orrery.app.modules import MODULES
from tests.architecture.house_rules import vague_paths
from tests.docs.test_glossary import found as refused_words
from tools.statements import ROOT, TABLE, statements

NAME = re.compile(r"[a-z]{3,16}")
DECISIONS = ROOT / "docs" / "decisions"
SECTION = re.compile(r"^(?=#{2,3} )", re.MULTILINE)
PLANTED = '    Planted("inside-waitlist", "waitlist/errors.py", "import orrery.waitlist.cli", "errors -> "),\n'
"""How the test of the import rules sees the domain's own contract break."""


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: its word, the lines to register (file, before which line, line), the tests to run then."""

    word: str
    lines: tuple[tuple[str, str, str], ...]
    tests: tuple[str, ...]

    @property
    def tree(self) -> Path:
        """Where it is."""
        return ROOT / "tests" / "architecture" / ("new_domain" if self.word == "waitlist" else "new_adapter")


EXAMPLES = {
    "domain": Example(
        "waitlist",
        (
            ("src/orrery/app/modules.py", "    NOTIFICATIONS,\n", '    _in("waitlist"),\n'),
            ("tests/architecture/test_import_rules.py", "]\n", PLANTED),
        ),
        (
            "tests/waitlist",
            "tests/docs/test_reference.py",
            "tests/docs/test_glossary.py",
            "tests/architecture/test_records.py",
            "tests/architecture/test_import_rules.py",
        ),
    ),
    "adapter": Example(
        "partner",
        (
            (
                "src/orrery/app/adapters/__init__.py",
                "}\n",
                '    "orrery.ports.partner:Partner": "orrery.app.adapters.partner:partner",\n',
            ),
            ("src/orrery/sandbox/app.py", ")\n", '    "orrery.sandbox.partner:partner_routes",\n'),
        ),
        (
            "tests/conformance/test_partner.py",
            "tests/architecture/test_one_authority.py",
            "tests/architecture/test_import_rules.py",
            "tests/docs/test_reference.py",
            "tests/docs/test_glossary.py",
        ),
    ),
}


class Refused(Exception):
    """Why nothing was changed, in a sentence."""


@dataclass(frozen=True, slots=True)
class Copy:
    """An example under another name; `record` is the number of its decision record."""

    example: Example
    name: str
    record: str

    def named(self, text: str) -> str:
        """Return a text of the example with the name in it."""
        word = self.example.word
        text = text.replace(word, self.name).replace(word.capitalize(), self.name.capitalize())
        return text.replace("0000", self.record)

    def files(self, *, new: bool) -> dict[Path, str]:
        """Return each file with its text: the new ones, or what is added to pages that are there."""
        word, tree = self.example.word, self.example.tree
        found = {file.relative_to(tree).as_posix(): file for file in sorted(tree.rglob("*.*"))}
        texts = {
            path: file.read_text()
            for path, file in found.items()
            if file.suffix in {".md", ".py", ".toml"} and (word in path) == new
        }
        return {ROOT / self.named(path): self.named(text) for path, text in texts.items() if word in path + text}

    def changes(self) -> dict[Path, str]:
        """Return what each file is to hold that is new or changes, in the order of writing."""
        pages = {path: merged(path.read_text(), text) for path, text in self.files(new=False).items()}
        table = counted(new_files(self), self.record)
        registers = {
            ROOT / file: registered((ROOT / file).read_text(), before, self.named(line))
            for file, before, line in reversed(self.example.lines)
        }
        return {**new_files(self), **pages, TABLE: table, **registers}

    def is_begun(self) -> bool:
        """Return whether new files are there as they were written: after a kill, or before any change."""
        there = {path: text for path, text in new_files(self).items() if path.exists()}
        return bool(there) and all(path.read_text() == text for path, text in there.items())


@cache
def new_files(copy: Copy) -> dict[Path, str]:
    """Return the new files of a copy with their texts, Python's in the house's format."""
    texts = copy.files(new=True)
    with tempfile.TemporaryDirectory() as folder:
        there = {path: Path(folder) / path.relative_to(ROOT) for path in texts}
        for path, place in there.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(texts[path])
        shutil.copy(ROOT / "pyproject.toml", folder)
        run_module("ruff", "check", "--quiet", "--no-cache", "--fix", "--exit-zero", folder)
        run_module("ruff", "format", "--quiet", "--no-cache", folder)
        return {path: place.read_text() for path, place in there.items()}


def registered(text: str, before: str, line: str) -> str:
    """Return a file's text with a line before another one, unless it has it."""
    head, mark, tail = text.partition(f"\n{before}")
    return text if line in text else f"{head}\n{line}{mark[1:]}{tail}"


def counted(texts: dict[Path, str], record: str) -> str:
    """Return the table of statements with what new files add, under the number of the decision record."""
    more = Counter[str]()
    for path, text in texts.items():
        more[package_of(path)] += statements(text.encode()) if path.suffix == ".py" else 0
    table = TABLE.read_text()
    for package, count in (+more).items():
        table = added(table, package, f'"{record}" = {count}')
    return table


def package_of(path: Path) -> str:
    """Return the name of a file's row in the table of statements."""
    parts = path.relative_to(ROOT).parts
    return parts[0] if parts[0] == "tests" else parts[2]


def added(table: str, package: str, entry: str) -> str:
    """Return the table with an addition to a package's row, or with a row for a package that has none."""
    row = re.search(rf"(?m)^{package} = \{{ (.*) \}}$", table)
    if row and entry in row[0]:
        return table
    if row is None:
        return table.replace('"." = {', f'{package} = {{ held = 0, added = {{ {entry} }} }}\n"." = {{')
    known = row[0]
    grown = known[:-4] + f", {entry} }} }}" if "added" in known else f"{known[:-2]}, added = {{ {entry} }} }}"
    return table.replace(known, grown)


def merged(page: str, more: str) -> str:
    """Return a page with more rows at the end of a section's last table, and with the sections that it lacks."""
    for section in filter(None, SECTION.split(more)):
        if section.rstrip() in page:
            continue
        heading, _, body = section.partition("\n\n")
        parts = SECTION.split(page)
        there = next((part for part in parts if part.startswith(f"{heading}\n")), None)
        if there is None:
            page = f"{page.rstrip()}\n\n{section.rstrip()}\n"
            continue
        if "\n|" not in there:
            raise Refused(f"The section '{heading}' is there already, for something else.")
        if body.rstrip() not in there:
            last = there.rindex("\n|") + 1
            end = there.index("\n", last) + 1
            parts[parts.index(there)] = there[:end] + body.rstrip() + "\n" + there[end:]
            page = "".join(parts)
    return page


def taken(copy: Copy) -> bool:
    """Return whether the name has a place already: among the modules' names, or in a file or folder."""
    used = {part.name for one in MODULES for part in (one, *one.sections, *one.secrets, *one.commands)}
    return (
        copy.name in used
        or bool(records(copy.name))
        or any(_is_there(path, copy.name) for path in copy.files(new=True))
    )


def records(name: str) -> list[Path]:
    """Return the decision record that has a name, if any."""
    return [*DECISIONS.glob(f"[0-9]*-{name}.md")]


def _is_there(path: Path, name: str) -> bool:
    places = [one for one in (path, *path.parents) if one.is_relative_to(ROOT)]
    own = [one for one in places if re.fullmatch(rf"(test_)?{name}(\.\w+)?", one.name)]
    return any(one.exists() for place in own for one in (place, place.with_suffix(""), place.with_suffix(".py")))


def checked(kind: str, name: str) -> Copy:
    """Return the copy to make; raise `Refused`."""
    example = EXAMPLES[kind]
    if not NAME.fullmatch(name):
        raise Refused(f"'{name}' cannot be a name: it has 3 to 16 letters from a to z, such as 'recipes'.")
    if keyword.iskeyword(name) or name in vars(builtins):
        raise Refused(f"'{name}' cannot be a name: Python uses it.")
    if refused_words(name) or [*vague_paths(PurePosixPath(name))]:
        raise Refused(f"'{name}' cannot be a name: the rules of the house refuse the word.")
    last = max(int(path.name[:4]) for path in DECISIONS.glob("[0-9]*.md"))
    copy = Copy(example, name, next((path.name[:4] for path in records(name)), f"{last + 1:04}"))
    words = {word.lower() for file in example.tree.rglob("*.py") for word in re.findall(r"\w+", file.read_text())}
    if name != example.word and name in words:
        raise Refused(f"'{name}' cannot be a name: the worked example uses the word for something else.")
    if taken(copy) and not copy.is_begun():
        raise Refused(f"'{name}' is taken: something in Orrery has this name.")
    return copy


def made(copy: Copy) -> Iterator[Path]:
    """Write the copy; yield each file when it is there."""
    changes = copy.changes()
    for path, text in changes.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        durable.replace(path, text.encode(), 0o644)
        yield path
    if any(path.name == "records.py" for path in changes):
        run_module("tools.shapes")


def run_module(*words: str | Path) -> None:
    """Run a module of Python, quietly."""
    _ = subprocess.run([sys.executable, "-m", *words], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)  # noqa: S603  no shell


def main(arguments: list[str]) -> int:
    """Make it, and print what to do next; return 2 for a name that cannot be used."""
    match arguments:
        case [kind, name] if kind in EXAMPLES:
            pass
        case _:
            sys.stderr.write("usage: ./run new domain NAME, or ./run new adapter NAME\n")
            return 2
    try:
        copy = checked(kind, name)
        _ = copy.changes()
    except Refused as why:
        sys.stderr.write(f"{why} Nothing was changed.\n")
        return 2
    new = [path.relative_to(ROOT) for path in made(copy) if path in new_files(copy)]
    sys.stdout.writelines(f"  {path}\n" for path in new)
    decision = f"docs/decisions/{copy.record}-{name}.md"
    sys.stdout.write(f"\nSay in {decision} why there is this {kind}; then change what is copied, and run:\n\n")
    sys.stdout.writelines(f"  ./run test {copy.named(test)}\n" for test in copy.example.tests)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
