"""`orrery store`: the one command that makes a store (decision 50)."""

from pathlib import Path

import typer

from orrery.app.cli.services import Config, configured
from orrery.app.store_place import store_place
from orrery.runtime.console.tables import note
from orrery.runtime.module import Role, load

group = typer.Typer(no_args_is_help=True)
cockpit_group = typer.Typer(no_args_is_help=True)


@group.callback()
def store() -> None:
    """Make the store."""


@cockpit_group.callback()
def cockpit_store() -> None:
    """Make the cockpit's own store."""


@group.command("create")
def create_store(config: Config = None) -> None:
    """Make an empty store at the path in the settings; refuse when a file is there already."""
    _create(config, "site")


@cockpit_group.command("create")
def create_cockpit_store(config: Config = None) -> None:
    """Make the cockpit's empty store at the path in the settings; refuse when a file is there already."""
    _create(config, "cockpit")


def _create(config: Path | None, role: Role) -> None:
    settings, secrets = configured(config, quiet=True, role=role)
    if role == "cockpit":
        load("orrery.app.kept_apart:require_apart")(settings)
    place = store_place(settings, secrets)
    place.create()
    note(f"Made an empty store at {place}.")
