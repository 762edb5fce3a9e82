"""How a command ends that found something broken, or did not do what it was asked for."""

import typer

from orrery.errors import OrreryError

BROKEN = OrreryError.exit_code
"""The exit code of what was found or was not done, as of what went wrong (decision 54)."""


def end_broken(*, when: object) -> None:
    """End the command with `BROKEN`, `when` there is a reason to."""
    if when:
        raise typer.Exit(BROKEN)
