"""`[tls] ca_file`: every client believes the authority that the owner names, and none does without it."""

import ast
import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from aiosmtpd.smtp import SMTP
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from typer.testing import CliRunner, Result

from orrery.adapters.clock import SystemClock
from orrery.adapters.movable_clock import MovableClock
from orrery.adapters.public_shop import HttpShop
from orrery.adapters.sqlite import create
from orrery.app.adapters import ADAPTERS, Adapters
from orrery.app.runner import runner_of
from orrery.app.settings.reader import Secrets, Settings, load
from orrery.errors import OrreryError
from orrery.live.cli.live import group
from orrery.live.settings import MonitorSettings
from orrery.ports.analytics import Analytics
from orrery.ports.cloud import Cloud
from orrery.ports.comms.mailboxes import Mailboxes
from orrery.ports.comms.tasks import TaskBooks
from orrery.ports.counter import Counter
from orrery.ports.delegated import DelegatedApi
from orrery.ports.heartbeat import Heartbeat
from orrery.ports.identity import IdentityProvider
from orrery.ports.notifier import DeliveryFailed, Notifiers, OutgoingMessage
from orrery.ports.processor import Processor, ProcessorReads, ProcessorWrites
from orrery.ports.shop import Shops
from orrery.ports.site_reports import SiteReports
from orrery.ports.tracker import Tracker
from orrery.ports.web_sites import SiteRequest, WebSites
from orrery.runtime.module import target_of
from orrery.runtime.settings import TlsSettings
from orrery.sandbox.analytics.access import TOKEN_PATH, config_of, service_account_key
from orrery.sandbox.app import EVERYTHING, SandboxConfig, create_app
from orrery.sandbox.tracker import REPOSITORY
from orrery.tls import WAITING_DOES_NOT_HELP, advice
from orrery.trust import Trust
from tests.support.certificates import Authority, make_authority, server_context
from tests.support.logged import logged
from tests.support.package_copy import ROOT
from tests.support.program import run_orrery
from tests.support.refresh_endpoint import DONE
from tests.support.serving import serving
from tests.support.waiting import PATIENCE

UNKNOWN = "certificate comes from an unknown authority"
PROPERTY = "123456789"
KEY, TOKEN = "sk_test_orrery_sandbox", "token-of-the-sandbox"
LETTER = OutgoingMessage("1", "A title", "A body.", "owner@northwind.example")
MOMENT = "2026-03-01T12:00:00.000000Z"


@dataclass
class Vendors:
    """Everybody whom a deployment asks, at one https address; `folder` holds its settings."""

    port: int
    folder: Path
    authority: Path

    @property
    def url(self) -> str:
        """The address."""
        return f"https://localhost:{self.port}"

    def settings(self, *, believed: bool, more: str = "") -> Path:
        """Write the settings of a deployment that asks them, and return the file."""
        file = self.folder / ("believing.toml" if believed else "plain.toml")
        ca_file = f'[tls]\nca_file = "{self.authority.name}"\n' if believed else ""
        file.write_text(
            _SETTINGS.format(url=self.url, property=PROPERTY, repository=REPOSITORY, ca_file=ca_file, more=more)
        )
        return file

    def loaded(self, *, believed: bool, more: str = "") -> "Deployment":
        """Return those settings as every command reads them."""
        return Deployment(*load(self.settings(believed=believed, more=more)))


_SETTINGS = """\
mode = "sandbox"
{ca_file}
[secrets]
directory = "secrets"
[checkout]
processor_url = "{url}"
success_url = "https://shop.example/thanks?session={{CHECKOUT_SESSION_ID}}"
cancel_url = "https://shop.example/"
[live]
property_id = "{property}"
provider_url = "{url}"
[monitor]
base_url = "{url}"
tracker = "github"
github_url = "{url}/tracker"
repository = "{repository}"
[heartbeat]
url = "{url}/api/stats"
[push]
url = "{url}/push"
topic = "owner"
{more}
"""


@dataclass
class Deployment:
    """Settings and secrets, and the adapters that the composition root makes of them."""

    settings: Settings
    secrets: Secrets

    def __post_init__(self) -> None:
        self.port = Adapters(self.settings, self.secrets, SystemClock()).port

    async def account(self) -> None:
        """Ask the processor by its library."""
        await self.port(ProcessorReads).get_account()

    async def sales(self) -> None:
        """Ask the processor as the checkout does."""
        await self.port(Processor).get_account()

    async def patch(self) -> None:
        """Ask the processor for what its library has not."""
        await self.port(ProcessorWrites).update_account({"business_profile.name": "Northwind"})

    async def token(self) -> None:
        """Mint a token."""
        await self.port(Analytics).check()

    async def report(self) -> None:
        """Ask for a report, with a token."""
        await self.port(Analytics).active_users(deadline=PATIENCE)

    async def push(self) -> None:
        """Send a push."""
        await self.notify("push")

    async def check_push(self) -> None:
        """Ask whether pushes are taken."""
        await self.port(Notifiers).by_channel["push"].check()

    async def notify(self, channel: str) -> None:
        """Send a message."""
        await self.port(Notifiers).by_channel[channel].send(LETTER)

    async def tracker(self) -> None:
        """Look for an issue."""
        await self.port(Tracker).find_open("realtime-degraded")

    async def heartbeat(self) -> None:
        """Tell the watcher."""
        await self.port(Heartbeat).send()

    async def counter(self) -> None:
        """Read the counter as the monitor does."""
        with logged() as events:
            read = await self.port(Counter).read("site")
        if read is None:
            raise OrreryError(str(events))

    async def shop(self) -> None:
        """Start a session as `orrery checkout verify` does."""
        trust = Trust(self.settings[TlsSettings].ca_file)
        shop = HttpShop(self.settings[MonitorSettings].base_url or "", trust)
        started = await shop.start(product_type="cert", vendor_slug="v", cert_code="c", key="k")
        if started.session_id is None:
            raise OrreryError(started.why)

    async def site(self) -> None:
        """Ask a site as `orrery site check` does."""
        _ = await self.port(WebSites).ask(self.settings[MonitorSettings].base_url or "", SiteRequest("/"))


Client = tuple[type, str, Callable[[Deployment], Awaitable[None]]]
"""The port of a client, whose certificate it names where the error itself does, and what it asks."""

CLIENTS: dict[str, Client] = {
    "sales": (Processor, "The processor", Deployment.sales),
    "processor": (ProcessorReads, "The processor", Deployment.account),
    "processor's PATCH": (ProcessorWrites, "The processor", Deployment.patch),
    "token endpoint": (Analytics, "The token endpoint", Deployment.token),
    "report": (Analytics, "The token endpoint", Deployment.report),
    "push": (Notifiers, "The push service", Deployment.push),
    "push check": (Notifiers, "The push service", Deployment.check_push),
    "tracker": (Tracker, "GitHub", Deployment.tracker),
    "heartbeat": (Heartbeat, "The watcher", Deployment.heartbeat),
    "public counter": (Counter, "", Deployment.counter),
    "shop": (Shops, "", Deployment.shop),
    "site": (WebSites, "", Deployment.site),
}


ELSEWHERE = {
    "tests/journeys/test_tracks.py": {IdentityProvider, DelegatedApi},
    "tests/browser/test_cockpit_mailboxes.py": {Mailboxes, TaskBooks},
    "tests/journeys/test_cloud_page.py": {Cloud},
    "tests/systemd/test_cloud_report.py": {SiteReports},
}
"""The clients of other roles: where each asks somebody of such an authority."""


def asks_outside(target: str) -> bool:
    """Return whether the function that makes a port's adapter hands a `Trust` over, or one that it uses does."""
    module, _, name = ADAPTERS[target].partition(":")
    tree = ast.parse(Path(import_module(module).__file__ or "").read_text(encoding="utf-8"))
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    used = [name]
    for one in used:
        inside = (node.id for node in ast.walk(functions[one]) if isinstance(node, ast.Name))
        used += [other for other in inside if other in functions and other not in used]
    return any("adapters.trust" in ast.unparse(functions[one]) for one in used)


def test_each_client_is_tried() -> None:
    """Whatever is made with a `Trust`, for any role, is one of `CLIENTS` or tried elsewhere."""
    elsewhere = {port for ports in ELSEWHERE.values() for port in ports}
    tried = {target_of(port) for port in (*elsewhere, *(port for port, _, _ in CLIENTS.values()))}
    assert {target for target in ADAPTERS if asks_outside(target)} == tried
    assert all("ca_file" in (ROOT / file).read_text(encoding="utf-8") for file in ELSEWHERE)


async def stats(request: Request) -> Response:
    """Answer a read and a refresh as the live counter does."""
    if request.method == "POST":
        return JSONResponse(DONE)
    return JSONResponse({"active": 5, "pages": [], "generated_at": MOMENT, "age_s": 1.5, "stale": False})


async def checkout(_: Request) -> Response:
    """Answer as the checkout does."""
    return JSONResponse({"id": "cs_test_1"})


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Return an authority that nobody knows."""
    return make_authority(tmp_path_factory.mktemp("deployment"))


@contextmanager
def serving_vendors(authority: Authority, clock: MovableClock, config: SandboxConfig) -> Generator[None]:
    """Run a sandbox over TLS, at the port of its address."""
    listener = socket.create_server(("127.0.0.1", int(config.base_url.rpartition(":")[2])))
    with serving(create_app(config, clock, clock.advance), listener, authority.certify()):
        yield


@pytest.fixture(scope="module")
def vendors(authority: Authority) -> Generator[Vendors]:
    """Run everybody who is asked."""
    folder = authority.file.parent
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = int(held.getsockname()[1])
    found = Vendors(port, folder, authority.file)
    key = service_account_key(f"{found.url}{TOKEN_PATH}")
    routes = (
        Route("/api/stats", stats, methods=["GET", "POST"]),
        Route("/guided/api/checkout", checkout, methods=["POST"]),
    )
    config = SandboxConfig(
        found.url,
        {KEY: frozenset({EVERYTHING})},
        (),
        smtp_port=None,
        analytics=config_of(key, PROPERTY),
        extra_routes=routes,
    )
    secrets = folder / "secrets"
    secrets.mkdir(mode=0o700)
    given = {"processor_api_key": KEY, "tracker_token": TOKEN, "analytics_service_account_key": key}
    for name, value in given.items():
        (secrets / name).write_text(value)
    with serving_vendors(authority, MovableClock(folder / "clock"), config):
        yield found


@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_believes_it(vendors: Vendors, client: str) -> None:
    """A vendor of the authority is refused without the setting, with a word about it, and answers with it."""

    async def ask(*, believed: bool) -> None:
        await tried(vendors.loaded(believed=believed))

    _, who, tried = CLIENTS[client]
    with pytest.raises(OrreryError, match=f"^{who}.*{UNKNOWN}") as refused:
        asyncio.run(ask(believed=False))
    assert "tls.ca_file" in str(refused.value)
    assert not who or advice(refused.value, "Check the network.") == WAITING_DOES_NOT_HELP
    asyncio.run(ask(believed=True))


class Taken:
    """What a mail server does with a letter: it takes it."""

    async def handle_DATA(self, *_: object) -> str:  # noqa: N802  aiosmtpd's name
        """Take one."""
        return "250 taken"


@asynccontextmanager
async def mail_server(authority: Authority, security: str) -> AsyncGenerator[int]:
    """Run a mail server whose certificate is the authority's; yield its port."""
    context, loop = server_context(authority.certify()), asyncio.get_running_loop()

    def greet() -> SMTP:
        inside = context if security == "starttls" else None
        return SMTP(Taken(), hostname="localhost", loop=loop, tls_context=inside, require_starttls=bool(inside))

    server = await loop.create_server(greet, "127.0.0.1", 0, ssl=context if security == "tls" else None)
    async with server:
        yield int(server.sockets[0].getsockname()[1])


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_the_mail_client_believes_it(vendors: Vendors, authority: Authority, security: str) -> None:
    """A mail server of the authority is refused without the setting, and takes the letter with it."""

    async def send(*, believed: bool) -> None:
        async with mail_server(authority, security) as port:
            mail = f'[mail]\nhost = "localhost"\nport = {port}\nsecurity = "{security}"\nsender = "s@n.example"'
            await vendors.loaded(believed=believed, more=mail).notify("email")

    with pytest.raises(DeliveryFailed, match=UNKNOWN):
        asyncio.run(send(believed=False))
    asyncio.run(send(believed=True))


def refreshed(*words: str) -> Result:
    """Return what came of `orrery live refresh`."""
    return CliRunner().invoke(group, ["refresh", *words], obj=runner_of, env={"ADMIN_PASSWORD": "open sesame"})


def test_the_refresh_by_hand_believes_it(
    vendors: Vendors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`live refresh` with an address believes what the settings name, or the variable where no settings are."""
    monkeypatch.chdir(tmp_path)
    assert UNKNOWN in refreshed(vendors.url).stdout
    assert refreshed(vendors.url, "--config", str(vendors.settings(believed=True))).exit_code == 0
    monkeypatch.setenv("ORRERY_TLS__CA_FILE", str(vendors.authority))
    assert refreshed(vendors.url).exit_code == 0


def test_settings_that_nobody_named_stop_no_emergency(
    vendors: Vendors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings that cannot be used are told, and stop it when they are named: else it goes on without them."""
    monkeypatch.chdir(tmp_path)
    Path("orrery.toml").write_text("nonsense = 1\n")
    found = refreshed(vendors.url)
    assert "nonsense" in found.stderr
    assert "Only the well-known certificate authorities are trusted." in found.stderr
    assert UNKNOWN in found.stdout
    assert not refreshed(vendors.url, "--config", "orrery.toml").stdout


def test_the_whole(vendors: Vendors) -> None:
    """`orrery doctor` reaches the vendors when the settings name the authority, and else says what is wrong."""
    create(vendors.folder / ".orrery" / "orrery.db")
    unknown: dict[bool, set[str]] = {}
    for believed in (False, True):
        said = run_orrery("doctor", "--json", "--config", str(vendors.settings(believed=believed, more=_PRODUCT)))
        unknown[believed] = {one["part"] for one in json.loads(said.stdout) if UNKNOWN in one["why"]}
    assert unknown[False] >= {"processor account", "analytics provider", "push"}
    assert unknown[True] == set()


_PRODUCT = """\
[[checkout.products]]
vendor_slug = "northwind"
cert_code = "cloud"
title = "Cloud"
price_id = "price_1"
"""
