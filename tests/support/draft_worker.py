"""A program that the crash tests start: it forks a process for each step of making a draft, killed at that step.

`draft_worker.py killed FOLDER BEFORE` makes the folders FOLDER/1, FOLDER/2 and so on, each a copy of BEFORE, and
prints the name of each step; the last process came to its end, and its folder has no line.
`draft_worker.py drafting FOLDER` makes drafts until it is killed, and prints the key of each, and whether it was
new or found.
"""

import asyncio
import os
import sys
from itertools import count
from pathlib import Path

import stamina

from orrery.adapters.sample_mailbox.mailbox import SampleMailbox
from tests.support.clock import ManualClock
from tests.support.killed_steps import kill_at_each_step
from tests.support.mailboxes import reply_to

KEY = "a-key"
COMMENT = ("Is noon well? " * 5000).strip()


def mailbox_in(folder: Path) -> SampleMailbox:
    """Return the made-up mailbox whose drafts are there."""
    return SampleMailbox("ann@corp.example", "A", folder, ManualClock())


async def draft(folder: Path, key: str = KEY) -> bool:
    """Make the draft that the tests make; return whether it is new."""
    mailbox = mailbox_in(folder)
    async for batch in mailbox.messages():
        message = next(one for one in batch.messages if one.source == "mail" and one.address)
        return (await mailbox.draft(reply_to(key, message, COMMENT))).is_new
    raise AssertionError("The mailbox is empty.")


async def draft_for_ever(folder: Path) -> None:
    """Make one draft after the other; print what became of each."""
    for number in count(1):
        outcome = "new" if await draft(folder, f"k{number}") else "found"
        os.write(1, f"k{number} {outcome}\n".encode())


if __name__ == "__main__":
    stamina.instrumentation.set_on_retry_hooks(())  # a wait for the other process is no line of ours
    match [sys.argv[1], *map(Path, sys.argv[2:])]:
        case ["killed", Path() as folder, Path() as before]:
            kill_at_each_step(lambda one: asyncio.run(draft(one)), "sample_mailbox/drafts.py", folder, before)
        case [_, Path() as folder]:
            asyncio.run(draft_for_ever(folder))
        case _:
            sys.exit(2)
