"""The bar of `ScanProgress`, by rich."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.progress import (
    BarColumn,
    DownloadColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as Bars

from orrery.runtime.console.terminal import new_console
from orrery.scanner.cli.arguments import put


@dataclass(slots=True)
class Bar:
    """See `ScanProgress`."""

    bars: Bars
    task: TaskID
    items: int = 0

    def advance(self, size: int) -> None:
        self.items += 1
        self.bars.update(self.task, advance=size, items=f"{self.items:,} items")

    def print(self, line: str) -> None:
        if sys.stdout.isatty():
            self.bars.console.print(line, markup=False)
        else:
            put(line)


@contextmanager
def bar(total: int | None) -> Generator[Bar]:
    """Show a bar while this is open."""
    columns = (TextColumn("{task.fields[items]}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    left = (TextColumn("·"), TimeRemainingColumn()) if total else ()
    with Bars(*columns, *left, console=new_console(stderr=True), transient=True) as bars:
        yield Bar(bars, bars.add_task("", total=total, items="0 items"))
