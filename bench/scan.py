"""How fast the scanner searches, beside detect-secrets; how long a commit waits; a large repository."""

import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import pydantic
from rich.table import Table

from orrery.runtime.console.terminal import new_console
from tests.scanner.corpus.measured import measured
from tests.support.scanned import SYLLABLES, config_with_terms, git, made_repository

TERMS = 10_000
COMMITS = 21
FILES = 10
TEXT_BYTES = 60_000_000

SHORTEST = 1000
"""Bytes of a file that is taken: the empty ones of packages are no text."""

PEER_BYTES = 300_000
"""What detect-secrets searches: it would take minutes for more."""

REPOSITORY_BYTES = 500_000_000


def _terms() -> list[str]:
    chance = random.Random(1)  # noqa: S311  the same terms in each run

    def word() -> str:
        return "".join(chance.choice(SYLLABLES) for _ in range(chance.randint(3, 5)))

    return [f"{word()} {word()}" if chance.random() < 0.7 else word() for _ in range(TERMS)]  # noqa: PLR2004  as lists of people and customers are


def _scan(config: Path, *words: str, folder: Path) -> tuple[float, float, dict[str, object]]:
    """Return the seconds, the megabytes of memory at most, and the summary of a scan in a separate process."""
    begin = time.perf_counter()
    command = [sys.executable, "-P", "-m", "orrery", "tenants", "scan", "--json", "--config", str(config), *words]
    with TemporaryFile() as printed:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=printed)  # noqa: S603  our own
        _, _, used = os.wait4(process.pid, 0)
        took = time.perf_counter() - begin
        _ = printed.seek(0)
        lines = printed.read().splitlines()
    return took, used.ru_maxrss / 1024, json.loads(lines[-1])


def _text(folder: Path) -> int:
    """Copy the sources of installed packages into a folder; return their bytes."""
    written = 0
    packages = Path(pydantic.__file__).parents[1]
    for source in sorted(packages.rglob("*.py")):
        if source.stat().st_size > SHORTEST:
            target = folder / source.relative_to(packages)
            target.parent.mkdir(parents=True, exist_ok=True)
            written += target.write_bytes(source.read_bytes())
        if written > TEXT_BYTES:
            break
    return written


def _peer(folder: Path) -> tuple[int, float]:
    """Return how many bytes detect-secrets searched, and in how many seconds, its start left out."""
    files, size = list[str](), 0
    for one in sorted(folder.rglob("*.py")):
        if size > PEER_BYTES:
            break
        files.append(str(one))
        size += one.stat().st_size
    code = """
import sys, time
from detect_secrets import SecretsCollection
from detect_secrets.settings import default_settings
with default_settings():
    begin = time.perf_counter()
    found = SecretsCollection()
    for name in sys.stdin.read().splitlines():
        found.scan_file(name)
    print(time.perf_counter() - begin)
"""
    command = [sys.executable, "-P", "-c", code]
    run = subprocess.run(command, input="\n".join(files), capture_output=True, text=True, check=True)  # noqa: S603  our own
    return size, float(run.stdout)


def _speed(config: Path, folder: Path) -> None:
    size = _text(folder)
    empty = folder / "empty"
    empty.mkdir()
    start = statistics.median(_scan(config, str(empty), folder=folder)[0] for _ in range(5))
    times = [_scan(config, str(folder), folder=folder) for _ in range(3)]
    took = statistics.median(one[0] for one in times)
    peer_size, peer_took = _peer(folder)
    what = f"sources of packages, {size / 1e6:.0f} MB, {TERMS:,} terms and all rules"
    table = Table(title=what, caption="one core")
    for heading in ("", "MB/s", "seconds", "memory"):
        table.add_column(heading, justify="left" if not heading else "right")
    table.add_row(
        "detect-secrets, without its start", f"{peer_size / peer_took / 1e6:.2f}", f"{peer_took:.1f}", ""
    )
    memory = f"{max(one[1] for one in times):.0f} MB"
    table.add_row("orrery tenants scan, start and all", f"{size / took / 1e6:.0f}", f"{took:.2f}", memory)
    table.add_row("the same without its start", f"{size / (took - start) / 1e6:.0f}", f"{took - start:.2f}", "")
    table.add_row("aim", "30", "", "")
    new_console(soft_wrap=False).print(table)


def _hook(folder: Path, lists: Mapping[int, Path]) -> None:
    made_repository(folder)
    for number in range(FILES):
        (folder / f"file{number}.py").write_text(f"value = {number}\n" * 200, encoding="utf-8")
    git(folder, "add", "-A")
    caption = f"{COMMITS} times each, start and all; the aim is 400 ms"
    table = Table(title="before a commit of ten files", caption=caption)
    for heading in ("terms", "median", "worst", "of the aim"):
        table.add_column(heading, justify="right")
    for terms, config in lists.items():
        took = [_scan(config, "--staged", folder=folder)[0] for _ in range(COMMITS)]
        middle = statistics.median(took)
        table.add_row(f"{terms:,}", f"{middle * 1000:.0f} ms", f"{max(took) * 1000:.0f} ms", f"{middle / 0.4:.2f}")
    new_console(soft_wrap=False).print(table)


def _repository(config: Path, folder: Path) -> None:
    made_repository(folder)
    chance = random.Random(2)  # noqa: S311  the same repository in each run
    words = [chance.choice(SYLLABLES) + chance.choice(SYLLABLES) for _ in range(5000)]
    written, commits = 0, 0
    while written < REPOSITORY_BYTES:
        for number in range(20):
            text = " ".join(chance.choices(words, k=180_000))
            path = folder / f"part{number}" / f"text{commits}.md"
            path.parent.mkdir(exist_ok=True)
            written += path.write_text(text, encoding="utf-8")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", f"Part {commits}")
        commits += 1
    git(folder, "rm", "-rq", "part0")
    git(folder, "commit", "-qm", "Without a part")
    git(folder, "gc", "-q")
    took, memory, summary = _scan(config, "--history", folder=folder)
    table = Table(title=f"a repository with {written / 1e6:.0f} MB in its history, {summary['items']} items")
    for heading in ("seconds", "MB/s", "memory", "limit"):
        table.add_column(heading, justify="right")
    table.add_row(f"{took:.1f}", f"{written / took / 1e6:.0f}", f"{memory:.0f} MB", "300 MB")
    new_console(soft_wrap=False).print(table)


def _corpus() -> None:
    found = measured()
    table = Table(title="the corpus of the tests")
    for heading in ("planted", "found", "recall", "near misses", "false", "precision"):
        table.add_column(heading, justify="right")
    recall, precision = found.found / found.planted, found.found / (found.found + found.false)
    counts = (found.planted, found.found, f"{recall:.3f}", found.near_misses, found.false, f"{precision:.3f}")
    table.add_row(*map(str, counts))
    new_console(soft_wrap=False).print(table)


def main() -> None:
    """Print the tables."""
    with TemporaryDirectory(prefix="orrery-bench-") as directory:  # a watch-list is never in a repository
        folder = Path(directory)
        terms = _terms()
        lists = {many: config_with_terms(folder / f"settings{many}", terms[:many]) for many in (100, 1000, TERMS)}
        _speed(lists[TERMS], _made(folder / "text"))
        _hook(_made(folder / "commit"), lists)
        _repository(lists[TERMS], _made(folder / "history"))
    _corpus()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main()
