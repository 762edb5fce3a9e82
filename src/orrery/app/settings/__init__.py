"""A deployment's settings: `orrery.toml`, the environment, and one file for each secret; read once, frozen.

The environment goes before the file: `ORRERY_SERVER__PORT=9000` is `[server] port`. Secrets are files with the
names that the modules give, in `$CREDENTIALS_DIRECTORY` or `[secrets] directory`, or `ORRERY_` variables.
Unknown keys, variables and secret files are fatal (decision 41); a missing secret is not. A role reads its own
sections and secrets only (decision 40).
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_settings import SettingsError as EnvironmentUnreadable

from orrery.app.deployment_files.anchoring import anchored
from orrery.app.deployment_files.authority import check_authority
from orrery.app.deployment_files.places import (
    DEMO_FILE,
    SYSTEM_FOLDER,
    find_settings_file,
    find_settings_file_if_any,
)
from orrery.app.deployment_files.secrets import Secrets, examine_secrets, secret_kinds
from orrery.app.deployment_files.sections import Settings, settings_of
from orrery.app.deployment_files.toml_text import read_toml, unusable
from orrery.app.deployment_files.variables import (
    CONFIG_VARIABLE,
    PREFIX,
    SettingsError,
    is_of_another_role,
    is_secret,
    ours,
    unknown_variable,
)
from orrery.app.settings.model import SettingsFile, file_model
from orrery.app.settings.secret_observation import held_fingerprints, observe
from orrery.runtime.module import Role
from orrery.runtime.secret import SecretUse
from orrery.runtime.settings import SecretFiles, TlsSettings
from orrery.secrets.fingerprints import Fingerprinting, SecretObservation

__all__ = [
    "CONFIG_VARIABLE",
    "DEMO_FILE",
    "SYSTEM_FOLDER",
    "Examined",
    "Secrets",
    "Settings",
    "SettingsError",
    "examine",
    "find_settings_file",
    "held_fingerprints",
    "load",
    "load_settings",
    "load_settings_if_any",
    "load_usable",
    "observe_secrets",
    "settings_file",
    "settings_from",
    "uses_of",
]


@dataclass(frozen=True, slots=True)
class Examined:
    """What a start finds in the files of a deployment; `problems` are sentences, and any of them refuses it."""

    settings: Settings | None
    secrets: Secrets | None
    problems: tuple[str, ...]


def load(path: Path | None = None, role: Role = "site") -> tuple[Settings, Secrets]:
    """Return the settings and secrets of this machine; raise `SettingsError` with all that cannot be used.

    Without `path`, the file is found by `find_settings_file`.
    """
    found = examine(path, role)
    if found.problems or not (found.settings and found.secrets):
        raise SettingsError(" ".join(found.problems))
    return found.settings, found.secrets


def examine(path: Path | None = None, role: Role = "site") -> Examined:
    """Return the settings and secrets of this machine, with all that stands against a start.

    While the settings cannot be used, the secrets are read where the mode and their folder are known.
    """
    problems = [*_unknown_variables(os.environ, role)]  # noqa: TID251  see `load_settings`
    try:
        file = settings_file(path, role)
        found = read_toml(file)
    except SettingsError as error:
        return Examined(None, None, (*problems, str(error)))
    settings = secrets = None
    try:
        settings = settings_from(found, file.parent, role)
    except SettingsError as error:
        problems.append(str(error))
    if known := settings or _usable(found, file.parent, role):
        directory = known[SecretFiles].directory
        secrets = examine_secrets(directory, os.environ, known.mode, role)  # noqa: TID251  see `load_settings`
        problems += secrets.troubles.values()
    return Examined(settings, secrets, tuple(problems))


def _usable(found: dict[str, Any], folder: Path, role: Role) -> Settings | None:
    """Return the settings that say where the secrets are, whatever is wrong with the others."""
    try:
        return settings_from({name: found[name] for name in ("mode", "secrets") if name in found}, folder, role)
    except SettingsError:
        return None


def load_settings(path: Path | None = None, role: Role = "site") -> Settings:
    """Return the settings alone; raise `SettingsError` when they cannot be used."""
    if unknown := [*_unknown_variables(os.environ, role)]:  # noqa: TID251  this is the one place that reads it
        raise SettingsError(" ".join(unknown))
    file = settings_file(path, role)
    return settings_from(read_toml(file), file.parent, role)


def settings_file(path: Path | None = None, role: Role = "site") -> Path:
    """Return where the settings are; raise `SettingsError` when they are nowhere."""
    return find_settings_file(path, os.environ, role=role)  # noqa: TID251  see `load_settings`


def load_settings_if_any(path: Path | None = None, role: Role = "site") -> Settings:
    """Return the settings alone; without a file, those of the variables, for what needs no deployment.

    Raises `SettingsError` when the file that is named, or that is there, cannot be used.
    """
    if find_settings_file_if_any(path, os.environ, role=role):  # noqa: TID251  see `load_settings`
        return load_settings(path, role)
    if unknown := [*_unknown_variables(os.environ, role)]:  # noqa: TID251  the same
        raise SettingsError(" ".join(unknown))
    return settings_from({}, Path.cwd(), role)


def load_usable(path: Path | None = None, role: Role = "site") -> tuple[Settings, Secrets]:
    """Return settings and the secrets that can be used, with the troubles of the others."""
    settings = load_settings(path, role)
    directory = settings[SecretFiles].directory
    return settings, examine_secrets(directory, os.environ, settings.mode, role)  # noqa: TID251  see `load_settings`


def observe_secrets(settings: Settings, fingerprint: Fingerprinting) -> dict[str, SecretObservation]:
    """Return the present state of the secrets, as fingerprints; the settings are those of the start."""
    directory = settings[SecretFiles].directory
    return observe(directory, os.environ, settings.mode, settings.role, fingerprint)  # noqa: TID251  see `load_settings`


def uses_of(settings: Settings) -> dict[str, SecretUse]:
    """Return the use of each secret, by its name."""
    return {name: kind.use(settings) for name, kind in secret_kinds(settings.role).items()}


def settings_from(found: dict[str, Any], folder: Path, role: Role = "site") -> Settings:
    """Return the settings that a file's contents and the variables make; relative paths begin in `folder`."""
    file = anchored(_read(found, role), folder)
    settings = settings_of(file.mode, role, file)
    check_authority(settings[TlsSettings].ca_file)
    return settings


def _read(found: dict[str, Any], role: Role) -> SettingsFile:
    try:
        return file_model(role)(**found)
    except ValidationError as error:
        raise unusable(error) from None
    except EnvironmentUnreadable as error:
        section = str(error).partition('"')[2].partition('"')[0]
        what = f"The {PREFIX}{section.upper()} variables cannot be read: a list or a table is written as JSON."
        raise SettingsError(what) from None


def _unknown_variables(environment: Mapping[str, str], role: Role) -> Iterator[str]:
    for name in ours(environment):
        if not (is_secret(name) or is_of_another_role(name, role) or _is_setting(name, role)):
            yield str(unknown_variable(name))


def _is_setting(variable: str, role: Role) -> bool:
    if variable != variable.upper():
        return False
    model: type[BaseModel] = file_model(role)
    *sections, last = variable.removeprefix(PREFIX).lower().split("__")
    for section in sections:
        field = model.model_fields.get(section)
        kind = field.annotation if field else None
        if not isinstance(kind, type) or not issubclass(kind, BaseModel):
            return False
        model = kind
    return last in model.model_fields
