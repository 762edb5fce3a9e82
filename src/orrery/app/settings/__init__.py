"""A deployment's settings: `orrery.toml`, the environment, and one file for each secret; read once, frozen.

The environment goes before the file: `ORRERY_SERVER__PORT=9000` is `[server] port`. Secrets are files with the
names that the modules give, in `$CREDENTIALS_DIRECTORY` or `[secrets] directory`, or `ORRERY_` variables.
Unknown keys, variables and secret files are fatal (decision 41); a missing secret is not. A role reads its own
sections and secrets only (decision 40).
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import SettingsError as EnvironmentUnreadable

from orrery.app.settings.authority import check_authority
from orrery.app.settings.model import Settings, SettingsFile, file_model, sections_of, settings_of
from orrery.app.settings.ownership import read_own
from orrery.app.settings.places import (
    CONFIG_VARIABLE,
    DEMO_FILE,
    SYSTEM_FOLDER,
    anchored,
    find_settings_file,
    find_settings_file_if_any,
)
from orrery.app.settings.secret_observation import held_fingerprints, observe
from orrery.app.settings.secrets import Secrets, examine_secrets, read_secrets, secret_kinds, secret_names
from orrery.runtime.module import Role
from orrery.runtime.secret import SecretUse
from orrery.runtime.section import PREFIX, SettingsError
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
    return settings_from(_read_toml(file), file.parent, role)


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
    settings = settings_of(anchored(_read(found, role), folder), role)
    check_authority(settings[TlsSettings].ca_file)
    return settings


def _read(found: dict[str, Any], role: Role) -> SettingsFile:
    try:
        return file_model(role)(**found)
    except ValidationError as error:
        raise SettingsError(f"The settings cannot be used: {_explain(error)}") from None
    except EnvironmentUnreadable as error:
        section = str(error).partition('"')[2].partition('"')[0]
        what = f"The {PREFIX}{section.upper()} variables cannot be read: a list or a table is written as JSON."
        raise SettingsError(what) from None


def _explain(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False)
    said = [f"{'.'.join(str(part) for part in one['loc'])}: {_sentence(one)}" for one in problems]
    return "; ".join(said) + "."


def _sentence(problem: ErrorDetails) -> str:
    if tags := problem.get("ctx", {}).get("expected_tags"):  # the library's own sentence repeats the value
        return f"kind must be one of {tags}"
    return problem["msg"].removeprefix("Value error, ").rstrip(".")


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_own(path, "The settings file"))
    except FileNotFoundError:
        raise SettingsError(f"There is no settings file {path}; `orrery init` writes one.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The settings file {path} cannot be read ({type(error).__name__}).") from None
    except tomllib.TOMLDecodeError as error:
        where = str(error).rpartition("(")[2].rstrip(")")
        raise SettingsError(f"The settings file {path} is not valid TOML ({where}).") from None


def _refuse_unknown_variables(environment: Mapping[str, str], role: Role) -> None:
    for name in sorted(environment):
        if name.upper().startswith(PREFIX) and name != CONFIG_VARIABLE and not _is_known(name, role):
            raise SettingsError(f"The environment variable {name} is neither a setting nor a secret.")


def _is_known(variable: str, role: Role) -> bool:
    if variable != variable.upper():
        return False
    name = variable.removeprefix(PREFIX).lower()
    if name in secret_names():
        return True
    model: type[BaseModel] = file_model(role)
    *sections, last = name.split("__")
    if sections and sections[0] in model.model_fields.keys() - sections_of(role).keys():
        return True  # another role knows what is in it
    for section in sections:
        field = model.model_fields.get(section)
        kind = field.annotation if field else None
        if not isinstance(kind, type) or not issubclass(kind, BaseModel):
            return False
        model = kind
    return last in model.model_fields
