"""What a deployment says: `orrery.toml`, the environment, and one file a secret; read once, frozen.

The environment goes before the file: `ORRERY_SERVER__PORT=9000` is `[server] port`. Secrets are files named as
the fields of `Secrets`, in `$CREDENTIALS_DIRECTORY` or `[secrets] directory`, or `ORRERY_` variables.
Unknown keys, variables and secret files are fatal (decision 41); a missing secret is not.
"""

import os
import tomllib
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings import SettingsError as EnvironmentUnreadable

from orrery.checkout.catalogue import TRUST_COPY, Catalogue, Product
from orrery.checkout.domain import CheckoutPlan
from orrery.checkout.letters import Letters
from orrery.checkout.params import Terms
from orrery.edge.ratelimit import Limit
from orrery.errors import Invalid

PREFIX = "ORRERY_"
CONFIG_VARIABLE = "ORRERY_CONFIG"
"""The variable that names the settings file; the only one that is not a setting or a secret."""

SHORTEST_SECRET = 8
"""Characters: a shorter one is guessed, and can not be hidden in a log without hiding innocent words."""

DEFAULT_FILE = Path("orrery.toml")
DEMO_FILE = Path(".orrery/orrery.toml")
"""Where the demo leaves its settings, so that the owner's commands find its records."""

Mode = Literal["live", "test", "sandbox"]


class SettingsError(Invalid):
    """The settings can not be used; nothing was started. The message holds no values."""


_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")


def _https_or_here(address: str) -> str:
    parts = urlsplit(address)
    if not parts.hostname or (parts.scheme, parts.hostname in _THIS_MACHINE) not in _ENCRYPTED_OR_HERE:
        raise ValueError("the address must begin with https:// (http:// only for this machine)")
    return address


_ENCRYPTED_OR_HERE = {("https", False), ("https", True), ("http", True)}

Address = Annotated[str, AfterValidator(_https_or_here)]
"""A web address that a secret may be sent to."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Server(_Section):
    """Where the service listens. The private listener must not be reachable from outside (decision 42)."""

    host: str = "127.0.0.1"
    port: int = Field(8080, ge=0, le=65535)
    private_host: str = "127.0.0.1"
    private_port: int = Field(8081, ge=0, le=65535)
    trusted_proxies: tuple[str, ...] = ()

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, networks: tuple[str, ...]) -> tuple[str, ...]:
        try:
            list(map(ip_network, networks))
        except ValueError:
            raise ValueError("each must be a network such as 10.0.0.0/8, no bit of it beyond its length") from None
        return networks


class StoreSettings(_Section):
    """The embedded store's file."""

    path: Path = Path(".orrery/orrery.db")


class Log(_Section):
    """How the service logs."""

    format: Literal["auto", "json", "console"] = "auto"
    level: Literal["debug", "info", "warning", "error"] = "info"


class SecretFiles(_Section):
    """Where the secret files lie, unless the service manager names a credentials directory."""

    directory: Path | None = None


class ProductSettings(_Section):
    """One product of the catalogue (decision 4)."""

    vendor_slug: str
    cert_code: str
    title: str
    price_id: str
    trust_copy: str = TRUST_COPY

    def product(self) -> Product:
        """Return the product; raise `Invalid` when it can not be sold."""
        return Product(**self.model_dump())


class CheckoutSettings(_Section):
    """The paid checkout (spec 1)."""

    processor_url: Address = "https://api.stripe.com"
    api_version: str = "2026-08-26.dahlia"
    success_url: str | None = None
    cancel_url: str | None = None
    practice_url: str = ""
    seller: str = "The practice team"
    payment_method_types: tuple[str, ...] = ("card", "link")
    three_d_secure: str = "automatic"
    marketing_consent: bool = True
    terms_of_service: Literal["none", "required"] | None = None
    promotions: Literal["auto", "none"] | None = None
    sessions_per_minute: int = Field(10, ge=1)
    sessions_per_hour: int = Field(60, ge=1)
    products: tuple[ProductSettings, ...] = ()

    @model_validator(mode="after")
    def _can_be_sold(self) -> Self:
        try:
            self.catalogue()
            self.terms()
        except Invalid as error:
            raise ValueError(str(error)) from None
        return self

    def catalogue(self) -> Catalogue:
        """Return the products on sale."""
        return Catalogue(tuple(one.product() for one in self.products))

    def terms(self) -> Terms | None:
        """Return what every session has in common, or None while the two addresses are missing."""
        terms = Terms(
            success_url=self.success_url or "{CHECKOUT_SESSION_ID}",
            cancel_url=self.cancel_url or "",
            payment_method_types=self.payment_method_types,
            three_d_secure=self.three_d_secure,
            marketing_consent=self.marketing_consent,
            terms_of_service=self.terms_of_service,
            promotions=self.promotions,
        )
        return terms if self.success_url and self.cancel_url else None


class Push(_Section):
    """The owner's push messages, by ntfy."""

    url: Address | None = None
    topic: str | None = None


class Mail(_Section):
    """The buyers' e-mail, by SMTP."""

    host: str | None = None
    port: int = Field(465, ge=1, le=65535)
    security: Literal["tls", "starttls", "none"] = "tls"
    sender: str | None = None
    username: str | None = None

    @model_validator(mode="after")
    def _in_clear_only_here(self) -> Self:
        if self.security == "none" and self.host not in (None, *_THIS_MACHINE):
            raise ValueError("security may be none only for a mail server on this machine")
        return self


class Heartbeat(_Section):
    """An address that the workers fetch each minute while all is well, so that silence is noticed elsewhere."""

    url: Address | None = None


class SandboxSettings(_Section):
    """Only in sandbox mode: the file of the clock that service and sandbox share."""

    clock_file: Path | None = None


class Settings(BaseSettings):
    """Everything but the secrets."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True, hide_input_in_errors=True
    )

    mode: Mode = "live"
    server: Server = Server()  # pyright: ignore[reportCallIssue] every field has a default
    store: StoreSettings = StoreSettings()
    log: Log = Log()
    secrets: SecretFiles = SecretFiles()
    checkout: CheckoutSettings = CheckoutSettings()  # pyright: ignore[reportCallIssue] every field has a default
    push: Push = Push()
    mail: Mail = Mail()  # pyright: ignore[reportCallIssue] every field has a default
    heartbeat: Heartbeat = Heartbeat()
    sandbox: SandboxSettings = SandboxSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put the environment before the file; read no .env and no secret here."""
        del settings_cls, dotenv_settings, file_secret_settings
        return env_settings, init_settings

    def checkout_plan(self, secrets: "Secrets") -> CheckoutPlan:
        """Return what this deployment says about its checkout."""
        checkout = self.checkout
        catalogue, token = checkout.catalogue(), secrets.reveal("access_service_token")
        return CheckoutPlan(
            catalogue=catalogue,
            terms=checkout.terms(),
            letters=Letters(checkout.seller, checkout.practice_url, catalogue),
            livemode=self.mode == "live",
            api_version=checkout.api_version,
            has_api_key=secrets.reveal("processor_api_key") is not None,
            signing_secrets=[part.encode() for part in secrets.parts("webhook_signing_secret")],
            service_token=token.encode() if token else None,
            limits=(Limit(checkout.sessions_per_minute, 60), Limit(checkout.sessions_per_hour, 3600)),
            trusted_proxies=self.server.trusted_proxies,
        )


def _none_when_blank(value: object) -> object:
    return (value.strip() or None) if isinstance(value, str) else value


Secret = Annotated[SecretStr | None, BeforeValidator(_none_when_blank)]


class Secrets(_Section):
    """Every secret there is; each may be missing (decision 41), and an empty one is missing."""

    processor_api_key: Secret = None
    webhook_signing_secret: Secret = None
    """One secret a line: several during a rotation (decision 7)."""
    access_service_token: Secret = None
    push_token: Secret = None
    mail_password: Secret = None
    admin_password_hash: Secret = None

    def reveal(self, name: str) -> str | None:
        """Return a secret's value, or None when it is missing."""
        secret: SecretStr | None = getattr(self, name)
        return secret.get_secret_value() if secret else None

    def parts(self, name: str) -> list[str]:
        """Return the values that a secret's text holds: each signing secret, each line of another one."""
        text = self.reveal(name) or ""
        lines = text.split() if name == "webhook_signing_secret" else map(str.strip, text.splitlines())
        return [line for line in lines if line]

    def values(self) -> list[str]:
        """Return every value there is, for the log's redaction."""
        return [part for name in type(self).model_fields for part in self.parts(name)]


def load(path: Path | None = None) -> tuple[Settings, Secrets]:
    """Return the settings and secrets of this machine; raise `SettingsError` when they can not be used.

    Without `path`, the first of `$ORRERY_CONFIG`, `orrery.toml` here and the demo's is read.
    """
    _refuse_unknown_variables(os.environ)  # noqa: TID251  this is the one place that reads it
    named = path or _path_of(os.environ.get(CONFIG_VARIABLE))  # noqa: TID251  the same
    file = named or next((file for file in (DEFAULT_FILE, DEMO_FILE) if file.exists()), None)
    settings = _settings(_read_toml(file) if file else {})
    secrets = _secrets(settings.secrets.directory, os.environ)  # noqa: TID251  the same
    _refuse_short_secrets(secrets)
    _refuse_wrong_keys(settings.mode, secrets)
    return settings, secrets


def _settings(found: dict[str, Any]) -> Settings:
    try:
        return Settings(**found)
    except ValidationError as error:
        raise SettingsError(f"The settings can not be used: {_explain(error)}") from None
    except EnvironmentUnreadable as error:
        section = str(error).partition('"')[2].partition('"')[0]
        what = f"The {PREFIX}{section.upper()} variables can not be read: a list or a table is written as JSON."
        raise SettingsError(what) from None


def _explain(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    said = [f"{'.'.join(str(part) for part in one['loc'])}: {_sentence(one['msg'])}" for one in problems]
    return "; ".join(said) + "."


def _sentence(message: str) -> str:
    return message.removeprefix("Value error, ").rstrip(".")


def _path_of(text: str | None) -> Path | None:
    return Path(text) if text else None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"There is no settings file {path}; `orrery init` writes one.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The settings file {path} can not be read ({type(error).__name__}).") from None
    except tomllib.TOMLDecodeError as error:
        where = str(error).rpartition("(")[2].rstrip(")")
        raise SettingsError(f"The settings file {path} is not valid TOML ({where}).") from None


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    for name in sorted(environment):
        if name.upper().startswith(PREFIX) and name != CONFIG_VARIABLE and not _is_known(name):
            raise SettingsError(f"The environment variable {name} is neither a setting nor a secret.")


def _is_known(variable: str) -> bool:
    name = variable.removeprefix(PREFIX).lower()
    if variable != variable.upper():
        return False
    if name in Secrets.model_fields:
        return True
    model: type[BaseModel] = Settings
    *sections, last = name.split("__")
    for section in sections:
        field = model.model_fields.get(section)
        kind = field.annotation if field else None
        if not isinstance(kind, type) or not issubclass(kind, BaseModel):
            return False
        model = kind
    return last in model.model_fields


def _secrets(directory: Path | None, environment: Mapping[str, str]) -> Secrets:
    from_environment = {name: environment.get(PREFIX + name.upper()) for name in Secrets.model_fields}
    found = {name: value for name, value in from_environment.items() if value is not None}
    credentials = _path_of(environment.get("CREDENTIALS_DIRECTORY"))
    if place := credentials or directory:
        found = _secret_files(place) | found
    _refuse_garbled(found)
    return Secrets(**found)  # pyright: ignore[reportArgumentType] text becomes SecretStr here


def _secret_files(directory: Path) -> dict[str, str]:
    try:
        files = sorted(file for file in directory.iterdir() if not file.name.startswith("."))
    except OSError as error:
        raise SettingsError(f"The secrets directory can not be read ({type(error).__name__}).") from None
    if unknown := [file.name for file in files if file.name not in Secrets.model_fields]:
        known = ", ".join(Secrets.model_fields)
        raise SettingsError(f"The secret file {unknown[0]} is none of {known}.")
    return {file.name: _read_secret(file) for file in files}


def _read_secret(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The secret file {file.name} can not be read ({type(error).__name__}).") from None


def _refuse_garbled(found: Mapping[str, str]) -> None:
    for name, value in found.items():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise SettingsError(f"The secret {name} is not valid UTF-8.") from None


def _refuse_short_secrets(secrets: Secrets) -> None:
    for name in Secrets.model_fields:
        if any(len(part) < SHORTEST_SECRET for part in secrets.parts(name)):
            raise SettingsError(f"The secret {name} is shorter than {SHORTEST_SECRET} characters.")


def _refuse_wrong_keys(mode: Mode, secrets: Secrets) -> None:
    key = secrets.reveal("processor_api_key") or ""
    if mode == "live" and key.startswith(("sk_test_", "rk_test_")):
        raise SettingsError("processor_api_key is a test key, but the mode is live.")
    if mode != "live" and key.startswith(("sk_live_", "rk_live_")):
        raise SettingsError(f"processor_api_key is a live key, but the mode is {mode}.")
