"""A program that the crash tests start: it forks a process for each step of making a draft, killed at that step.

`draft_worker.py killed FOLDER BEFORE` makes the folders FOLDER/1, FOLDER/2 and so on, each a copy of BEFORE, and
prints the name of each step; the last process came to its end, and its folder has no line.
`draft_worker.py drafting FOLDER` makes drafts until it is killed, and prints the key of each, and whether it was
new or found.
"""

import asyncio
import os
import shutil
import signal
import sys
import threading
from itertools import count
from pathlib import Path
from types import FrameType

import stamina

from orrery.adapters.sample_mailbox.mailbox import SampleMailbox
from orrery.ports.comms.mailboxes import Reply
from tests.support.clock import ManualClock

KEY = "a-key"
COMMENT = "Is noon well? " * 5000
_SEEN = {"posix", "fcntl", "_io"}


def mailbox_in(folder: Path) -> SampleMailbox:
    """Return the made-up mailbox whose drafts are there."""
    return SampleMailbox("ann@corp.example", "A", folder, ManualClock())


async def draft(folder: Path, key: str = KEY) -> bool:
    """Make the draft that the tests make; return whether it is new."""
    mailbox = mailbox_in(folder)
    async for batch in mailbox.messages():
        message = next(one for one in batch.messages if one.source == "mail" and one.address)
        return (await mailbox.draft(Reply(key, message, COMMENT))).is_new
    raise AssertionError("The mailbox is empty.")


class Killer:
    """Counts the calls that reach the system, before and after each, and kills the process at one of them."""

    def __init__(self, at: int) -> None:
        self._at = at
        self._steps = 0

    def __call__(self, frame: FrameType, event: str, called: object) -> None:
        """Be told of a call, as `sys.setprofile` does."""
        if event in {"c_call", "c_return"} and _is_of_drafts(frame) and _module_of(called) in _SEEN:
            self._steps += 1
            if self._steps == self._at:
                threading.setprofile(None)
                sys.setprofile(None)
                os.write(1, f"{event} {getattr(called, '__name__', '')}\n".encode())
                os.kill(os.getpid(), signal.SIGKILL)


def _is_of_drafts(frame: FrameType | None) -> bool:
    while frame:
        if frame.f_code.co_filename.endswith("sample_mailbox/drafts.py"):
            return True
        frame = frame.f_back
    return False


def _module_of(called: object) -> str:
    return getattr(called, "__module__", None) or type(getattr(called, "__self__", None)).__module__


def kill_at_each_step(folder: Path, before: Path) -> None:
    """Fork until a process comes to its end."""
    for step in count(1):
        if before.exists():
            shutil.copytree(before, folder / str(step))
        child = os.fork()
        if not child:
            threading.setprofile(Killer(step))
            asyncio.run(draft(folder / str(step)))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if (code := os.waitstatus_to_exitcode(status)) != -signal.SIGKILL:
            sys.exit(code)


async def draft_for_ever(folder: Path) -> None:
    """Make one draft after the other; print what became of each."""
    for number in count(1):
        outcome = "new" if await draft(folder, f"k{number}") else "found"
        os.write(1, f"k{number} {outcome}\n".encode())


if __name__ == "__main__":
    stamina.instrumentation.set_on_retry_hooks(())  # a wait for the other process is no line of ours
    match [sys.argv[1], *map(Path, sys.argv[2:])]:
        case ["killed", Path() as folder, Path() as before]:
            kill_at_each_step(folder, before)
        case [_, Path() as folder]:
            asyncio.run(draft_for_ever(folder))
        case _:
            sys.exit(2)
