"""For the programs that crash tests start: something is done in many processes, each killed at another step."""

import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import FrameType

_SEEN = {"posix", "fcntl", "_io"}


class Killer:
    """Counts the calls of a file that reach the system, before and after each, and kills the process at one."""

    def __init__(self, at: int, file: str) -> None:
        self._at, self._file = at, file
        self._steps = 0

    def __call__(self, frame: FrameType, event: str, called: object) -> None:
        """Be told of a call, as `sys.setprofile` does."""
        if event in {"c_call", "c_return"} and self._is_seen(frame) and _module_of(called) in _SEEN:
            self._steps += 1
            if self._steps == self._at:
                threading.setprofile(None)
                sys.setprofile(None)
                os.write(1, f"{event} {getattr(called, '__name__', '')}\n".encode())
                os.kill(os.getpid(), signal.SIGKILL)

    def _is_seen(self, frame: FrameType | None) -> bool:
        while frame:
            if frame.f_code.co_filename.endswith(self._file):
                return True
            frame = frame.f_back
        return False


def _module_of(called: object) -> str:
    return getattr(called, "__module__", None) or type(getattr(called, "__self__", None)).__module__


def kill_at_each_step(act: Callable[[Path], object], file: str, folder: Path, before: Path) -> None:
    """Fork until a process comes to its end.

    Each acts in FOLDER/1, FOLDER/2 and so on, a copy of `before`, and prints the name of the step at which it was
    killed.
    """
    for step in count(1):
        if before.exists():
            shutil.copytree(before, folder / str(step), symlinks=True)
        child = os.fork()
        if not child:
            killer = Killer(step, file)
            threading.setprofile(killer)
            sys.setprofile(killer)
            act(folder / str(step))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if (code := os.waitstatus_to_exitcode(status)) != -signal.SIGKILL:
            sys.exit(code)
