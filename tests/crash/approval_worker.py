"""A program that the crash tests start, and kill: `approval_worker.py STORE LIGHTS KEY`.

It proposes to turn lights on, signs as the owner does, and says what it knows. A light is a file in a folder.
"""

import asyncio
import os
import sys
from pathlib import Path

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore
from orrery.adapters.ssh_keygen import SshKeygen
from orrery.approvals.approvals import Approvals, IntentDraft, Operation
from orrery.approvals.intents import NAMESPACE
from orrery.ports.clock import Clock
from orrery.runtime.operations import Intent
from tests.support.ssh_keys import public_half

DEPLOYMENT = "the crash tests'"


class Lights:
    """Files that an approved intent makes: what happened is seen from outside, whichever process was killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def turn_on(self, _: Intent, target: str) -> str:
        """Make the file; fail if it is there."""
        os.close(os.open(self._folder / target, os.O_CREAT | os.O_EXCL))
        return f"{target} is on."

    async def is_on(self, _: Intent, target: str) -> bool:
        """Tell whether the file is there."""
        return (self._folder / target).exists()


def approvals_over(store: SqliteStore, lights: Path, key: Path, clock: Clock) -> Approvals:
    """Return what one process has."""
    signatures = SshKeygen([public_half(key)], NAMESPACE)
    approvals = Approvals(store, clock, signatures, deployment=DEPLOYMENT)
    switches = Lights(lights)
    approvals.allow(Operation("turn-on", switches.turn_on, switches.is_on))
    return approvals


async def turn_on(store_path: Path, lights: Path, key: Path) -> None:
    """Propose and approve one light after the other, until killed; print each that is known to be on."""
    store = await SqliteStore.open(store_path, SystemClock())
    approvals = approvals_over(store, lights, key, SystemClock())
    print("ready", flush=True)  # noqa: T201  this is how it speaks to the test
    while True:
        target = f"light-{os.urandom(6).hex()}"
        intent = await approvals.propose(
            IntentDraft("turn-on", target, {"on": True}, "Turn it on.", "It is dark.")
        )
        statement = approvals.statement(intent).to_bytes()
        signature = SshKeygen([], NAMESPACE).sign(statement, key)
        progress = await approvals.sign(intent.id, statement, signature)
        print(target, progress.state, flush=True)  # noqa: T201  the same


if __name__ == "__main__":
    asyncio.run(turn_on(*map(Path, sys.argv[1:])))
