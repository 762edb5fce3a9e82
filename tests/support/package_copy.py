"""A copy of the package with further modules, and new processes that use it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "orrery"
FURTHER = ROOT / "tests" / "architecture" / "new_domain" / "src" / "orrery"

LISTING = """\
import atexit, sys
atexit.register(lambda: print("loaded:", *sys.modules, file=sys.stderr))
from orrery.app.main import main
main()
"""
"""Runs `orrery`, and lists every loaded module at its end."""


def line_of(module: str) -> str:
    """Return the line in `MODULES` that a further module is."""
    return f'    _in("{module}"),\n'


def package_with(folder: Path, *further: str) -> Path:
    """Return the folder, in which there is a copy of the package with further modules."""
    shutil.copytree(SOURCE, folder / "orrery")  # with what is compiled, which stays valid
    for module in further:
        shutil.copytree(FURTHER / module, folder / "orrery" / module)
    modules = folder / "orrery" / "app" / "modules.py"
    lines = "".join(map(line_of, further))
    modules.write_text(modules.read_text().replace(line_of("live"), line_of("live") + lines))
    return folder


def run_python(
    copy: Path, *words: str | Path, folder: Path = ROOT, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with the copy of the package, in an environment without settings but `variables`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ORRERY_")}  # noqa: TID251  passed on
    environment = {**kept, "PYTHONPATH": f"{copy}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "", "COLUMNS": "200"}
    return subprocess.run(  # noqa: S603  our own code
        [sys.executable, *words],
        cwd=folder,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def loaded(result: subprocess.CompletedProcess[str]) -> set[str]:
    """Return the modules that a run of `LISTING` loaded."""
    return set(result.stderr.partition("loaded:")[2].split())
