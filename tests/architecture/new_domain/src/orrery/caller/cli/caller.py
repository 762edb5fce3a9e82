"""`orrery caller`: a command without settings."""

from typing import Annotated

import typer


def call(name: Annotated[str, typer.Argument(help="Who calls.")]) -> None:
    """Call from a guest machine."""
    typer.echo(f"{name} calls.")
