"""The present state of the secrets: fingerprints and file modes. No value leaves this module."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orrery.app.deployment_files.secrets import (
    CREDENTIALS_VARIABLE,
    Secrets,
    examine_secrets,
    read_secrets,
    secret_kinds,
    secret_name,
)
from orrery.app.deployment_files.variables import PREFIX, SettingsError
from orrery.runtime.module import Role
from orrery.runtime.secret import SecretKind
from orrery.runtime.section import Mode
from orrery.secrets.fingerprints import DIRECTORY, Fingerprinting, Place, SecretObservation

_THERE = "there"
"""The pseudo-fingerprint of a folder, which has no value."""


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder of secrets: the file of each secret by its name, or None when the folder cannot be read."""

    place: Place
    files: Mapping[str, Path] | None
    mode: int | None


def held_fingerprints(secrets: Secrets, fingerprint: Fingerprinting) -> dict[str, str | None]:
    """Return the fingerprint of each secret in a process's memory, or None for one that is not set."""
    values = {name: secrets.normalized(name) for name in secrets.kinds}
    return {name: fingerprint(name, value) if value else None for name, value in values.items()}


def observe(
    directory: Path | None, environment: Mapping[str, str], mode: Mode, role: Role, fingerprint: Fingerprinting
) -> dict[str, SecretObservation]:
    """Return the present state of each secret, and of the folder.

    A variable goes first, as at the start. Where a service manager hands over copies, the configured folder goes
    before them: it has what the next start will get, while the copies stay as they are.
    """
    folders = _folders(directory, environment, role)
    observations = {
        name: _observation(name, kind, environment, folders, fingerprint)
        for name, kind in secret_kinds(role).items()
    }
    readable = all(observed.state not in ("unreadable", "unknown") for observed in observations.values())
    refused = readable and _is_refused(directory, environment, mode, role)
    return observations | {DIRECTORY: _observed_folder(folders, refused=refused)}


def _folders(directory: Path | None, environment: Mapping[str, str], role: Role) -> list[_Folder]:
    credentials = environment.get(CREDENTIALS_VARIABLE)
    folders = [_folder("directory", directory, role)] if directory else []
    if credentials:
        readable = any(folder.files is not None for folder in folders)
        folders.append(_folder("copy" if readable else "credentials", Path(credentials), role))
    return folders


def _folder(place: Place, path: Path, role: Role) -> _Folder:
    try:
        return _Folder(place, {secret_name(file, role): file for file in path.iterdir()}, _mode(path))
    except OSError:
        return _Folder(place, None, None)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def _observation(
    name: str,
    kind: SecretKind,
    environment: Mapping[str, str],
    folders: list[_Folder],
    fingerprint: Fingerprinting,
) -> SecretObservation:
    folder = next((one for one in folders if name in (one.files or ())), None)
    text, place, mode = environment.get(PREFIX + name.upper()), "environment", None
    try:
        if text is None and folder and folder.files:
            file, place = folder.files[name], folder.place
            text, mode = file.read_text(encoding="utf-8"), _mode(file)
        if text is None:
            return SecretObservation("unknown" if any(one.files is None for one in folders) else "missing")
        value = kind.normal_form(text)
        given = fingerprint(name, value) if value else ""
        return SecretObservation("present" if value else "empty", given, place, mode)
    except FileNotFoundError:
        return SecretObservation("missing")
    except (OSError, UnicodeError):
        return SecretObservation("unreadable", place=place)


def _observed_folder(folders: list[_Folder], *, refused: bool) -> SecretObservation:
    if not folders:
        return SecretObservation("missing")
    first = folders[0]
    if first.files is None:
        return SecretObservation("unreadable", place=first.place)
    return SecretObservation("refused" if refused else "present", _THERE, first.place, first.mode)


def _is_refused(directory: Path | None, environment: Mapping[str, str], mode: Mode, role: Role) -> bool:
    try:
        _ = read_secrets(directory, environment, mode, role)
    except SettingsError:
        return True
    if CREDENTIALS_VARIABLE not in environment:
        return False
    # The copies stay as they are: the next start gets the values of the folder, and those that are not copied.
    next_start = {name: value for name, value in environment.items() if name != CREDENTIALS_VARIABLE}
    found = examine_secrets(directory, next_start, mode, role)
    return any(name in found.troubles for name in secret_kinds(role))
