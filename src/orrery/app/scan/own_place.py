"""A place for what must never be public: in no repository and no destination, and written by its owner alone."""

from os.path import lexists
from pathlib import Path

from orrery.app.settings.ownership import refuse_foreign_folder
from orrery.app.settings.variables import SettingsError
from orrery.tenants.gate import is_within
from orrery.tenants.settings import TenantsSettings

_GIT = ".git"


def require_own_place(path: Path, what: str, key: str, tracks: TenantsSettings) -> None:
    """Raise `SettingsError` for a place where a file must not be; `key` of `[scan]` names the place."""
    remedy = f"Set `{key}` in [scan] to another place, and move it there."
    if repository := repository_of(path):
        raise SettingsError(f"The {what} {path} is in the repository {repository}, which may be pushed. {remedy}")
    for _, one in tracks.destinations():
        if one.folder and is_within(path, one.folder):
            raise SettingsError(f"The {what} {path} is in the destination {one.name}, which others read. {remedy}")
    if path.parent.exists():
        refuse_foreign_folder(path.parent, f"The folder of the {what}")


def repository_of(path: Path) -> Path | None:
    """Return the repository of git that a path is in, as it is written or wherever links lead."""
    folders = {*path.absolute().parents, *path.resolve().parents}
    return next((one for one in sorted(folders) if _is_repository(one)), None)


def _is_repository(folder: Path) -> bool:
    """Return whether a folder has a repository, or is one without a work tree."""
    return lexists(folder / _GIT) or all((folder / name).exists() for name in ("HEAD", "objects", "refs"))
