"""A deployment's settings: `orrery.toml`, the environment, and one file for each secret; read once, frozen.

The environment goes before the file: `ORRERY_SERVER__PORT=9000` is `[server] port`. Secrets are files with the
names that the modules give, in `$CREDENTIALS_DIRECTORY` or `[secrets] directory`, or `ORRERY_` variables.
Unknown keys, variables and secret files are fatal (decision 41); a missing secret is not. A role reads its own
sections and secrets only (decision 40).
"""

import os
from collections.abc import Mapping
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
from orrery.app.deployment_files.secrets import Secrets, examine_secrets, read_secrets, secret_kinds
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
    "Secrets",
    "Settings",
    "SettingsError",
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


def load(path: Path | None = None, role: Role = "site") -> tuple[Settings, Secrets]:
    """Return the settings and secrets of this machine; raise `SettingsError` when they cannot be used.

    Without `path`, the file is found by `find_settings_file`.
    """
    settings = load_settings(path, role)
    directory = settings[SecretFiles].directory
    return settings, read_secrets(directory, os.environ, settings.mode, role)  # noqa: TID251  see `load_settings`


def load_settings(path: Path | None = None, role: Role = "site") -> Settings:
    """Return the settings alone; raise `SettingsError` when they cannot be used."""
    _refuse_unknown_variables(os.environ, role)  # noqa: TID251  this is the one place that reads it
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
    _refuse_unknown_variables(os.environ, role)  # noqa: TID251  the same
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


def _refuse_unknown_variables(environment: Mapping[str, str], role: Role) -> None:
    for name in ours(environment):
        if not (is_secret(name) or is_of_another_role(name, role) or _is_setting(name, role)):
            raise unknown_variable(name)


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
