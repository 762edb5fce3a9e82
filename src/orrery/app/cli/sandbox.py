"""`orrery sandbox`: the stand-ins for the vendors, alone, for tests and for trying settings out."""

import socket
import threading
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer
import uvicorn

from orrery.adapters.movable_clock import MovableClock
from orrery.app.cli.listening import listen
from orrery.app.garbage import collect_from_now
from orrery.gateway.cloud.restart import restart
from orrery.ports.cloud.machine import MachineReply, Step
from orrery.sandbox.analytics.access import TOKEN_PATH, config_of, service_account_key, token_url_of
from orrery.sandbox.app import (
    EVERYTHING,
    AnalyticsConfig,
    CloudConfig,
    IdentityConfig,
    PriceSeed,
    SandboxConfig,
    Service,
    create_app,
)
from orrery.sandbox.cloud.resources import MACHINE_ID
from orrery.sandbox.ground import PING_TOKEN as TOKEN
from orrery.sandbox.serving import authority_file, certificate_of
from orrery.sandbox.site import sites

PRICES = tuple(
    PriceSeed(one.price_id, one.title, one.price, one.currency) for site in sites() for one in site.products
)
"""Those of the demo's products."""

API_KEY, SIGNING_SECRET = "sk_test_orrery_sandbox", "whsec_orrery_sandbox"
"""The sandbox's default key and signing secret: no real processor knows them."""

PING_TOKEN = "orrery_sandbox_token_of_the_pings"  # noqa: S105  no real service knows it
"""The token that the sandbox's guest shows by default."""

PROPERTY_ID = "123456789"
"""The analytics property that the sandbox has."""

KEY_FILE = "analytics-key.json"
"""Where `orrery sandbox` keeps the key that it made, in its data folder."""


PUBLISHED = {"tokens_per_day": 200_000, "tokens_per_hour": 40_000, "tokens_per_project_per_hour": 14_000}
"""The provider's quotas of a property today; `AnalyticsConfig` has the specification's (spec 2, Limits)."""


@dataclass(frozen=True, slots=True)
class SandboxPlan:
    """How the sandbox is run: where, with which keys, and where it sends webhooks.

    `analytics_key` is the JSON text of the service-account key that the analytics provider accepts; without one
    there is no such provider. `quotas` replace fields of its `AnalyticsConfig`. `service_url` is the address
    of the service that the gateway's guest pings with `ping_token`; without it there is no guest. The cloud is on
    `cloud_port` by https, if that is given, and its delays are divided by `cloud_factor`; with `cloud_owner`, an
    e-mail address, everything that brings its machine back is there from the start. The identity provider is on
    `identity_port` by https, if that is given.
    """

    data: Path
    port: int
    smtp_port: int
    api_key: str = field(repr=False)
    webhook_url: str
    webhook_secret: str = field(repr=False)
    analytics_key: str | None = field(default=None, repr=False)
    property_id: str = PROPERTY_ID
    quotas: Mapping[str, int] = field(default_factory=dict[str, int])
    service_url: str | None = None
    ping_token: str = field(default="", repr=False)
    cloud_port: int | None = None
    cloud_factor: float = 1.0
    cloud_owner: str | None = None
    identity_port: int | None = None


def command(  # noqa: PLR0913, PLR0917  the options of a command are its function's parameters
    webhook_url: Annotated[str, typer.Option(help="Where webhooks are sent.")],
    api_key: Annotated[str, typer.Option(help="The key that callers must show.")] = API_KEY,
    webhook_secret: Annotated[str, typer.Option(help="What webhooks are signed with.")] = SIGNING_SECRET,
    port: Annotated[int, typer.Option(help="The port on 127.0.0.1.")] = 8090,
    smtp_port: Annotated[int, typer.Option(help="The mail server's port on 127.0.0.1.")] = 8025,
    data: Annotated[Path, typer.Option(help="Where state and clock are kept.")] = Path(".orrery"),
    analytics_key: Annotated[
        Path | None,
        typer.Option(help="The analytics provider's service-account key, made when missing; else one in DATA."),
    ] = None,
    property_id: Annotated[str, typer.Option(help="The analytics property.")] = PROPERTY_ID,
    service_url: Annotated[
        str | None, typer.Option(help="The service's public address, which the gateway's guest pings.")
    ] = None,
    ping_token: Annotated[str, typer.Option(help="The token of these pings.")] = PING_TOKEN,
    cloud_port: Annotated[int | None, typer.Option(help="The cloud's port, by https; none without.")] = None,
    identity_port: Annotated[
        int | None, typer.Option(help="The identity provider's port, by https; none without.")
    ] = None,
) -> None:
    """Run the sandbox until Ctrl-C."""
    if analytics_key and analytics_key.exists():
        key = _read_key(analytics_key)
    else:
        key = stored_key(analytics_key or data / KEY_FILE, port)
    plan = SandboxPlan(
        data,
        port,
        smtp_port,
        api_key,
        webhook_url,
        webhook_secret,
        key,
        property_id,
        service_url=service_url,
        ping_token=ping_token,
        cloud_port=cloud_port,
        identity_port=identity_port,
    )
    server, listener = prepare(plan)
    typer.echo(f"sandbox: http://127.0.0.1:{port}")
    if cloud_port is not None:
        typer.echo(f"cloud: https://localhost:{cloud_port}, which {authority_file(data, 'cloud')} certifies")
    if identity_port is not None:
        typer.echo(
            f"identity: https://localhost:{identity_port}, which {authority_file(data, 'identity')} certifies"
        )
    collect_from_now()
    server.run(sockets=[listener])


def prepare(plan: SandboxPlan) -> tuple[uvicorn.Server, socket.socket]:
    """Return the server and its socket; raise `AddressTakenError` for any of its ports."""
    listener = listen("127.0.0.1", plan.port)
    listen("127.0.0.1", plan.smtp_port).close()  # what takes mail listens in the server, where it could only crash
    clock = MovableClock(clock_file(plan.data))
    config = SandboxConfig(
        base_url=f"http://127.0.0.1:{plan.port}",
        api_keys={plan.api_key: frozenset({EVERYTHING})},
        prices=PRICES,
        state_path=plan.data / "sandbox.db",
        webhook_endpoints=((plan.webhook_url, (plan.webhook_secret,)),),
        smtp_port=plan.smtp_port,
        analytics=_analytics(plan),
        service=_service(plan),
        cloud=_cloud(plan),
        identity=_identity(plan),
    )
    app = create_app(config, clock, clock.advance)
    settings = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=2)
    return uvicorn.Server(settings), listener


def stored_key(file: Path, port: int) -> str:
    """Return the service-account key in a file, made (mode 0600) unless it is there for a sandbox on that port."""
    token_url = f"http://127.0.0.1:{port}{TOKEN_PATH}"
    if file.exists() and token_url_of(text := file.read_text(encoding="utf-8")) == token_url:
        return text
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    _ = file.write_text(key := service_account_key(token_url), encoding="utf-8")
    return key


def _read_key(file: Path) -> str:
    try:
        _ = config_of(text := file.read_text(encoding="utf-8"), PROPERTY_ID)
    except (OSError, TypeError, ValueError) as error:  # TypeError: the private key has a password
        raise typer.BadParameter(f"{file} holds no service account's key.") from error
    return text


def _analytics(plan: SandboxPlan) -> AnalyticsConfig | None:
    key = plan.analytics_key
    return replace(config_of(key, plan.property_id), **plan.quotas) if key else None


def _service(plan: SandboxPlan) -> Service | None:
    return Service(plan.service_url, {TOKEN: plan.ping_token}) if plan.service_url else None


def _restart(alert: str) -> Generator[Step, MachineReply, str]:
    """Do what the runbook does: the sandbox has no PowerShell."""
    return restart(alert, MACHINE_ID)


def _cloud(plan: SandboxPlan) -> CloudConfig | None:
    if plan.cloud_port is None:
        return None
    return CloudConfig(
        listen("127.0.0.1", plan.cloud_port),
        certificate_of(plan.data, "cloud"),
        _restart,
        factor=plan.cloud_factor,
        owner=plan.cloud_owner,
    )


def _identity(plan: SandboxPlan) -> IdentityConfig | None:
    if plan.identity_port is None:
        return None
    return IdentityConfig(listen("127.0.0.1", plan.identity_port), certificate_of(plan.data, "identity"))


class SandboxThread:
    """The sandbox beside the service in one process, so that no kill can leave one of them behind."""

    def __init__(self, plan: SandboxPlan) -> None:
        self._server, listener = prepare(plan)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=10)


def clock_file(data: Path) -> Path:
    """Return the file of the clock that service and sandbox share."""
    return data / "clock"
