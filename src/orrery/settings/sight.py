"""What the secrets look like where they lie now: fingerprints and file modes, and no value leaves this module."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orrery.owner.fingerprints import DIRECTORY, Fingerprinting, Place, Seen
from orrery.settings.secrets import CREDENTIALS_VARIABLE, Mode, Secrets, examine_secrets, read_secrets
from orrery.settings.section import PREFIX, SettingsError

_THERE = "there"
"""Stands for the value of a folder, which has none."""


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder of secrets: its files' names, or None when it cannot be read."""

    place: Place
    path: Path
    names: frozenset[str] | None
    mode: int | None


def held_in(secrets: Secrets, fingerprint: Fingerprinting) -> dict[str, str | None]:
    """Return the fingerprint of each secret that a process holds, or None for one that it has not."""
    values = {name: secrets.normalized(name) for name in Secrets.model_fields}
    return {name: fingerprint(name, value) if value else None for name, value in values.items()}


def look(
    directory: Path | None, environment: Mapping[str, str], mode: Mode, fingerprint: Fingerprinting
) -> dict[str, Seen]:
    """Return how each secret lies there now, and the folder.

    A variable goes first, as at the start. Where a service manager hands over copies, the configured folder is
    looked at before them: it tells what the next start will get, and the copies stay as they are meanwhile.
    """
    folders = _folders(directory, environment)
    sight = {name: _seen(name, environment, folders, fingerprint) for name in Secrets.model_fields}
    readable = all(seen.state not in ("unreadable", "unknown") for seen in sight.values())
    refused = readable and _is_refused(directory, environment, mode)
    return sight | {DIRECTORY: _folder_seen(folders, refused=refused)}


def _folders(directory: Path | None, environment: Mapping[str, str]) -> list[_Folder]:
    credentials = environment.get(CREDENTIALS_VARIABLE)
    folders = [_folder("directory", directory)] if directory else []
    if credentials:
        readable = any(folder.names is not None for folder in folders)
        folders.append(_folder("copy" if readable else "credentials", Path(credentials)))
    return folders


def _folder(place: Place, path: Path) -> _Folder:
    try:
        names = frozenset(file.name for file in path.iterdir())
        return _Folder(place, path, names, _mode(path))
    except OSError:
        return _Folder(place, path, None, None)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def _seen(name: str, environment: Mapping[str, str], folders: list[_Folder], fingerprint: Fingerprinting) -> Seen:
    if (text := environment.get(PREFIX + name.upper())) is not None:
        return _seen_text(name, text, "environment", None, fingerprint)
    for folder in folders:
        if name in (folder.names or ()):
            return _seen_file(name, folder, fingerprint)
    return Seen("unknown" if any(folder.names is None for folder in folders) else "missing")


def _seen_file(name: str, folder: _Folder, fingerprint: Fingerprinting) -> Seen:
    file = folder.path / name
    try:
        return _seen_text(name, file.read_text(encoding="utf-8"), folder.place, _mode(file), fingerprint)
    except FileNotFoundError:
        return Seen("missing")
    except (OSError, UnicodeDecodeError):
        return Seen("unreadable", place=folder.place)


def _seen_text(name: str, text: str, place: Place, mode: int | None, fingerprint: Fingerprinting) -> Seen:
    value = Secrets.normal_form(name, text)
    try:
        return Seen("present" if value else "empty", fingerprint(name, value) if value else "", place, mode)
    except UnicodeEncodeError:
        return Seen("unreadable", place=place)


def _folder_seen(folders: list[_Folder], *, refused: bool) -> Seen:
    if not folders:
        return Seen("missing")
    first = folders[0]
    if first.names is None:
        return Seen("unreadable", place=first.place)
    return Seen("refused" if refused else "present", _THERE, first.place, first.mode)


def _is_refused(directory: Path | None, environment: Mapping[str, str], mode: Mode) -> bool:
    try:
        read_secrets(directory, environment, mode)
    except SettingsError:
        return True
    if CREDENTIALS_VARIABLE not in environment:
        return False
    # The copies stay as they are: what the next start will get lies in the folder, beside what is not copied.
    next_start = {name: value for name, value in environment.items() if name != CREDENTIALS_VARIABLE}
    _, troubles = examine_secrets(directory, next_start, mode)
    return any(name in troubles for name in Secrets.model_fields)
