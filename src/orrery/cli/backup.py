"""`orrery backup`: a checked snapshot while the service runs."""

from pathlib import Path
from typing import Annotated

import typer

from orrery.adapters.sqlite import backup
from orrery.cli.services import Config, configured
from orrery.cli.tables import note


def command(
    file: Annotated[Path, typer.Argument(help="Where the snapshot goes; it must not exist.")],
    config: Config = None,
) -> None:
    """Write a consistent, checked snapshot of the store."""
    settings, _ = configured(config, quiet=True)
    backup(settings.store.path, file)
    note(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB, checked. It holds personal data; keep it safe.")
