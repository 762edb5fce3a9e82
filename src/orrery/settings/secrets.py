"""The secrets of a deployment: one file each, or one environment variable each."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, SecretStr

from orrery.settings.ownership import read_own, refuse_foreign_folder
from orrery.settings.section import PREFIX, Section, SettingsError
from orrery.settings.unusable import Mode, why_unusable

CREDENTIALS_VARIABLE = "CREDENTIALS_DIRECTORY"
"""The variable by which a service manager names the folder of secrets."""

_SEVERAL = ("webhook_signing_secret", "access_service_token")
"""The secrets with one value on each line, of which each is valid."""

_FOLDER = "The secrets directory"

_BASE64 = re.compile(r"[A-Za-z0-9+/=]{20,}")


def _none_when_blank(value: object) -> object:
    return (value.strip() or None) if isinstance(value, str) else value


Secret = Annotated[SecretStr | None, BeforeValidator(_none_when_blank)]


class Secrets(Section):
    """Every secret there is; each may be missing (decision 41), and an empty one is missing."""

    processor_api_key: Secret = None
    webhook_signing_secret: Secret = None
    """One secret a line: several during a rotation (decision 7)."""
    access_service_token: Secret = None
    """One token a line: several during a rotation."""
    push_token: Secret = None
    mail_password: Secret = None
    admin_password_hash: Secret = None
    analytics_service_account_key: Secret = None
    """The JSON key file of the analytics provider's service account, as it was downloaded."""
    tracker_token: Secret = None

    def reveal(self, name: str) -> str | None:
        """Return a secret's value, or None when it is missing."""
        secret: SecretStr | None = getattr(self, name)
        return secret.get_secret_value() if secret else None

    def parts(self, name: str) -> list[str]:
        """Return the values that a secret's text holds: each signing secret, each line of another one."""
        text = self.reveal(name) or ""
        if name == "analytics_service_account_key":
            return _key_parts(text)
        lines = text.split() if name == "webhook_signing_secret" else map(str.strip, text.splitlines())
        return [line for line in lines if line]

    def normalized(self, name: str) -> str:
        """Return a secret's value in the form in which two of them are compared, or nothing when it is missing."""
        return self.normal_form(name, self.reveal(name) or "")

    @staticmethod
    def normal_form(name: str, text: str) -> str:
        """Return a secret's text without the white space that does not count."""
        return "\n".join(text.split()) if name in _SEVERAL else text.strip()

    def values(self) -> list[str]:
        """Return every value there is, for the log's redaction."""
        return [part for name in type(self).model_fields for part in self.parts(name)]


def _key_parts(text: str) -> list[str]:
    """Return a JSON key file's text, and each string in it that looks like the key or a line of the key."""
    lines = _BASE64.findall(text.replace("\\n", "\n"))
    return [part for part in (text, *lines) if part]


def read_secrets(directory: Path | None, environment: Mapping[str, str], mode: Mode) -> Secrets:
    """Return the secrets of this machine, all usable; raise `SettingsError` naming the one that is not."""
    secrets = _secrets(directory, environment)
    _refuse_unusable(mode, secrets)
    return secrets


def examine_secrets(
    directory: Path | None, environment: Mapping[str, str], mode: Mode
) -> tuple[Secrets, dict[str, str]]:
    """Return the secrets of this machine that can be used, and a sentence for each that cannot, by its name.

    A fault that concerns no single secret (the folder, an unknown file in it) is under "".
    """
    usable: dict[str, str] = {}
    troubles: dict[str, str] = {}
    place = _believed(directory, environment)
    for name in Secrets.model_fields:
        try:
            usable |= _usable(name, place, environment, mode)
        except SettingsError as error:
            troubles[name] = str(error)
    try:
        read_secrets(directory, environment, mode)
    except SettingsError as error:
        if str(error) not in troubles.values():
            troubles[""] = str(error)
    return Secrets(**usable), troubles  # pyright: ignore[reportArgumentType] text becomes SecretStr here


def _place(directory: Path | None, environment: Mapping[str, str]) -> Path | None:
    credentials = environment.get(CREDENTIALS_VARIABLE)
    return Path(credentials) if credentials else directory


def _believed(directory: Path | None, environment: Mapping[str, str]) -> Path | None:
    """Return the folder of secrets, or None when nothing in it can be used."""
    place = _place(directory, environment)
    try:
        if place:
            refuse_foreign_folder(place, _FOLDER)
    except (OSError, SettingsError):
        return None
    return place


def _usable(name: str, place: Path | None, environment: Mapping[str, str], mode: Mode) -> dict[str, str]:
    found = {} if (text := environment.get(PREFIX + name.upper())) is None else {name: text}
    if not found and place and (file := place / name).exists():
        found = {name: _read_secret(file)}
    _refuse_garbled(found)
    one = Secrets(**found)  # pyright: ignore[reportArgumentType] text becomes SecretStr here
    _refuse_unusable(mode, one)
    return found


def _secrets(directory: Path | None, environment: Mapping[str, str]) -> Secrets:
    from_environment = {name: environment.get(PREFIX + name.upper()) for name in Secrets.model_fields}
    found = {name: value for name, value in from_environment.items() if value is not None}
    if place := _place(directory, environment):
        found = _secret_files(place) | found
    _refuse_garbled(found)
    return Secrets(**found)  # pyright: ignore[reportArgumentType] text becomes SecretStr here


def _secret_files(directory: Path) -> dict[str, str]:
    try:
        refuse_foreign_folder(directory, _FOLDER)
        files = sorted(file for file in directory.iterdir() if not file.name.startswith("."))
    except OSError as error:
        raise SettingsError(f"{_FOLDER} {directory} cannot be read ({type(error).__name__}).") from None
    if unknown := [file.name for file in files if file.name not in Secrets.model_fields]:
        known = ", ".join(Secrets.model_fields)
        raise SettingsError(f"The secret file {unknown[0]} is none of {known}.")
    return {file.name: _read_secret(file) for file in files}


def _read_secret(file: Path) -> str:
    try:
        return read_own(file, "The secret file")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The secret file {file.name} cannot be read ({type(error).__name__}).") from None


def _refuse_garbled(found: Mapping[str, str]) -> None:
    for name, value in found.items():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise SettingsError(f"The secret {name} is not valid UTF-8.") from None


def _refuse_unusable(mode: Mode, secrets: Secrets) -> None:
    for name in Secrets.model_fields:
        text = secrets.reveal(name)
        if text and (why := why_unusable(name, text, mode)):
            raise SettingsError(why)
