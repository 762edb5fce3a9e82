"""A bar at a terminal for what takes a while. Into a file or a pipe it prints nothing."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.progress import Progress

from orrery.runtime.console.terminal import new_console


@contextmanager
def progress_bar(what: str, total: int) -> Generator[Callable[[], None]]:
    """Show a bar while this is open; what it yields is called for each of `total` steps."""
    console = new_console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)
