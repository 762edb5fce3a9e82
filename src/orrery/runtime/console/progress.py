"""A bar at a terminal for what takes a while. Into a file or a pipe it prints nothing."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from orrery.runtime.console.terminal import new_console


@contextmanager
def progress_bar(what: str, total: int | None = None) -> Generator[Callable[[], None]]:
    """Show a bar while this is open; what it yields is called for each step, of which `total` may be unknown."""
    console = new_console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)
