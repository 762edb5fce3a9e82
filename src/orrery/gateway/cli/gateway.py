"""`orrery gateway`: the group of the gateway's commands."""

import typer

group = typer.Typer(no_args_is_help=True)


@group.callback()
def gateway() -> None:
    """Keep the gateway running: its service by a guest, its machine from the cloud."""
