"""Every limit in the source is decided: one node's, or that of all. An undecided one lets N nodes pass N times."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "orrery"
RECORD = ROOT / "docs" / "decisions" / "0094-several-nodes.md"

LIMITS = {"RateLimit", "SharedLimit", "GuessLimiter", "ConnectionLimiter", "Semaphore", "StoredBudget"}
"""What lets only so many through."""

ELSEWHERE = ("sandbox/", "adapters/stripe/threads.py")
"""A stand-in, and a pool of threads that wait for work."""


def made_in(file: Path) -> set[str]:
    """Return the kinds of limits that a file makes."""
    calls = (one for one in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(one, ast.Call))
    return LIMITS & {ast.unparse(one.func).rpartition(".")[2] for one in calls}


def test_every_limit_is_decided() -> None:
    """The table of the record names each file that makes one, with its kind, and no other."""
    files = {str(file.relative_to(SOURCE)): file for file in SOURCE.rglob("*.py")}
    made = {
        (name, kind) for name, file in files.items() if not name.startswith(ELSEWHERE) for kind in made_in(file)
    }
    rows = re.findall(r"^\| `([\w/]+\.py)` \| `(\w+)`:", RECORD.read_text(encoding="utf-8"), re.MULTILINE)
    assert {*rows} == made
