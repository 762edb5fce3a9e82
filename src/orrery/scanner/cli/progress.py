"""Progress at a terminal: items, bytes, rate and time left. Into a file or a pipe nothing is shown."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from orrery.scanner.cli.arguments import put


class ScanProgress(Protocol):
    """What a scan reports to while it runs."""

    def advance(self, size: int) -> None:
        """Count an item that was searched."""
        ...

    def print(self, line: str) -> None:
        """Print a line of the report, above the progress."""
        ...


class _Silent:
    def advance(self, size: int) -> None:
        del size

    def print(self, line: str) -> None:
        put(line)


@contextmanager
def shown_progress(total: int | None, *, quiet: bool = False) -> Generator[ScanProgress]:
    """Show the progress while this is open, of a total of bytes if that is known; of a `quiet` scan none."""
    if quiet or not sys.stderr.isatty():
        yield _Silent()
        return
    from orrery.scanner.cli.bar import bar  # noqa: PLC0415  rich doubles the time to start

    with bar(total) as shown:
        yield shown
