"""The sections of `orrery.toml` that belong to no domain."""

from datetime import time
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, field_validator, model_validator

from orrery.runtime.quiet_hours import QuietHours
from orrery.runtime.section import Address, Networks, Section, zone_name
from orrery.syntax.base_url import THIS_MACHINE


class ServerSettings(Section):
    """Where the service listens. The private listener must not be reachable from outside (decision 42)."""

    node: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")
    """The name of this service among those that share the store; without one, the name of the machine."""
    host: str = "127.0.0.1"
    port: int = Field(8080, ge=0, le=65535)
    private_host: str = "127.0.0.1"
    private_port: int = Field(8081, ge=0, le=65535)
    trusted_proxies: Networks = ()
    closing_seconds: float = Field(6, ge=0, le=300)

    @field_validator("private_host")
    @classmethod
    def _is_this_machine(cls, host: str) -> str:
        if host not in THIS_MACHINE:
            raise ValueError(f"the private listener must have a loopback address: {', '.join(THIS_MACHINE)}")
        return host

    @model_validator(mode="after")
    def _are_two_listeners(self) -> Self:
        # The system lets one process listen twice, and a request that came in by both is taken for private.
        if self.port == self.private_port != 0:
            raise ValueError("port and private_port must differ")
        return self

    @property
    def address(self) -> str:
        """The address of the public listener for a client on this machine."""
        here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104  it is compared, not bound
        return _address(here, self.port)

    @property
    def private_address(self) -> str:
        """The address of the private listener."""
        return _address(self.private_host, self.private_port)


def _address(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class HasStore(Section):
    """The section of a role that has the path of its store, in one of its keys; each role with a store has one."""

    STORE_KEY: ClassVar[str]

    @property
    def store_file(self) -> Path:
        """The embedded store's file."""
        path: Path = getattr(self, self.STORE_KEY)
        return path

    @property
    def store_address(self) -> str | None:
        """The address of the database that has the place of the file."""
        return None

    def with_store(self, path: Path) -> Self:
        """Return the same with another store, in a file."""
        return self.model_copy(update={self.STORE_KEY: path, "address": None})


class StoreSettings(HasStore):
    """The store of the site: a file, or at `address` a database."""

    STORE_KEY = "path"

    path: Path = Path(".orrery/orrery.db")
    address: str | None = Field(None, pattern="^postgres(ql)?://")
    least_free_mib: int = Field(64, ge=0)
    """Below this room on its disk, in MiB, the part `disk` is broken."""

    @property
    def store_address(self) -> str | None:
        return self.address


class BackupSettings(Section):
    """The folder and number of the dated snapshots of `orrery backup`; without a recent one the part is broken."""

    directory: Path | None = None
    keep: int = Field(14, ge=1)


class LogSettings(Section):
    """How the service logs."""

    format: Literal["auto", "json", "console"] = "auto"
    level: Literal["debug", "info", "warning", "error"] = "info"


class SecretFiles(Section):
    """The folder of the secret files, unless the service manager names a credentials directory."""

    directory: Path | None = None


class TlsSettings(Section):
    """Whose certificates are trusted beside those of the well-known authorities (decision 0048)."""

    ca_file: Path | None = None


_HOURS = r"^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d$"


class PushSettings(Section):
    """The owner's push messages, by ntfy."""

    url: Address | None = None
    topic: str | None = None
    quiet: str | None = Field(default=None, pattern=_HOURS)
    time_zone: Annotated[str, AfterValidator(zone_name)] = "UTC"

    @model_validator(mode="after")
    def _quiet_for_less_than_a_day(self) -> Self:
        if self.quiet_hours and self.quiet_hours.begins == self.quiet_hours.ends:
            raise ValueError("quiet must end at another time than it begins")
        return self

    @property
    def quiet_hours(self) -> QuietHours | None:
        """The hours in which pushes below priority 5 wait."""
        if self.quiet is None:
            return None
        begins, ends = map(time.fromisoformat, self.quiet.split("-"))
        return QuietHours(begins, ends, ZoneInfo(self.time_zone))


class MailSettings(Section):
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


class HeartbeatSettings(Section):
    """An address that the workers fetch each minute while all is well, so that silence is noticed elsewhere."""

    url: Address | None = None


class SandboxSettings(Section):
    """Only in sandbox mode: the file of the clock that service and sandbox share."""

    clock_file: Path | None = None
