"""Run a command, and leave no process of it behind.

usage: python -m tools.supervised COMMAND [ARGUMENT ...]

A test run starts services, browsers and servers in their own sessions, which outlive it when a signal ends it.
SIGTERM, SIGHUP and SIGINT reach the command as SIGINT, so that pytest takes its fixtures down. Ctrl-C
at a terminal reaches it by itself, as both are of one group. Whatever still runs two seconds after the command's
end is killed, and named. A guard in a separate group does this, so that a SIGKILL of this process, or of its
group, leaves nothing behind either. If the guard is killed, this process ends what the guard leaves.

Temporary files are kept in memory where there is room: each store waits for the disk at each of its commits.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
GRACE = 30
"""Seconds that the command has to end after a signal."""
LAST_STEPS = 2
"""Seconds that its processes have to end by themselves: a browser's take a moment."""

MEMORY = Path("/dev/shm")  # noqa: S108  a folder with a name of its own is made there
ROOM = 4 << 30
"""Bytes free in memory that a run asks for: it uses up to a quarter of them."""

AWAITED = {signal.SIGCHLD, signal.SIGALRM, signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def main(command: list[str]) -> int:
    """Run the command to its end, and return its exit code as a shell would."""
    with contextlib.ExitStack() as stack:
        if "TMPDIR" not in os.environ and has_room():  # noqa: TID251  passed on
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="orrery-", dir=MEMORY, ignore_cleanup_errors=True)
            )
            Path(folder).chmod(0o711)  # servers of another user have folders in it
            os.environ["TMPDIR"] = folder  # noqa: TID251  passed on
        return guarded(command)


def has_room() -> bool:
    """Return whether temporary files fit into memory."""
    return MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM


def guarded(command: list[str]) -> int:
    """Run the command to its end below a guard, in both of whose processes this returns the exit code."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
    this, group = os.getpid(), os.getpgrp()
    guard = os.fork()
    ask_kernel(PR_SET_CHILD_SUBREAPER, 1)  # orphans become children of this process
    if guard:
        return finished(guard, grace=0)
    os.setpgid(0, 0)
    ask_kernel(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != this:  # the other process was killed before it could be asked for that
        return 1
    child = os.posix_spawnp(command[0], command, os.environ, setsigmask=before, setpgroup=group)  # noqa: TID251  passed on
    return finished(child, GRACE)


def ask_kernel(option: int, value: int) -> None:
    """Set what the kernel is to do for this process."""
    _ = ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def finished(child: int, grace: int) -> int:
    """Wait for a child's end, kill what it leaves, and return its exit code as a shell would."""
    code = end_of(child, grace)
    left = sorted(end_what_is_left())
    if left:
        sys.stderr.write(f"Still running after the end, and killed: {', '.join(left)}\n")
    return code if code >= 0 else 128 - code


def end_of(child: int, grace: int) -> int:
    """Wait for a child's end, passing signals on, and return its exit code; 0 as grace is without end."""
    while True:
        came = signal.sigwaitinfo(AWAITED)
        if came.si_signo == signal.SIGALRM:
            os.kill(child, signal.SIGKILL)
        elif came.si_signo != signal.SIGCHLD and came.si_code <= 0:  # a process sent it, and not a terminal
            os.kill(child, signal.SIGINT)
            signal.alarm(grace)
        ended = dict(ended_children())
        if child in ended:
            return os.waitstatus_to_exitcode(ended[child])


def ended_children() -> Iterator[tuple[int, int]]:
    """Yield the ids and statuses of the children that have ended.

    A run leaves some hundred behind; each is in the list of children until somebody waits for it.
    """
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            yield ended


def end_what_is_left() -> Iterator[str]:
    """Kill this process's children until none is left, and yield their names; theirs become ours by that."""
    patient_until = time.monotonic() + LAST_STEPS
    while children := Path("/proc/thread-self/children").read_text(encoding="ascii").split():
        if time.monotonic() < patient_until:
            time.sleep(0.02)  # noqa: TID251  waitpid knows no deadline
            _ = dict(ended_children())
            continue
        for child in map(int, children):
            yield Path(f"/proc/{child}/comm").read_text(encoding="utf-8").strip()
            os.kill(child, signal.SIGKILL)
            _ = os.waitpid(child, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
