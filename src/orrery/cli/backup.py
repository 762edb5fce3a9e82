"""`orrery backup`: a checked snapshot while the service runs."""

from pathlib import Path
from typing import Annotated

import typer

from orrery.adapters.snapshot_folder import SnapshotFolder
from orrery.adapters.sqlite import backup
from orrery.app.adapters import clock_of, snapshots_of
from orrery.cli.services import Config
from orrery.cli.tables import note
from orrery.errors import Invalid, StoreUnavailable
from orrery.logs import Redaction, configure
from orrery.settings import load_settings


def command(
    file: Annotated[
        Path | None, typer.Argument(help="Where the snapshot goes; by default dated, into [backup] directory.")
    ] = None,
    config: Config = None,
) -> None:
    """Write a consistent, checked snapshot of the store; without FILE, delete all but the newest dated ones.

    It reads no secret.
    """
    settings = load_settings(config)
    configure(settings.log.format, "warning", Redaction())
    folder = None if file else snapshots_of(settings)
    target = file or (folder.file_at(clock_of(settings).now()) if folder else None)
    if target is None:
        raise Invalid("Say where the snapshot goes: give a FILE, or set [backup] directory.")
    backup(settings.store.path, target)
    note(f"{target.name}: {target.stat().st_size / 1e6:.1f} MB, checked. It holds personal data; keep it safe.")
    if folder and (deleted := _thinned(folder)):
        note(f"Deleted {deleted} older; the newest {folder.keep} stay.")


def _thinned(folder: SnapshotFolder) -> int:
    try:
        return folder.thin_out()
    except OSError as error:
        raise StoreUnavailable(f"Older snapshots cannot be deleted: {error.strerror}.") from None
