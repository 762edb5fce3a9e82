"""`orrery store`: the one command that makes a store (decision 50)."""

import typer

from orrery.adapters.sqlite import create
from orrery.app.cli.services import Config, configured
from orrery.runtime.console.tables import note
from orrery.runtime.settings import StoreSettings

group = typer.Typer(no_args_is_help=True)


@group.callback()
def store() -> None:
    """Make the store."""


@group.command("create")
def create_store(config: Config = None) -> None:
    """Make an empty store where the settings say; refuse when a file is there already."""
    path = configured(config, quiet=True)[0][StoreSettings].path
    create(path)
    note(f"Made an empty store at {path}.")
