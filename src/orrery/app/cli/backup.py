"""`orrery backup`: a checked snapshot while the service runs."""

from pathlib import Path
from typing import Annotated

import typer

from orrery.adapters.snapshot_folder import SnapshotFolder
from orrery.app.cli.services import Config
from orrery.app.settings.reader import Secrets, Settings, load_settings, load_usable
from orrery.app.store_place import back_up, clock_of, store_place
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

    It reads no secret but the password of the database, where the store is in one.
    """
    settings, secrets = load_settings(config), Secrets()
    if settings.store.store_address:
        _, secrets = load_usable(config)
    configure(settings[LogSettings].format, "warning", Redaction(secrets.values()))
    place = settings[BackupSettings]
    folder = SnapshotFolder(place.directory, place.keep) if place.directory and not file else None
    target = file or (folder.file_at(clock_of(settings).now()) if folder else None)
    if target is None:
        raise Invalid("The snapshot has no place: give a FILE, or set [backup] directory.")
    write_snapshot(settings, secrets, target)
    if folder and (deleted := _thinned(folder)):
        note(f"Deleted {deleted} older; the newest {folder.keep} stay.")


def write_snapshot(settings: Settings, secrets: Secrets, target: Path) -> None:
    """Write it, and print how large it is."""
    back_up(store_place(settings, secrets), target)
    note(f"{target.name}: {target.stat().st_size / 1e6:.1f} MB, checked. It holds personal data; keep it safe.")


def _thinned(folder: SnapshotFolder) -> int:
    try:
        return folder.thin_out()
    except OSError as error:
        raise StoreUnavailable(f"Older snapshots cannot be deleted: {error.strerror}.") from None
