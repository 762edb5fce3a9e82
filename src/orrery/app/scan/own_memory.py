"""What a process of the role scan holds in memory stays there: no core file and no crash trace has any of it."""

import ctypes
import os
import resource
import sys
import threading
from traceback import walk_tb
from types import TracebackType

_PR_SET_DUMPABLE = 4
"""https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html."""

_FRAMES = 5
"""The innermost places in the code that a crash names."""


def keep_memory_private() -> None:
    """Have this process leave no core file, and report of a crash only its kind and its places in the code.

    The limit, which the processes that it starts have too, counts for files alone: a program that the kernel hands
    cores to (systemd-coredump, apport) is kept from them by the flag. With the flag, no other process of the user
    reads the memory or the environment of this one either.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _ = ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # noqa: TID251  nothing is read: no other package's code comes in
    sys.excepthook = _report
    threading.excepthook = lambda crash: _report(crash.exc_type, crash.exc_value, crash.exc_traceback)
    sys.unraisablehook = lambda crash: _report(crash.exc_type, crash.exc_value, crash.exc_traceback)


def _report(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    del error  # its words may quote a term, and so may those of the errors behind it
    places = [f"{frame.f_code.co_filename}:{line}" for frame, line in walk_tb(trace)]
    where = f" at {', '.join(places[-_FRAMES:])}" if places else ""
    _ = sys.stderr.write(f"It ended unexpectedly: {kind.__name__}{where}\n")
