"""The secrets of this process as the secrets check sees them: fingerprints and modes. No value leaves here."""

import asyncio
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orrery.app.settings.secrets import (
    CREDENTIALS_VARIABLE,
    Secrets,
    examine_secrets,
    secret_files,
    secret_kinds,
    uses_of,
    variable_of,
    written_names,
)
from orrery.app.settings.sections import Settings
from orrery.app.settings.variables import ENVIRONMENT
from orrery.runtime.module import Role
from orrery.runtime.secret import Form, SecretKind, SecretUse
from orrery.runtime.section import Mode
from orrery.runtime.settings import SecretFiles, ServerSettings
from orrery.secrets.fingerprints import DIRECTORY, Fingerprinting, Place, SecretObservation, SecretObservations

_THERE = "there"
"""The pseudo-fingerprint of a folder, which has no value."""


@dataclass(frozen=True, slots=True)
class HeldSecretFiles:
    """See `ObservedSecrets`. The settings are those of the start."""

    settings: Settings
    secrets: Secrets

    @property
    def observer(self) -> str:
        """Return the name of the node, or the listener that only this process has."""
        server = self.settings[ServerSettings]
        return server.node or f"{platform.node()}:{server.private_port}"

    @property
    def troubles(self) -> Mapping[str, str]:
        return self.secrets.troubles

    def form(self, name: str) -> Form:
        """Return how a secret in memory looks."""
        return self.secrets.form(name, self.settings.mode)

    def held(self, fingerprint: Fingerprinting) -> Mapping[str, str | None]:
        """Return the fingerprint of each secret in memory, or None for one that is not set."""
        values = {name: self.secrets.normalized(name) for name in self.secrets.kinds}
        return {name: fingerprint(name, value) if value else None for name, value in values.items()}

    async def observe(self, fingerprint: Fingerprinting) -> SecretObservations:
        """Return the present state of each secret in its file."""
        return await asyncio.to_thread(observe, self.settings, fingerprint)

    def uses(self) -> Mapping[str, SecretUse]:
        """Return the use of each secret."""
        return uses_of(self.settings)


def observe(settings: Settings, fingerprint: Fingerprinting) -> dict[str, SecretObservation]:
    """Return the present state of each secret, and of the folder.

    A variable goes first, as at the start. Where a service manager hands over copies, the configured folder goes
    before them: it has what the next start will get, while the copies stay as they are.
    """
    directory, role = settings[SecretFiles].directory, settings.role
    folders = _folders(directory, role)
    observations = {
        name: _observation(name, kind, folders, fingerprint) for name, kind in secret_kinds(role).items()
    }
    readable = all(observed.state not in ("unreadable", "unknown") for observed in observations.values())
    refused = readable and _is_refused(directory, settings.mode, role)
    return observations | {DIRECTORY: _observed_folder(folders, refused=refused)}


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder of secrets: the file of each secret by its name, or None when the folder cannot be read."""

    place: Place
    files: Mapping[str, Path] | None
    mode: int | None


def _folders(directory: Path | None, role: Role) -> list[_Folder]:
    credentials = ENVIRONMENT.get(CREDENTIALS_VARIABLE)
    folders = [_folder("directory", directory, role)] if directory else []
    if credentials:
        readable = any(folder.files is not None for folder in folders)
        folders.append(_folder("copy" if readable else "credentials", Path(credentials), role))
    return folders


def _folder(place: Place, path: Path, role: Role) -> _Folder:
    try:
        return _Folder(place, secret_files(path, role), _mode(path))
    except OSError:
        return _Folder(place, None, None)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def _observation(
    name: str,
    kind: SecretKind,
    folders: list[_Folder],
    fingerprint: Fingerprinting,
) -> SecretObservation:
    written = written_names(name, ENVIRONMENT, [file for one in folders for file in one.files or ()])
    here = written[0] if written else name
    folder = next((one for one in folders if here in (one.files or ())), None)
    text, place, mode = ENVIRONMENT.get(variable_of(here)), "environment", None
    try:
        if text is None and folder and folder.files:
            file, place = folder.files[here], folder.place
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


def _is_refused(directory: Path | None, mode: Mode, role: Role) -> bool:
    if examine_secrets(directory, ENVIRONMENT, mode, role).troubles:
        return True
    if CREDENTIALS_VARIABLE not in ENVIRONMENT:
        return False
    # The copies stay as they are: the next start gets the values of the folder, and those that are not copied.
    next_start = {name: value for name, value in ENVIRONMENT.items() if name != CREDENTIALS_VARIABLE}
    found = examine_secrets(directory, next_start, mode, role)
    return any(name in found.troubles for name in secret_kinds(role))
