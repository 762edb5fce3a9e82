"""A program that the crash tests start: it changes a watch-list in many processes, each killed at another step.

`watch_list_worker.py add|key FOLDER BEFORE` works in FOLDER/1, FOLDER/2 and so on.
"""

import sys
from pathlib import Path

from orrery import durable
from orrery.adapters.private_files import OwnFile, write_new
from orrery.scanner.watch_list import WatchListEntry
from orrery.scanner.watch_list_file import WatchListFile
from tests.crash.killed_steps import kill_at_each_step

LOADED = durable
"""What the adapter imports when it first writes: the steps of that are none of the change."""

KEY = "A" * 43


def watch_list_in(place: Path) -> WatchListFile:
    """Return the list of a folder."""
    return WatchListFile(OwnFile(place / "watch-list"), KEY, "the secret")


def act(place: Path, what: str) -> None:
    """Add a second entry to the list, or write a key."""
    if what == "key":
        write_new(place / "watch_list_key", KEY)
    else:
        watch_list_in(place).change(lambda found: found.with_entries([WatchListEntry("project", "second", "d")]))


if __name__ == "__main__":
    what, folder, before = sys.argv[1:]
    kill_at_each_step(lambda place: act(place, what), "adapters/private_files.py", Path(folder), Path(before))
