"""The sections of `orrery.toml`, and the plans that they make together."""

import json
from datetime import timedelta
from hashlib import sha256
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from orrery.checkout.catalogue import TRUST_COPY, Catalogue, Product
from orrery.checkout.domain import CheckoutPlan
from orrery.checkout.notifications import Notifications
from orrery.checkout.params import SessionTerms
from orrery.edge.ratelimit import Limit
from orrery.errors import Invalid
from orrery.fraud.domain import FraudPlan
from orrery.live.domain import LivePlan
from orrery.live.quota import Limits
from orrery.owner.public_keys import public_key
from orrery.settings.forms import is_service_account
from orrery.settings.secrets import Mode, Secrets
from orrery.settings.section import PREFIX, Section
from orrery.syntax.base_url import THIS_MACHINE


def _https_or_here(address: str) -> str:
    parts = urlsplit(address)
    if not parts.hostname or (parts.scheme, parts.hostname in THIS_MACHINE) not in _ENCRYPTED_OR_HERE:
        raise ValueError("the address must begin with https:// (http:// only for this machine)")
    return address


_ENCRYPTED_OR_HERE = {("https", False), ("https", True), ("http", True)}

Address = Annotated[str, AfterValidator(_https_or_here)]
"""A web address that a secret may be sent to."""


_MAPPED = ip_network("::ffff:0:0/96")
"""IPv4 addresses in IPv6 clothes: client addresses are compared without them."""


def _are_networks(networks: tuple[str, ...]) -> tuple[str, ...]:
    try:
        found = list(map(ip_network, networks))
    except ValueError:
        raise ValueError("each must be a network such as 10.0.0.0/8, no bit of it beyond its length") from None
    if any(network.network_address in _MAPPED for network in found):
        raise ValueError("a network of IPv4 is written as one, such as 10.0.0.0/8: its addresses are read so")
    return networks


Networks = Annotated[tuple[str, ...], AfterValidator(_are_networks)]
"""Networks and single addresses, as `ipaddress` reads them."""


class Server(Section):
    """Where the service listens. The private listener must not be reachable from outside (decision 42)."""

    host: str = "127.0.0.1"
    port: int = Field(8080, ge=0, le=65535)
    private_host: str = "127.0.0.1"
    private_port: int = Field(8081, ge=0, le=65535)
    trusted_proxies: Networks = ()

    @field_validator("private_host")
    @classmethod
    def _is_this_machine(cls, host: str) -> str:
        if host not in THIS_MACHINE:
            raise ValueError(f"the private listener is for this machine only: {', '.join(THIS_MACHINE)}")
        return host

    @model_validator(mode="after")
    def _are_two_listeners(self) -> Self:
        # The system lets one process listen twice, and a request that came in by both is taken for private.
        if self.port == self.private_port != 0:
            raise ValueError("port and private_port must differ")
        return self


class StoreSettings(Section):
    """The embedded store's file."""

    path: Path = Path(".orrery/orrery.db")


class BackupSettings(Section):
    """The folder and number of the dated snapshots of `orrery backup`; without a recent one the part is broken."""

    directory: Path | None = None
    keep: int = Field(14, ge=1)


class Log(Section):
    """How the service logs."""

    format: Literal["auto", "json", "console"] = "auto"
    level: Literal["debug", "info", "warning", "error"] = "info"


class SecretFiles(Section):
    """Where the secret files lie, unless the service manager names a credentials directory."""

    directory: Path | None = None


class TlsSettings(Section):
    """Whose certificates are believed beside those of the well-known authorities (decision 0048)."""

    ca_file: Path | None = None


class ProductSettings(Section):
    """One product of the catalogue (decision 4)."""

    vendor_slug: str
    cert_code: str
    title: str
    price_id: str | None = None
    trust_copy: str = TRUST_COPY

    def product(self) -> Product:
        """Return the product, which may hold a mistake: the catalogue says which."""
        return Product(**self.model_dump())


class CheckoutSettings(Section):
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
    access_reads_per_minute: int = Field(300, ge=1)
    revoke_on_refund: bool = False
    products: tuple[ProductSettings, ...] = ()

    @model_validator(mode="after")
    def _can_be_sold(self) -> Self:
        try:
            self.terms()
        except Invalid as error:
            raise ValueError(str(error)) from None
        return self

    def catalogue(self) -> Catalogue:
        """Return the products on sale."""
        return Catalogue(tuple(one.product() for one in self.products))

    def terms(self) -> SessionTerms | None:
        """Return the parameters that all sessions share, or None while the two addresses are missing."""
        terms = SessionTerms(
            success_url=self.success_url or "{CHECKOUT_SESSION_ID}",
            cancel_url=self.cancel_url or "",
            payment_method_types=self.payment_method_types,
            three_d_secure=self.three_d_secure,
            marketing_consent=self.marketing_consent,
            terms_of_service=self.terms_of_service,
            promotions=self.promotions,
        )
        return terms if self.success_url and self.cancel_url else None


class Push(Section):
    """The owner's push messages, by ntfy."""

    url: Address | None = None
    topic: str | None = None


class Mail(Section):
    """The buyers' e-mail, by SMTP."""

    host: str | None = None
    port: int = Field(465, ge=1, le=65535)
    security: Literal["tls", "starttls", "none"] = "tls"
    sender: str | None = None
    username: str | None = None

    @model_validator(mode="after")
    def _in_clear_only_here(self) -> Self:
        if self.security == "none" and self.host not in (None, *THIS_MACHINE):
            raise ValueError("security may be none only for a mail server on this machine")
        return self


class Heartbeat(Section):
    """An address that the workers fetch each minute while all is well, so that silence is noticed elsewhere."""

    url: Address | None = None


class PageSettings(Section):
    """A page of the site: its title at the provider, and its path (decision 22)."""

    title: str
    path: str = Field(pattern=r"^/[^\s\\]*$")


class LiveSettings(Section):
    """The live visitor counter (spec 2). Without a property there is nothing to count."""

    property_id: str | None = Field(None, pattern=r"^[0-9]{1,20}$")
    provider_url: Address = "https://analyticsdata.googleapis.com"
    refresh: bool = True
    refresh_interval: int = Field(60, ge=1, le=60)
    poll_interval: int = Field(45, ge=5, le=3600)
    min_visible: int = Field(1, ge=1)
    window_minutes: int = Field(30, ge=1, le=30)
    planet_dimension: str = Field("streamName", pattern=r"^[A-Za-z0-9_:]{1,100}$")
    tokens_per_hour: int = Field(1750, ge=1)
    tokens_per_day: int = Field(25_000, ge=1)
    pages: tuple[PageSettings, ...] = ()

    def source(self, key_json: str | None) -> str:
        """Return a digest of whom the counter asks, about what and as whom."""
        asked = [self.provider_url.rstrip("/"), self.property_id, self.planet_dimension, _account(key_json)]
        return sha256(json.dumps(asked).encode()).hexdigest()[:16]


class _Account(BaseModel):
    client_email: str


def _account(key_json: str | None) -> str | None:
    """Return the account of a key, or None when it is unknown; a new key of the same account changes nothing."""
    try:
        return _Account.model_validate_json(key_json or "").client_email
    except ValidationError:
        return None


class Monitor(Section):
    """The tracker for issues about a degraded counter (decision 29), and the address of its public reads."""

    base_url: Address | None = None
    tracker: Literal["file", "github"] = "file"
    file: Path = Path(".orrery/realtime-degraded.json")
    github_url: Address = "https://api.github.com"
    repository: str | None = Field(None, pattern=r"^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$")


class ApprovalSettings(Section):
    """The keys whose signatures approve an intent (decision 15): public keys as in an `authorized_keys` file.

    `signing_key` is where `orrery approvals sign` finds the private key, or the public one of a hardware key.
    """

    owner_keys: tuple[str, ...] = ()
    signing_key: Path | None = None

    @field_validator("owner_keys")
    @classmethod
    def _are_public_keys(cls, keys: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(map(public_key, keys))
        except Invalid as error:
            raise ValueError(str(error)) from None


class FraudSettings(Section):
    """Fraud screening (decision 18): addresses and networks of one's own, which are never proposed or blocked."""

    own_addresses: Networks = ()


class SandboxSettings(Section):
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
    backup: BackupSettings = BackupSettings()  # pyright: ignore[reportCallIssue] every field has a default
    log: Log = Log()
    secrets: SecretFiles = SecretFiles()
    tls: TlsSettings = TlsSettings()
    checkout: CheckoutSettings = CheckoutSettings()  # pyright: ignore[reportCallIssue] every field has a default
    live: LiveSettings = LiveSettings()  # pyright: ignore[reportCallIssue] every field has a default
    monitor: Monitor = Monitor()  # pyright: ignore[reportCallIssue] every field has a default
    push: Push = Push()
    mail: Mail = Mail()  # pyright: ignore[reportCallIssue] every field has a default
    heartbeat: Heartbeat = Heartbeat()
    approvals: ApprovalSettings = ApprovalSettings()
    fraud: FraudSettings = FraudSettings()
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

    def checkout_plan(self, secrets: Secrets) -> CheckoutPlan:
        """Return the plan of the checkout."""
        checkout = self.checkout
        catalogue = checkout.catalogue()
        return CheckoutPlan(
            catalogue=catalogue,
            terms=checkout.terms(),
            notifications=Notifications(checkout.seller, checkout.practice_url, catalogue),
            livemode=self.mode == "live",
            api_version=checkout.api_version,
            has_api_key=secrets.reveal("processor_api_key") is not None,
            signing_secrets=[part.encode() for part in secrets.parts("webhook_signing_secret")],
            service_tokens=[part.encode() for part in secrets.parts("access_service_token")],
            limits=(Limit(checkout.sessions_per_minute, 60), Limit(checkout.sessions_per_hour, 3600)),
            read_limit=Limit(checkout.access_reads_per_minute, 60),
            revoke_on_refund=checkout.revoke_on_refund,
            trusted_proxies=self.server.trusted_proxies,
        )

    def fraud_plan(self, secrets: Secrets) -> FraudPlan:
        """Return the plan of the fraud screening: a deployment that sells something watches for clusters."""
        watches = bool(self.checkout.products) and secrets.reveal("processor_api_key") is not None
        return FraudPlan(watches, (*self.fraud.own_addresses, *self.server.trusted_proxies))

    def deployment(self, store_key: bytes) -> str:
        """Return the id of this deployment, a digest of its store's key, its mode and its processor."""
        told = [store_key.hex(), self.mode, self.checkout.processor_url.rstrip("/")]
        return sha256(json.dumps(told).encode()).hexdigest()[:16]

    @property
    def monitor_url(self) -> str:
        """Return where the monitor reads the counter: at the public listener, unless another place is named."""
        host = f"[{self.server.host}]" if ":" in self.server.host else self.server.host
        here = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)  # noqa: S104  it is compared, not bound
        return self.monitor.base_url or f"http://{here}:{self.server.port}"

    def live_plan(self, secrets: Secrets) -> LivePlan:
        """Return the plan of the live counter."""
        live, key = self.live, secrets.reveal("analytics_service_account_key")
        return LivePlan(
            has_property=live.property_id is not None,
            has_key=key is not None and is_service_account(key),
            refreshes_itself=live.refresh,
            interval=timedelta(seconds=live.refresh_interval),
            poll_interval=live.poll_interval,
            min_visible=live.min_visible,
            window_minutes=live.window_minutes,
            source=live.source(key),
            limits=Limits(live.tokens_per_hour, live.tokens_per_day),
            paths={page.title: page.path for page in live.pages},
            password_hash=secrets.reveal("admin_password_hash"),
        )
