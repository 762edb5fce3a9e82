"""The present state of the secrets: fingerprints and file modes. No value leaves this module."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orrery.owner.fingerprints import DIRECTORY, Fingerprinting, Place, SecretObservation
from orrery.settings.secrets import CREDENTIALS_VARIABLE, Mode, Secrets, examine_secrets, read_secrets
from orrery.settings.section import PREFIX, SettingsError

_THERE = "there"
"""The pseudo-fingerprint of a folder, which has no value."""


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder of secrets: its files' names, or None when it cannot be read."""

    place: Place
    path: Path
    names: frozenset[str] | None
    mode: int | None


def held_fingerprints(secrets: Secrets, fingerprint: Fingerprinting) -> dict[str, str | None]:
    """Return the fingerprint of each secret in a process's memory, or None for one that is not set."""
    values = {name: secrets.normalized(name) for name in Secrets.model_fields}
    return {name: fingerprint(name, value) if value else None for name, value in values.items()}


def observe(
    directory: Path | None, environment: Mapping[str, str], mode: Mode, fingerprint: Fingerprinting
) -> dict[str, SecretObservation]:
    """Return the present state of each secret, and of the folder.

    A variable goes first, as at the start. Where a service manager hands over copies, the configured folder goes
    before them: it has what the next start will get, while the copies stay as they are.
    """
    folders = _folders(directory, environment)
    observations = {name: _observation(name, environment, folders, fingerprint) for name in Secrets.model_fields}
    readable = all(observed.state not in ("unreadable", "unknown") for observed in observations.values())
    refused = readable and _is_refused(directory, environment, mode)
    return observations | {DIRECTORY: _observed_folder(folders, refused=refused)}


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


def _observation(
    name: str, environment: Mapping[str, str], folders: list[_Folder], fingerprint: Fingerprinting
) -> SecretObservation:
    if (text := environment.get(PREFIX + name.upper())) is not None:
        return _observed_text(name, text, "environment", None, fingerprint)
    for folder in folders:
        if name in (folder.names or ()):
            return _observed_file(name, folder, fingerprint)
    return SecretObservation("unknown" if any(folder.names is None for folder in folders) else "missing")


def _observed_file(name: str, folder: _Folder, fingerprint: Fingerprinting) -> SecretObservation:
    file = folder.path / name
    try:
        return _observed_text(name, file.read_text(encoding="utf-8"), folder.place, _mode(file), fingerprint)
    except FileNotFoundError:
        return SecretObservation("missing")
    except (OSError, UnicodeDecodeError):
        return SecretObservation("unreadable", place=folder.place)


def _observed_text(
    name: str, text: str, place: Place, mode: int | None, fingerprint: Fingerprinting
) -> SecretObservation:
    value = Secrets.normal_form(name, text)
    try:
        return SecretObservation(
            "present" if value else "empty", fingerprint(name, value) if value else "", place, mode
        )
    except UnicodeEncodeError:
        return SecretObservation("unreadable", place=place)


def _observed_folder(folders: list[_Folder], *, refused: bool) -> SecretObservation:
    if not folders:
        return SecretObservation("missing")
    first = folders[0]
    if first.names is None:
        return SecretObservation("unreadable", place=first.place)
    return SecretObservation("refused" if refused else "present", _THERE, first.place, first.mode)


def _is_refused(directory: Path | None, environment: Mapping[str, str], mode: Mode) -> bool:
    try:
        read_secrets(directory, environment, mode)
    except SettingsError:
        return True
    if CREDENTIALS_VARIABLE not in environment:
        return False
    # The copies stay as they are: the next start gets the values of the folder, and those that are not copied.
    next_start = {name: value for name, value in environment.items() if name != CREDENTIALS_VARIABLE}
    _, troubles = examine_secrets(directory, next_start, mode)
    return any(name in troubles for name in Secrets.model_fields)
