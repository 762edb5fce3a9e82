"""How fast the scanner searches, beside detect-secrets; how long a commit waits; a large repository.

The sources are those of installed packages, the terms are made up, and all shipped rules are on. A scan has two
threads, and detect-secrets one. What a scan prints and keeps holds no term, so that patterns are made of them at
each start.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import pydantic

from bench.measurement import Figure, Measurement, Round
from tests.support.scanned import SYLLABLES, config_with_terms, made_repository

TERMS = 10_000
FILES = 10

SHORTEST = 1000
"""Bytes of a file that is taken: the empty ones of packages are no text."""

PEER_BYTES = 300_000
"""What detect-secrets searches: it would take minutes for more."""


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


def _text(folder: Path, size: int) -> int:
    """Copy sources of installed packages into a folder until they have that size; return their bytes."""
    written = 0
    packages = Path(pydantic.__file__).parents[1]
    for source in sorted(packages.rglob("*.py")):
        if source.stat().st_size > SHORTEST:
            target = folder / source.relative_to(packages)
            target.parent.mkdir(parents=True, exist_ok=True)
            written += target.write_bytes(source.read_bytes())
        if written > size:
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


def speed(config: Path, folder: Path, size: int) -> Round:
    """Scan sources, with and without the start of the command."""
    (folder / "empty").mkdir(parents=True)
    start, _, _ = _scan(config, str(folder / "empty"), folder=folder)
    size = _text(folder, size)
    took, memory, _ = _scan(config, str(folder), folder=folder)
    alone = max(took - start, took / 100)  # a start may vary by more than a small text takes
    found = list[Figure]()
    if find_spec("detect_secrets"):
        searched, seconds = _peer(folder)
        found = [Figure(_PEER, searched / seconds / 1e6, "MB/s")]
    return [
        *found,
        Figure("sources, with the start of the command", size / took / 1e6, "MB/s", _PEER if found else ""),
        Figure("sources, without it", size / alone / 1e6, "MB/s", aim=40),
        Figure("memory of a scan of sources, at most", memory, "MB", limit=300),
    ]


def commit(lists: Mapping[int, Path], folder: Path, times: int) -> Round:
    """Scan ten staged files, as the hook does before a commit; the start counts."""
    repo = made_repository(folder)
    for number in range(FILES):
        (folder / f"file{number}.py").write_text(f"value = {number}\n" * 200, encoding="utf-8")
    repo.git("add", "-A")
    found = list[Figure]()
    for terms, config in lists.items():
        took = statistics.median(_scan(config, "--staged", folder=folder)[0] for _ in range(times))
        found.append(Figure(f"before a commit of ten files, {terms:,} terms", took * 1000, "ms", aim=400))
    return found


def repository(config: Path, folder: Path, size: int) -> Round:
    """Scan the history of a repository of about that size."""
    repo = made_repository(folder)
    chance = random.Random(2)  # noqa: S311  the same repository in each run
    words = [chance.choice(SYLLABLES) + chance.choice(SYLLABLES) for _ in range(5000)]
    written, commits = 0, 0
    while written < size:
        for number in range(20):
            text = " ".join(chance.choices(words, k=min(180_000, size // 100)))
            path = folder / f"part{number}" / f"text{commits}.md"
            path.parent.mkdir(exist_ok=True)
            written += path.write_text(text, encoding="utf-8")
        repo.git("add", "-A")
        repo.git("commit", "-qm", f"Part {commits}")
        commits += 1
    repo.git("rm", "-rq", "part0")
    repo.git("commit", "-qm", "Without a part")
    repo.git("gc", "-q")
    took, memory, _ = _scan(config, "--history", folder=folder)
    return [
        Figure(f"a history of {size / 1e6:g} MB", written / took / 1e6, "MB/s"),
        Figure("memory of a scan of the history, at most", memory, "MB", limit=300),
    ]


def measure(
    text: int = 60_000_000, history: int = 500_000_000, times: int = 7, terms: Sequence[int] = (100, 1000, TERMS)
) -> Round:
    """Measure all three; `text` and `history` are bytes."""
    with TemporaryDirectory(prefix="orrery-bench-") as directory:  # a watch-list is never in a repository
        folder, known = Path(directory), _terms()
        lists = {many: config_with_terms(folder / f"settings{many}", known[:many]) for many in terms}
        longest = lists[max(terms)]
        (folder / "commit").mkdir()
        (folder / "history").mkdir()
        return [
            *speed(longest, folder / "text", text),
            *commit(lists, folder / "commit", times),
            *repository(longest, folder / "history", history),
        ]


_PEER = "detect-secrets, without its start"
MEASUREMENT = Measurement(
    measure, short={"text": 100_000, "history": 100_000, "times": 1, "terms": (100,)}, rounds=3
)
