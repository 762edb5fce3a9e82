"""`orrery tenants`: who may sign in for which track, and what is done for an account."""

import typer

group = typer.Typer(no_args_is_help=True)


@group.callback()
def tenants() -> None:
    """Sign in for a track, and keep one tenant's data out of what is public."""
