"""`orrery tenants journal`: what was done, each entry with its track."""

import typer

group = typer.Typer(no_args_is_help=True)


@group.callback()
def journal() -> None:
    """Write what was done into the journal, each entry with its track, and list it."""
