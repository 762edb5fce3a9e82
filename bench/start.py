"""How soon `orrery serve` answers, and what it weighs at rest; and both after a `kill -9`, with a large store.

Asserts nothing.
"""

import asyncio
import itertools
import statistics
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.table import Table

from bench.large_store import PATTERN, SALES, WAITING, multiply, sell
from bench.service import prepare, serving
from bench.webhook import offer_sessions
from orrery.runtime.console.terminal import new_console

STARTS = 7
REST = 3.0
"""Seconds after the first answer at which the memory is read."""

UNFOLDED = 60
"""Sales that are taken before each kill, so that there is a log to recover."""

_UNDELIVERABLE = """
[push]
url = "http://127.0.0.1:9"
topic = "owner"
[mail]
host = "127.0.0.1"
port = 9
security = "none"
sender = "shop@northwind.example"
"""
"""Where nothing listens: what waits goes on waiting."""


def proportional_kilobytes(pid: int) -> int:
    """Return the process's proportional set size: its own pages, and its share of those that it shares."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def bare_start() -> float:
    """Return the seconds in which the interpreter alone starts and imports the web framework."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import fastapi, uvicorn, uvloop, httptools"], check=True)
    return time.perf_counter() - begin


def filled(folder: Path, sessions: list[str], *, large: bool) -> Path:
    """Make a store in which these sessions were offered, with many sales or none; return the settings."""
    settings, store = prepare(folder, more=_UNDELIVERABLE), folder / "orrery.db"
    asyncio.run(offer_sessions(store, [PATTERN, *sessions]))
    if large:
        with serving(settings) as service:
            sell(service, [PATTERN])
        asyncio.run(multiply(store))
    return settings


def killed_starts() -> dict[str, tuple[list[float], list[float]]]:
    """Start over an empty and over a large store, in turns, each after a kill; return seconds and megabytes."""
    sessions = [[f"cs_test_{number}_{one}" for one in range(UNFOLDED)] for number in range(STARTS + 1)]
    found: dict[str, tuple[list[float], list[float]]] = {}
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as directory:
        sides = {
            name: filled(Path(directory, name), list(itertools.chain(*sessions)), large=name == "large")
            for name in ("empty", "large")
        }
        for number, (name, settings) in itertools.product(range(STARTS + 1), sides.items()):
            with serving(settings) as service:
                sell(service, sessions[number])
                time.sleep(REST)  # noqa: TID251  at rest means left alone
                weight = proportional_kilobytes(service.process.pid) / 1024
                service.process.kill()
            if number:  # the first start came after no kill
                seconds, megabytes = found.setdefault(name, ([], []))
                seconds.append(service.started_in)
                megabytes.append(weight)
    return found


def killed_table() -> Table:
    """Measure, and return the starts after a kill."""
    found = killed_starts()
    made = Table(
        title="orrery serve after kill -9",
        caption=f"median of {STARTS} starts each, in turns; large: {SALES:,} sales, {WAITING:,} messages waiting",
    )
    for heading in ("store", "start to the first 200", "worst", "ratio", "memory, PSS"):
        made.add_column(heading, justify="left" if heading == "store" else "right")
    first = statistics.median(found["empty"][0])
    for name, (seconds, megabytes) in found.items():
        median = statistics.median(seconds)
        cells = f"{median:.2f} s", f"{max(seconds):.2f} s", f"{median / first:.2f}"
        made.add_row(name, *cells, f"{statistics.median(megabytes):.0f} MB")
    return made


def main() -> None:
    """Start the service several times, and print the tables."""
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
    new_console(soft_wrap=False).print(made, killed_table())


if __name__ == "__main__":
    main()
