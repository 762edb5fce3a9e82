"""The file of issues under `kill -9`."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from orrery.adapters.issue_file import FileTracker
from tests.support.clock import ManualClock
from tests.support.soak import rounds

WORKER = Path(__file__).parents[1] / "support" / "issue_worker.py"


def killed_after(path: Path, issues: int) -> list[str]:
    """Let a process open so many issues, kill it amid the next, and return the numbers that it told."""
    command = [sys.executable, str(WORKER), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603  our own program
        assert process.stdout is not None
        told = [process.stdout.readline().strip() for _ in range(issues)]
        process.kill()
        return told + process.stdout.read().split()


@pytest.mark.parametrize("number", range(rounds(3)))
def test_what_was_told_is_there(number: int, tmp_path: Path) -> None:
    """After a kill the file is whole, holds every issue that was told, and takes the next one."""
    path = tmp_path / "issues.json"
    told = [*killed_after(path, 5 + number), *killed_after(path, 3)]
    stored = {one["id"]: one for one in json.loads(path.read_text())["issues"]}
    assert [stored[each]["comments"][0]["text"] for each in told] == ["Still degraded."] * len(told)
    issue = asyncio.run(FileTracker(path, ManualClock()).open("other", "t", "b"))
    assert issue.id not in stored
