"""`orrery backup`: a checked snapshot while the service runs."""

from pathlib import Path
from typing import Annotated

import typer

from orrery.adapters.snapshot_folder import SnapshotFolder
from orrery.adapters.sqlite import backup
from orrery.app.cli.services import Config
from orrery.app.settings.reader import Settings, load_settings
from orrery.app.store_place import clock_of, require_file
from orrery.errors import Invalid, StoreUnavailable
from orrery.logs import Redaction, configure
from orrery.runtime.console.tables import note
from orrery.runtime.settings import BackupSettings, LogSettings


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
    configure(settings[LogSettings].format, "warning", Redaction())
    place = settings[BackupSettings]
    folder = SnapshotFolder(place.directory, place.keep) if place.directory and not file else None
    target = file or (folder.file_at(clock_of(settings).now()) if folder else None)
    if target is None:
        raise Invalid("The snapshot has no place: give a FILE, or set [backup] directory.")
    write_snapshot(settings, target)
    if folder and (deleted := _thinned(folder)):
        note(f"Deleted {deleted} older; the newest {folder.keep} stay.")


def write_snapshot(settings: Settings, target: Path) -> None:
    """Write it, and print how large it is."""
    backup(require_file(settings), target)
    note(f"{target.name}: {target.stat().st_size / 1e6:.1f} MB, checked. It holds personal data; keep it safe.")


def _thinned(folder: SnapshotFolder) -> int:
    try:
        return folder.thin_out()
    except OSError as error:
        raise StoreUnavailable(f"Older snapshots cannot be deleted: {error.strerror}.") from None
