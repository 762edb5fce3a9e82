"""What the commands of the watch-list need."""

import os
from pathlib import Path

from orrery.adapters.private_files import write_new
from orrery.app.scan.files import scan_files
from orrery.app.scan.found import today
from orrery.app.scan.own_place import repository_of
from orrery.errors import Invalid
from orrery.scanner.deployment import Watching
from orrery.scanner.watch_list import new_key


def _new_key(config: Path | None, printed: bool) -> str:  # noqa: FBT001  as `Watching` has it
    files = scan_files(config)
    if files.new_key_file and not printed:
        _make_folder(files.new_key_file.parent)
    watch_list = files.watch_list()
    if watch_list.key is not None:
        raise Invalid("There is a key already, and a new one could not open the list: nothing was changed.")
    if os.path.lexists(watch_list.path):
        raise Invalid(
            f"There is a watch-list already, {watch_list.path}, which a new key could not open: restore its "
            "key, or move the list away."
        )
    key = new_key()
    return key if printed else str(_kept(files.new_key_file, key))


def _refuse_public(file: Path) -> None:
    if repository := repository_of(file):
        raise Invalid(f"The file is in the repository {repository}: move it out, before it is committed.")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Invalid(f"{folder} cannot be made: {error.strerror}.") from None


def _kept(place: Path | None, key: str) -> Path:
    """Write the secret file, never over another one."""
    if place is None:
        raise Invalid(
            "There is no folder for the key: set `directory` in [secrets] of the settings, which "
            "`orrery init --role scan` writes, or have the key printed with --print."
        )
    try:
        write_new(place, f"{key}\n")
    except FileExistsError:
        raise Invalid(f"There is a file {place} already: nothing was changed.") from None
    except OSError as error:
        raise Invalid(f"{place} cannot be written: {error.strerror}.") from None
    return place


WATCHING = Watching(
    lambda config: scan_files(config).watch_list(), _new_key, _refuse_public, lambda: today().isoformat()
)
