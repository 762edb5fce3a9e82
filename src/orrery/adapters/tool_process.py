"""The tool in place of this process, by the system's `execve`."""

import os
import signal
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from orrery.errors import Invalid

_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
"""What Python ignores from its start, the next program would ignore, too."""


class ReplacedProcess:
    """See `ToolProcess`."""

    def become(self, program: Path, arguments: Sequence[str], without: Iterable[str]) -> NoReturn:
        # Some tools read the names of variables without their case.
        left_out = {name.casefold() for name in without}
        given = os.environ.items()  # noqa: TID251  passed on: what the tool gets of it is its own
        environment = {name: value for name, value in given if name.casefold() not in left_out}
        for one in _IGNORED_BY_PYTHON:
            _ = signal.signal(one, signal.SIG_DFL)
        try:
            os.execve(program, [str(program), *arguments], environment)  # noqa: S606  no shell is wanted
        except OSError as error:
            raise Invalid(f"The tool {program} cannot be run: {error.strerror}.") from None
