"""Add a domain or an adapter: copy the worked example under a name of its own, and register it.

usage: python -m tools.new domain|adapter NAME

An example is a tree that mirrors this repository: `new_domain` and `new_adapter` in `tests/architecture`. A new
file is copied; of a page that is there already, each section goes under its heading, or to the end.
"""

import builtins
import keyword
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from orrery.app.modules import MODULES
from tests.architecture.house_rules import vague_paths
from tests.docs.test_glossary import found as refused_words
from tools.statements import ROOT, TABLE, statements

NAME = re.compile(r"[a-z]{3,16}")
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

    def files(self) -> Iterator[tuple[Path, str]]:
        """Yield each file of the copy with its text."""
        for file in sorted(self.example.tree.rglob("*.*")):
            path = str(file.relative_to(self.example.tree))
            if file.suffix in {".md", ".py", ".toml"} and self.example.word in path + file.read_text():
                yield ROOT / self.named(path), self.named(file.read_text())

    def changes(self) -> dict[Path, str]:
        """Return the text of each file that is new or changes; nothing is written yet."""
        found = {path: merged(path.read_text(), text) if path.exists() else text for path, text in self.files()}
        for file, before, line in self.example.lines:
            head, mark, tail = (ROOT / file).read_text().partition(f"\n{before}")
            found[ROOT / file] = f"{head}\n{self.named(line)}{mark[1:]}{tail}"
        return found | {TABLE: self.counted(found)}

    def counted(self, texts: dict[Path, str]) -> str:
        """Return the table of statements with the additions under the number of the decision record."""
        more = Counter[str]()
        for path, text in texts.items():
            if path.suffix == ".py":
                before = statements(path.read_bytes()) if path.exists() else 0
                more[package_of(path)] += statements(text.encode()) - before
        table = TABLE.read_text()
        for package, count in (+more).items():
            table = added(table, package, f'"{self.record}" = {count}')
        return table


def package_of(path: Path) -> str:
    """Return the name of a file's row in the table of statements."""
    parts = path.relative_to(ROOT).parts
    return parts[0] if parts[0] == "tests" else parts[2]


def added(table: str, package: str, entry: str) -> str:
    """Return the table with an addition to a package's row, or with a row for a package that has none."""
    row = re.search(rf"(?m)^{package} = \{{ (.*) \}}$", table)
    if row is None:
        return table.replace('"." = {', f'{package} = {{ held = 0, added = {{ {entry} }} }}\n"." = {{')
    known = row[0]
    grown = known[:-4] + f", {entry} }} }}" if "added" in known else f"{known[:-2]}, added = {{ {entry} }} }}"
    return table.replace(known, grown)


def merged(page: str, more: str) -> str:
    """Return a page with more rows at the end of a section's last table, and with the sections that it lacks."""
    for section in filter(None, SECTION.split(more)):
        heading, _, body = section.partition("\n\n")
        parts = SECTION.split(page)
        there = next((part for part in parts if part.startswith(f"{heading}\n")), None)
        if there is None:
            page = f"{page.rstrip()}\n\n{section.rstrip()}\n"
            continue
        if "\n|" not in there:
            raise Refused(f"The section '{heading}' is there already, for something else.")
        last = there.rindex("\n|") + 1
        end = there.index("\n", last) + 1
        parts[parts.index(there)] = there[:end] + body.rstrip() + "\n" + there[end:]
        page = "".join(parts)
    return page


def taken(copy: Copy) -> bool:
    """Return whether the name has a place already: among the modules' names, or in a folder."""
    used = {part.name for one in MODULES for part in (one, *one.sections, *one.secrets, *one.commands)}
    return copy.name in used or any(_is_there(path, copy.name) for path, _ in copy.files())


def _is_there(path: Path, name: str) -> bool:
    own = [place for place in (path, *path.parents) if place.is_relative_to(ROOT) and name in place.name]
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
    numbers = [int(path.name[:4]) for path in (ROOT / "docs" / "decisions").glob("0*.md")]
    copy = Copy(example, name, f"{max(numbers) + 1:04}")
    words = {word.lower() for file in example.tree.rglob("*.py") for word in re.findall(r"\w+", file.read_text())}
    if name != example.word and name in words:
        raise Refused(f"'{name}' cannot be a name: the worked example uses the word for something else.")
    if taken(copy):
        raise Refused(f"'{name}' is taken: something in Orrery has this name.")
    return copy


def made(copy: Copy) -> list[str]:
    """Write the copy, in the house's format; return the paths of the new files."""
    changes = copy.changes()
    new = sorted(str(path.relative_to(ROOT)) for path in changes if not path.exists())
    for path, text in changes.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    python = [path for path in changes if path.suffix == ".py"]
    run_module("ruff", "check", "--quiet", "--fix", "--exit-zero", *python)
    run_module("ruff", "format", "--quiet", *python)
    if any(path.name == "records.py" for path in changes):
        run_module("tools.shapes")
    return new


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
    sys.stdout.writelines(f"  {path}\n" for path in made(copy))
    decision = f"docs/decisions/{copy.record}-{name}.md"
    sys.stdout.write(f"\nSay in {decision} why there is this {kind}; then change what is copied, and run:\n\n")
    sys.stdout.writelines(f"  ./run test {copy.named(test)}\n" for test in copy.example.tests)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
