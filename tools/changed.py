"""What changed since a commit, and what to look at because of it.

usage: python -m tools.changed tests|types [COMMIT]   COMMIT is HEAD where none is named

`tests` prints test files and folders: what mirrors a changed folder of the source, what imports a changed module,
what names a changed file. `types` prints the changed Python files, and those that import them. The reasons go to
standard error.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from tools.statements import ROOT

OF_ALL_CODE = ("tests/architecture/test_house_rules.py", "tests/docs/test_glossary.py")
"""What every change of code may break, in seconds."""

OF_OTHER_FILES = {
    "src/orrery/web/": "tests/browser",
    "src/orrery/web/servers/": "tests/nginx",
    "deploy/systemd/": "tests/systemd",
    "deploy/edge/": "tests/nginx",
    "deploy/azure/": "tests/gateway",
    "tests/architecture/new_": "tests/architecture",
}
"""Where the files that are no code of Python are run."""

BESIDE = re.compile(r'with_name\("(\w+\.py)"\)')
"""How a test names a program beside it."""

MOST_IMPORTERS = 20
"""More are not type-checked by `./run check --fast`: they would take longer than it may."""


def changed(commit: str = "HEAD") -> list[str]:
    """Return the files that differ from a commit, new ones among them; raise `SystemExit` for an unknown one."""
    found: set[str] = set()
    for words in (
        ["diff", "--name-only", "--no-renames", commit, "--"],
        ["ls-files", "--others", "--exclude-standard"],
    ):
        came = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603, S607  git from the path
        if came.returncode:
            sys.exit(f"git knows no commit '{commit}'.")
        found |= set(came.stdout.splitlines())
    return sorted(found)


def module_of(path: str) -> str:
    """Return the name under which a file is imported, or nothing."""
    place = PurePosixPath(path.removeprefix("src/"))
    parts = place.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) if place.suffix == ".py" else ""


def imported(text: str) -> set[str]:
    """Return the names of the modules that a file's text imports, wherever the import is."""
    found: set[str] = set()
    try:
        tree = ast.parse(text)
    except SyntaxError:  # ruff reports it
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
    return found


def started(path: str, text: str) -> set[str]:
    """Return the names of the modules beside a test that it starts as programs."""
    return {module_of(str(PurePosixPath(path).with_name(name))) for name in BESIDE.findall(text)}


def mirror(path: str, folders: frozenset[str]) -> str:
    """Return the folder of tests that mirrors a file of the source most closely, or nothing."""
    parents = PurePosixPath(path.replace("src/orrery/", "tests/", 1)).parents
    return next((str(one) for one in parents if str(one) in folders and one.name != "tests"), "")


def by_place(path: str) -> Iterator[tuple[str, str]]:
    """Yield what to run for a file by where it is, and what it is, alone."""
    if PurePosixPath(path).name == "conftest.py":
        yield str(PurePosixPath(path).parent), f"{path} serves it"
    if path.endswith(".md"):
        yield "tests/docs", f"looks at {path}"
    if path in {"run", ".ci/run"} or path.endswith(".sh"):
        yield "tests/architecture/test_run_script.py", f"starts {path}"
    for start, folder in OF_OTHER_FILES.items():
        if path.startswith(start) and not path.endswith(".py"):
            yield folder, f"runs {path}"


def importers(path: str, uses: Mapping[str, set[str]], *, follow: bool) -> Iterator[tuple[str, str]]:
    """Yield what imports a file, and the folder that a `conftest.py` among them serves.

    `follow`: what imports those in turn, for the tests' own helpers; after a change of the source that is all.
    """
    met = [path]
    for one in met:
        users = [test for test, names in uses.items() if module_of(one) in names and test not in met]
        for test in users if module_of(one) else []:
            yield test, f"imports {one}"
            if PurePosixPath(test).name == "conftest.py":
                yield str(PurePosixPath(test).parent), f"{test} imports {one}"
            elif follow and not PurePosixPath(test).name.startswith("test_"):
                met.append(test)


def picked(files: list[str], texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what to run with the reason; `texts` are the files of the tests by their path."""
    folders = frozenset(str(PurePosixPath(path).parent) for path in texts)
    uses = {path: imported(text) | started(path, text) for path, text in texts.items()}
    for path in files:
        name, module = PurePosixPath(path).name, module_of(path)
        if path in texts and name.startswith("test_"):
            yield path, "it changed"
        if path.startswith("src/orrery/") and (folder := mirror(path, folders)):
            yield folder, f"mirrors {path}"
        yield from by_place(path)
        yield from importers(path, uses, follow=path.startswith("tests/"))
        if "." in name and not module:
            yield from ((test, f"names {path}") for test in texts if f'"{name}"' in texts[test])
    if any(path.endswith(".py") for path in files):
        yield from ((test, "looks at all code") for test in OF_ALL_CODE)


def tests(files: list[str]) -> dict[str, str]:
    """Return the tests to run, each once and none below another, with its reason."""
    paths = [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py")]
    texts = {
        str(path): (ROOT / path).read_text() for path in paths if not {"new_domain", "new_adapter"} & {*path.parts}
    }
    found = dict(reversed([*picked(files, texts)]))
    kept = {one: why for one, why in found.items() if "/test_" in one or not one.endswith(".py")}
    return {
        one: why
        for one, why in sorted(kept.items())
        if (ROOT / one).exists() and not any(str(parent) in kept for parent in PurePosixPath(one).parents)
    }


def types(files: list[str]) -> dict[str, str]:
    """Return the Python files to check, with the reason: those that changed, and few that import them."""
    python = {path: "it changed" for path in files if path.endswith(".py") and (ROOT / path).exists()}
    modules = {module_of(path): path for path in python}
    last = re.compile("|".join(re.escape(name.rpartition(".")[2]) for name in modules) or "(?!)")
    every = (path for folder in ("src", "tests", "tools", "bench") for path in (ROOT / folder).rglob("*.py"))
    texts = ((path, text) for path in every if last.search(text := path.read_text()))  # parsing all takes seconds
    importers = {
        str(path.relative_to(ROOT)): f"imports {modules[min(names)]}"
        for path, text in texts
        if (names := modules.keys() & imported(text))
    }
    return (importers if len(importers) <= MOST_IMPORTERS else {}) | python


def main(arguments: list[str]) -> int:
    """Print what there is to look at, and why."""
    what, *commit = arguments
    files = changed(*commit)
    if not files:
        sys.stderr.write(f"Nothing has changed since {'the last commit' if not commit else commit[0]}.\n")
    found = (tests if what == "tests" else types)(files)
    if files and not found:
        sys.stderr.write(f"There are no {what} for what has changed: {', '.join(files)}.\n")
    if what == "tests":
        sys.stderr.writelines(f"  {one}: {why}\n" for one, why in found.items())
    sys.stdout.writelines(f"{one}\n" for one in found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
