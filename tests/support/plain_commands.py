"""The plain commands as functions, for tests that type them in this process."""

from collections.abc import Callable, Sequence
from functools import partial

from orrery.app.main import command_of
from orrery.app.plain import run


def plain(words: str) -> Callable[[Sequence[str]], int]:
    """Return what `orrery tenants WORDS` runs: it takes the arguments, and returns the exit code."""
    command = command_of(["tenants", *words.split()])
    assert command is not None
    assert command.name == f"tenants {words}"
    return partial(run, command)
