"""Run a command, and leave no process of it behind.

usage: python -m tools.supervised COMMAND [ARGUMENT ...]

A test run starts services, browsers and servers in their own sessions, which outlive it when a signal ends it.
SIGTERM and SIGHUP reach the command as SIGINT, so that pytest takes its fixtures down. Whatever still runs two
seconds after the command's end is killed, and named. Ctrl-C at a terminal reaches the command by itself: both are
of one group.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

PR_SET_CHILD_SUBREAPER = 36
GRACE = 30
"""Seconds that the command has to end after a signal."""
LAST_STEPS = 2
"""Seconds that its processes have to end by themselves: a browser's take a moment."""


def main(command: list[str]) -> int:
    """Run the command to its end, and return its exit code as a shell would."""
    _ = ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphans become children of this process
    child: subprocess.Popen[bytes] | None = None
    is_interrupted = False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal is_interrupted
        is_interrupted = True  # the command may not have started yet
        if child:
            child.send_signal(signal.SIGINT)
            signal.alarm(GRACE)

    def kill(_number: int, _frame: FrameType | None) -> None:
        if child:
            child.kill()

    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGHUP, interrupt)
    signal.signal(signal.SIGALRM, kill)
    child = subprocess.Popen(command)  # noqa: S603  our own command
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if is_interrupted:
        interrupt(signal.SIGTERM, None)
    code = child.wait()
    left = sorted(end_what_is_left())
    if left:
        sys.stderr.write(f"Still running after the end, and killed: {', '.join(left)}\n")
    return code if code >= 0 else 128 - code


def end_what_is_left() -> Iterator[str]:
    """Kill this process's children until none is left, and yield their names; theirs become ours by that."""
    patient_until = time.monotonic() + LAST_STEPS
    while children := Path("/proc/thread-self/children").read_text(encoding="ascii").split():
        if time.monotonic() < patient_until:
            time.sleep(0.02)  # noqa: TID251  waitpid knows no deadline
            _ = os.waitpid(-1, os.WNOHANG)
            continue
        for child in map(int, children):
            yield Path(f"/proc/{child}/comm").read_text(encoding="utf-8").strip()
            os.kill(child, signal.SIGKILL)
            _ = os.waitpid(child, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
