"""A bar at a terminal for what takes a while. Into a file or a pipe it prints nothing."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from orrery.runtime.console.terminal import new_console


class Advance(Protocol):
    """To be called after each step, with how many there are when that has become known."""

    def __call__(self, total: int | None = None) -> None: ...


@contextmanager
def progress_bar(what: str, total: int | None = None) -> Generator[Advance]:
    """Show a bar while this is open, of `total` steps, or of a number that is not yet known."""
    console = new_console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        yield lambda total=None: progress.update(task, advance=1, total=total)
