"""A program that the crash tests start, and kill: `issue_worker.py FILE` opens issues and prints their numbers."""

import asyncio
import os
import sys
from pathlib import Path

from orrery.adapters.clock import SystemClock
from orrery.adapters.issue_file import FileTracker


async def work(path: Path) -> None:
    """Open an issue and comment on it, for ever; print the number of each that is done."""
    tracker = FileTracker(path, SystemClock())
    while True:
        issue = await tracker.open("realtime-degraded", "The live counter is degraded", "x" * 50_000)
        await tracker.comment(issue, "Still degraded.")
        os.write(1, f"{issue.id}\n".encode())


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1])))
