"""How soon `orrery serve` answers, and what it weighs at rest. Asserts nothing."""

import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from bench.service import prepare, serving
from orrery.runtime.console.terminal import new_console

STARTS = 7
REST = 3.0
"""Seconds after the first answer at which the memory is read."""


def proportional_kilobytes(pid: int) -> int:
    """Return the process's proportional set size: its own pages, and its share of those that it shares."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def bare_start() -> float:
    """Return the seconds in which the interpreter alone starts and imports the web framework."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import fastapi, uvicorn, uvloop, httptools"], check=True)
    return time.perf_counter() - begin


def main() -> None:
    """Start the service several times, and print the table."""
    started, bare, weights = list[float](), list[float](), list[float]()
    for _ in range(STARTS):
        with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as directory:
            settings = prepare(Path(directory) / "service")
            bare.append(bare_start())
            with serving(settings) as service:
                started.append(service.started_in)
                time.sleep(REST)  # noqa: TID251  at rest means left alone
                weights.append(proportional_kilobytes(service.process.pid) / 1024)
    made = Table(title="orrery serve", caption=f"median of {STARTS} starts, a new store each")
    for heading in ("", "median", "worst", "ratio"):
        made.add_column(heading, justify="left" if not heading else "right")
    limit = statistics.median(bare)
    made.add_row("import of the web framework alone", f"{limit:.2f} s", f"{max(bare):.2f} s", "1.00")
    first = statistics.median(started)
    made.add_row("start to the first 200", f"{first:.2f} s", f"{max(started):.2f} s", f"{first / limit:.2f}")
    made.add_row("memory at rest, PSS", f"{statistics.median(weights):.0f} MB", f"{max(weights):.0f} MB", "")
    new_console(soft_wrap=False).print(made)


if __name__ == "__main__":
    main()
