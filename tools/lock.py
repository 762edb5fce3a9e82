"""Make the lock files from pyproject.toml, or check that they still belong to it.

usage: lock.py [--check | --upgrade]

A lock names every package by version and sha256, with environment markers, and no address it came from
(docs/decisions/0001-chosen-libraries.md). Making one asks the package index; checking one is offline:
each lock carries a digest of the tables of pyproject.toml that it was made from.
"""

import hashlib
import json
import re
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_EVERY_EXTRA = [word for extra in ("azure", "demo", "postgres") for word in ("--extra", extra)]
SOURCES = {
    "requirements.lock": ["pyproject.toml"],
    "requirements-build.lock": ["--group", "build"],
    "requirements-demo.lock": ["pyproject.toml", "--extra", "demo"],
    "requirements-azure.lock": ["pyproject.toml", "--extra", "azure"],
    "requirements-postgres.lock": ["pyproject.toml", "--extra", "postgres"],
    "requirements-dev.lock": ["pyproject.toml", *_EVERY_EXTRA, "--group", "dev"],
    "requirements-bench.lock": [
        *("pyproject.toml", *_EVERY_EXTRA),
        *("--group", "dev", "--group", "bench"),
    ],
}
WIDEST = list(SOURCES)[-1]
DIGEST_LINE = "# made from pyproject.toml's dependency tables, sha256 "
HEADING = """\
# Every package by version and sha256, for Python 3.11 and newer. Made by `./run lock`; do not edit.
{digest_line}{digest}
"""
COMPILE = [
    "pip",
    "compile",
    "--quiet",
    "--universal",
    "--python-version",
    "3.11",
    "--generate-hashes",
    "--no-annotate",
]
WITHOUT_ADDRESSES = ["--no-header", "--no-emit-index-url", "--no-emit-find-links"]


def digest(pyproject: Mapping[str, Any]) -> str:
    """Return the sha256, in hex, of everything in pyproject.toml that decides what a lock holds."""
    project = pyproject["project"]
    tables = [
        project["requires-python"],
        project["dependencies"],
        project.get("optional-dependencies", {}),
        pyproject["dependency-groups"],
        pyproject["build-system"]["requires"],
    ]
    return hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()


def pins(lock: str) -> set[str]:
    """Return the pins of a lock, as `name==version`; a name may have several, under different markers."""
    return set(re.findall(r"^([a-z0-9][a-z0-9.-]*==[^\s;]+)", lock, re.MULTILINE))


def problems(pyproject: Mapping[str, Any], locks: Mapping[str, str]) -> list[str]:
    """Return in one sentence each what is wrong with the locks (file name -> text); empty when all is well."""
    current = DIGEST_LINE + digest(pyproject)
    found = [f"{name} is missing." for name in SOURCES if name not in locks]
    for name, text in locks.items():
        if current not in text.splitlines():
            found.append(f"{name} was made from other dependencies than pyproject.toml names.")
        if "://" in text:
            found.append(f"{name} holds an address.")
        strays = pins(text) - pins(locks.get(WIDEST, text))
        found += [f"{name} holds {stray}, which {WIDEST} does not." for stray in sorted(strays)]
    unlocked = set(pyproject["build-system"]["requires"]) - set(pyproject["dependency-groups"]["build"])
    found += [f"The build group lacks {each}, which build-system requires." for each in sorted(unlocked)]
    return found


def read_locks(root: Path) -> dict[str, str]:
    """Return the text of each lock that exists."""
    return {name: (root / name).read_text() for name in SOURCES if (root / name).exists()}


def compile_lock(name: str, constraints: list[str], *, upgrade: bool) -> None:
    """Resolve one lock again, keeping the versions it has unless `upgrade`."""
    uv = Path(sysconfig.get_path("scripts")) / "uv"
    options = [*SOURCES[name], *constraints, "--output-file", name, *(["--upgrade"] if upgrade else [])]
    subprocess.run([uv, *COMPILE, *WITHOUT_ADDRESSES, *options], cwd=ROOT, check=True)  # noqa: S603 - fixed words, no shell


def make(*, upgrade: bool) -> None:
    """Make every lock: the widest first, so that the others pin the same versions."""
    widest, *others = reversed(SOURCES)
    compile_lock(widest, [], upgrade=upgrade)
    for name in others:
        compile_lock(name, ["--constraint", widest], upgrade=upgrade)
    heading = HEADING.format(digest_line=DIGEST_LINE, digest=digest(read_pyproject()))
    for name in SOURCES:
        path = ROOT / name
        path.write_text(heading + path.read_text())


def read_pyproject() -> dict[str, Any]:
    """Return pyproject.toml as parsed."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def main(arguments: list[str]) -> str | None:
    """Make the locks, or with --check name what is wrong with them (the text is the exit status)."""
    if unknown := set(arguments) - {"--check", "--upgrade"}:
        return f"There is no option {min(unknown)}; there are --check and --upgrade."
    if "--check" not in arguments:
        make(upgrade="--upgrade" in arguments)
    found = problems(read_pyproject(), read_locks(ROOT))
    return "\n".join([*found, "To make the locks again: ./run lock"]) if found else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
