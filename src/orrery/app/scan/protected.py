"""The protected repositories: those in which hooks were installed, and those of the public track."""

import os
from collections.abc import Sequence
from pathlib import Path

from orrery.adapters.git_objects import main_work_tree
from orrery.adapters.private_files import OwnFile
from orrery.app.settings.places import own_folder
from orrery.app.settings.variables import ENVIRONMENT, SettingsError
from orrery.errors import OrreryError
from orrery.scanner.deployment import Protected

NAME = "protected"


def _all(config: Path | None) -> Sequence[Path]:
    from orrery.app.scan.rounds import destinations  # noqa: PLC0415  it imports pydantic

    public = [one.folder for one in destinations(config) if one.is_repository]
    own = _listed(_file().read())
    return [*dict.fromkeys([*own, *(one.resolve() for one in public if (one / ".git").exists())])]


def _add(folder: Path) -> None:
    added = main_work_tree(folder).resolve()
    _file().change(lambda before: _packed([*_listed(before), added]))


def _forget(folder: Path) -> None:
    try:
        gone = main_work_tree(folder).resolve()
    except OrreryError:
        gone = folder.resolve()
    if gone in _listed(_file().read()):
        _file().change(lambda before: _packed([one for one in _listed(before) if one != gone]))


def _file() -> OwnFile:
    """Return the user's file of those that are no destination, with a zero byte behind each."""
    state = own_folder(ENVIRONMENT, "XDG_STATE_HOME", ".local/state")
    if state is None:
        raise SettingsError("This user has no home, where the protected repositories would be noted.")
    return OwnFile(state / NAME)


def _listed(content: bytes | None) -> list[Path]:
    return [Path(os.fsdecode(one)) for one in (content or b"").split(b"\0") if one]


def _packed(folders: Sequence[Path]) -> bytes:
    return b"".join(os.fsencode(one) + b"\0" for one in dict.fromkeys(folders))


PROTECTED = Protected(_all, _add, _forget)
