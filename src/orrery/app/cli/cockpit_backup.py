"""`orrery cockpit backup`: a checked snapshot, which goes to no destination of a track."""

from pathlib import Path
from typing import Annotated

import typer

from orrery.app.cli.backup import write_snapshot
from orrery.app.cli.services import Config
from orrery.app.settings.reader import Secrets, load_settings
from orrery.logs import Redaction, configure
from orrery.runtime.settings import LogSettings
from orrery.syntax.track import TRACKS
from orrery.tenants.gate import Gate
from orrery.tenants.settings import TenantsSettings


def command(
    file: Annotated[Path, typer.Argument(help="Where the snapshot goes; it must not exist.")],
    config: Config = None,
) -> None:
    """Write a consistent, checked snapshot of the cockpit's store, while it runs or not.

    It holds data of both tracks, so it goes to no destination of either.
    """
    settings = load_settings(config, "cockpit")
    configure(settings[LogSettings].format, "warning", Redaction())
    Gate(settings[TenantsSettings]).require(TRACKS, file)
    write_snapshot(settings, Secrets(role="cockpit"), file)
