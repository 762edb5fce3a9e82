"""The tool that is run in place of this process, as a port."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn, Protocol


class ToolProcess(Protocol):
    """Replaces this process by the tool: input, output, signals and exit code are the tool's own."""

    def become(self, program: Path, arguments: Sequence[str], without: Iterable[str]) -> NoReturn:
        """Run the program with these arguments and the environment `without` some variables; raise `Invalid`."""
        ...
