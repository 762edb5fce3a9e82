"""What the documentation holds that can be checked: links between files, and examples that are marked to run."""

import re
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

from tests.support.program import run_orrery
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=fence)\s*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.+)$", re.MULTILINE)
RUNS = frozenset({"python run", "console run"})


@dataclass(frozen=True, slots=True)
class Example:
    """A fenced block whose first line says `python run` or `console run`; `line` is where it starts."""

    path: Path
    line: int
    language: str
    body: str


def documents() -> list[Path]:
    """Return every page of the documentation."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def examples(path: Path) -> Iterator[Example]:
    """Yield the examples of a page that are marked to run."""
    text = path.read_text()
    for found in FENCE.finditer(text):
        if found["info"].strip() in RUNS:
            line = text.count("\n", 0, found.start()) + 1
            yield Example(path, line, found["info"].split()[0], found["body"])


def broken_links(path: Path) -> Iterator[str]:
    """Yield the links of a page to files or headings that do not exist; links to other sites are not followed."""
    for found in LINK.finditer(FENCE.sub("", path.read_text())):
        target, _, anchor = found["target"].partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        page = path.parent / target if target else path
        if not page.exists():
            yield f"{path.name}: {target} does not exist"
        elif anchor and anchor not in anchors(page):
            yield f"{path.name}: {target} has no heading #{anchor}"


def anchors(page: Path) -> set[str]:
    """Return the names under which a page's headings can be linked to."""
    headings = HEADING.findall(FENCE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def run(example: Example, folder: Path) -> None:
    """Run an example in a folder of its own; AssertionError, with all that was printed, if it does not hold."""
    if example.language == "python":
        _succeed([sys.executable, "-"], folder, example.body)
        return
    for command, expected in commands(example.body):
        _holds(_ours(command, folder) or _succeed(["bash", "-c", command], folder, ""), expected)


def commands(body: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a console example (a line after `$ `) with the lines of output that follow it."""
    for block in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, *output = block.rstrip("\n").splitlines()
        yield command, [line.strip() for line in output if line.strip() not in {"", "…"}]


def _ours(command: str, folder: Path) -> str:
    """Return what a plain command of ours prints, forked for the time that its imports take; "" for another."""
    *steps, last = command.split(" && ")
    if not last.startswith("orrery ") or not all(step.startswith("cd ") for step in steps):
        return ""
    with chdir(folder.joinpath(*(step.removeprefix("cd ") for step in steps))):
        came = run_orrery(*shlex.split(last)[1:])
    assert came.returncode == 0, came.stdout + came.stderr
    return f"{came.stdout}{came.stderr}\n"


def _succeed(command: list[str], folder: Path, given: str) -> str:
    path = f"{sysconfig.get_path('scripts')}:/usr/local/bin:/usr/bin:/bin"
    environment = {"PATH": path, "HOME": str(folder), "NO_COLOR": "1", "COLUMNS": "120", "LANG": "C.UTF-8"}
    result = subprocess.run(  # noqa: S603 - the commands are our own documentation's
        command,
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    printed = result.stdout + result.stderr
    assert result.returncode == 0, printed
    return printed


def _holds(printed: str, expected: list[str]) -> None:
    missing = [line for line in expected if line not in printed]
    assert not missing, f"not printed: {missing}\nprinted:\n{printed}"
