"""`orrery demo`: service, sandbox and shop in one process, with nothing to set up.

It writes settings and secrets as an owner would, once, and then runs the service from them like any other.
"""

import json
import secrets as random
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
import uvloop
from rich.markup import escape

from orrery.adapters.ssh_keygen import made_key
from orrery.app.cli.sandbox import (
    PROPERTY_ID,
    PUBLISHED,
    SandboxPlan,
    SandboxThread,
    clock_file,
    stored_key,
)
from orrery.app.cli.serve import serve
from orrery.app.settings.reader import DEMO_FILE, Settings, SettingsError, find_settings_file, load
from orrery.app.store_place import file_place
from orrery.approvals.settings import ApprovalSettings
from orrery.errors import NotConfigured
from orrery.gateway.settings import MINIMUM_GRACE
from orrery.logs import Redaction, configure
from orrery.runtime.console.terminal import new_console
from orrery.sandbox.cloud.resources import (
    IDENTITY_HEADER,
    LOCATION,
    MACHINE,
    RESOURCE_GROUP,
    SUBSCRIPTION,
    TOKEN_PATH,
)
from orrery.sandbox.serving import authority_file, certificate_of
from orrery.sandbox.site import create_site, sites
from orrery.syntax.admin_password import hashed

_SECRETS = {
    "processor_api_key": "sk_test_",
    "webhook_signing_secret": "whsec_",
    "access_service_token": "",
    "gateway_ping_token": "",
}

TICK = 5
"""Seconds between two refreshes and between two reads of a pill: a person is watching (decision 26)."""

CLOUD_FACTOR = 30.0
"""How many times as fast the sandbox's cloud is: an outage takes seconds, and a person is watching."""

OWNER_ADDRESS = "owner@northwind.example"
"""Where the cloud's action group sends its e-mail: the sandbox's mail page."""

ADMIN_PASSWORD_FILE = "admin_password"  # noqa: S105  a name, no password
"""Where the demo keeps the owner's password, beside the folder of secrets, which holds its hash only."""

OWNER_KEY_FILE = "owner_key"
"""The key by which the demo's owner signs approvals (decision 15)."""

_SETTINGS = """\
# Written by `orrery demo` at each start.
mode = "sandbox"

[server]
port = {port}
private_port = {private_port}

[store]
path = {store}

[secrets]
directory = {secrets}

[sandbox]
clock_file = {clock}

[checkout]
processor_url = "{sandbox}"

{sites}
[live]
property_id = "{property}"
provider_url = "{sandbox}"
refresh_interval = {tick}
poll_interval = {tick}
tokens_per_hour = 14000
tokens_per_day = 200000

[[live.pages]]
title = "Northwind practice"
path = "/"

[[live.pages]]
title = "Cloud Navigator"
path = "/shop/northwind/cloud-navigator"

[monitor]
file = {issues}

[gateway]
pings = true
ping_grace = {grace}

[push]
url = "{sandbox}/push"
topic = "owner"

[mail]
host = "127.0.0.1"
port = {smtp_port}
security = "none"
sender = "shop@northwind.example"

[tls]
ca_file = {authority}

[cloud]
subscription = "{subscription}"
resource_group = "{group}"
machine = "{machine}"
location = "{location}"
email = "{owner}"
management_url = "https://localhost:{cloud}"
site_url = "{base}"

[approvals]
{approvals}
"""


@dataclass(frozen=True, slots=True)
class DemoPorts:
    """The demo's ports on 127.0.0.1."""

    public: int
    private: int
    sandbox: int
    smtp: int
    cloud: int

    @property
    def base(self) -> str:
        """Return the public address."""
        return f"http://127.0.0.1:{self.public}"

    @property
    def sandbox_base(self) -> str:
        """Return the sandbox's address."""
        return f"http://127.0.0.1:{self.sandbox}"


def command(
    port: Annotated[int, typer.Option(help="The public port on 127.0.0.1.")] = 8080,
    private_port: Annotated[int, typer.Option(help="The private port on 127.0.0.1.")] = 8081,
    sandbox_port: Annotated[int, typer.Option(help="The sandbox's port on 127.0.0.1.")] = 8090,
    smtp_port: Annotated[int, typer.Option(help="The sandbox's mail port on 127.0.0.1.")] = 8025,
    cloud_port: Annotated[int, typer.Option(help="The port of the sandbox's cloud on 127.0.0.1.")] = 8091,
    data: Annotated[Path, typer.Option(help="Where everything is kept.")] = Path(".orrery"),
) -> None:
    """Run until Ctrl-C; a second run uses the records of the first one."""
    ports = DemoPorts(port, private_port, sandbox_port, smtp_port, cloud_port)
    file = _prepared(data.resolve(), ports)
    settings, secrets = load(file)
    configure("auto", "warning", Redaction(secrets.values()))
    plan = SandboxPlan(
        data=data,
        port=ports.sandbox,
        smtp_port=ports.smtp,
        api_key=secrets.reveal("processor_api_key") or "",
        webhook_url=f"{ports.base}/guided/api/webhook",
        webhook_secret=secrets.reveal("webhook_signing_secret") or "",
        analytics_key=secrets.reveal("analytics_service_account_key"),
        quotas=PUBLISHED,
        service_url=ports.base,
        ping_token=secrets.reveal("gateway_ping_token") or "",
        cloud_port=ports.cloud,
        cloud_factor=CLOUD_FACTOR,
        cloud_owner=OWNER_ADDRESS,
    )
    announce = partial(_announce, settings, ports, _admin_password(data), file)
    sandbox = SandboxThread(plan)
    sandbox.start()
    try:
        with suppress(KeyboardInterrupt):
            uvloop.run(serve(settings, secrets, create_site(ports.base), announce))
    finally:
        sandbox.stop()


def _prepared(data: Path, ports: DemoPorts) -> Path:
    """Write the settings, the secrets and a store unless they are there; return the settings file."""
    folder = data / "secrets"
    data.mkdir(mode=0o755, parents=True, exist_ok=True)  # whatever the umask: other users may not write there
    folder.mkdir(mode=0o700, exist_ok=True)
    for name, prefix in _SECRETS.items():
        if not (folder / name).exists():
            _write_secret(folder / name, f"{prefix}{random.token_hex(16)}")
    _ = stored_key(folder / "analytics_service_account_key", ports.sandbox)
    _write_secret(folder / "admin_password_hash", hashed(_admin_password(data).encode()))
    _ = certificate_of(data, "cloud")
    settings = data / DEMO_FILE.name
    settings.touch(mode=0o644)
    _ = settings.write_text(_settings_text(data, folder, ports), encoding="utf-8")
    if not _store(data).exists():
        file_place(_store(data)).create()
    return settings


def _store(data: Path) -> Path:
    return data / "orrery.db"


def _admin_password(data: Path) -> str:
    """Return the owner's password, made unless it is there."""
    file = data / ADMIN_PASSWORD_FILE
    if not file.exists():
        _write_secret(file, "-".join(random.token_hex(2) for _ in range(4)))
    return file.read_text(encoding="utf-8").strip()


def _write_secret(file: Path, value: str) -> None:
    file.touch(mode=0o600)
    _ = file.write_text(f"{value}\n", encoding="utf-8")


def _settings_text(data: Path, folder: Path, ports: DemoPorts) -> str:
    return _SETTINGS.format(
        port=ports.public,
        private_port=ports.private,
        smtp_port=ports.smtp,
        base=ports.base,
        sandbox=ports.sandbox_base,
        sites="\n\n".join(_tables(ports)),
        property=PROPERTY_ID,
        tick=TICK,
        grace=MINIMUM_GRACE,
        issues=json.dumps(str(data / "realtime-degraded.json")),
        store=json.dumps(str(_store(data))),
        secrets=json.dumps(str(folder)),
        clock=json.dumps(str(clock_file(data))),
        authority=json.dumps(str(authority_file(data, "cloud"))),
        subscription=SUBSCRIPTION,
        group=RESOURCE_GROUP,
        machine=MACHINE,
        location=LOCATION,
        owner=OWNER_ADDRESS,
        cloud=ports.cloud,
        approvals=_own_key(data / OWNER_KEY_FILE),
    )


def _tables(ports: DemoPorts) -> Iterator[str]:
    """Yield the tables of the sites and of what they sell."""
    for site in sites():
        at = f"http://{site.host}:{ports.public}"
        own = {"name": site.name, "seller": site.seller, "language": site.language, "colour": site.colour}
        practice = f"{at}/practice/{{vendorSlug}}/{{certCode}}"
        yield _table("[[sites]]", own | {"origin": at, "practice_url": practice})
        for one in site.products:
            key = {"vendor_slug": one.vendor, "cert_code": one.cert, "title": one.title, "site": site.name}
            promise = site.words["promise"].format("{CERT}")
            yield _table("[[checkout.products]]", key | {"price_id": one.price_id, "trust_copy": promise})


def _table(name: str, keys: Mapping[str, str]) -> str:
    return "\n".join([name, *(f"{key} = {json.dumps(value)}" for key, value in keys.items())])


def _own_key(file: Path) -> str:
    """Return the settings of the owner's key, made unless it is there; none where OpenSSH's tool is missing."""
    try:
        public = made_key(file)
    except NotConfigured:
        return ""
    return f"owner_keys = [{json.dumps(public)}]\nsigning_key = {json.dumps(str(file))}"


def _is_found(settings: Path) -> bool:
    """Return whether commands that are typed here find the demo's settings without `--config`."""
    try:
        return find_settings_file(None, {}).resolve() == settings
    except SettingsError:
        return False


def _announce(settings: Settings, ports: DemoPorts, password: str, file: Path) -> None:
    """Print the addresses, the admin password and, where commands need it, the settings `file`."""
    console = new_console()
    console.print("\n[bold]Orrery demo[/bold]\n")
    for name, address, what in (
        ("Shop", f"{ports.base}/", "buy here; nothing is charged"),
        ("", f"http://localhost:{ports.public}/", "another site, in German"),
        ("Admin", f"{ports.base}/admin", f"who is where; the password is {password}"),
        ("Owner", f"http://127.0.0.1:{ports.private}/owner", "how everything is; the same password, any name"),
        ("Sandbox", f"{ports.sandbox_base}/", "what the vendors see; faults; the clock"),
        ("", f"{ports.sandbox_base}/analytics", "move the visitors, and watch the pill"),
        ("", f"{ports.sandbox_base}/gateway", "stop the gateway, and watch the owner's page"),
        ("", f"{ports.sandbox_base}/cloud", "shut its machine down, and watch it come back"),
        ("", f"{ports.sandbox_base}/mail", "the buyer's e-mail"),
        ("", f"{ports.sandbox_base}/push", "the owner's push messages"),
        ("Private", f"http://127.0.0.1:{ports.private}/docs", "the operations; also /readyz, /metrics"),
    ):
        console.print(f"  [bold]{name:8}[/bold] {address:32} [dim]{what}[/dim]")
    program = escape(quote(sys.argv[0])) if Path(sys.argv[0]).name == "orrery" else "orrery"
    console.print(
        f"\nWhat waits for an answer, with made-up mail: [bold]{program} cockpit --sample[/bold].\n\n"
        "The commands of the cloud, such as `orrery gateway timeline`, sign in to the sandbox's after:",
        soft_wrap=True,
    )
    console.print(
        f"  export IDENTITY_ENDPOINT={ports.sandbox_base}{TOKEN_PATH} IDENTITY_HEADER={IDENTITY_HEADER}",
        markup=False,
        soft_wrap=True,
    )
    if not _is_found(file):
        console.print(
            "\nIn each terminal in which you type commands, so that they find these records:\n"
            f"  export ORRERY_CONFIG={quote(str(file))}",
            markup=False,
            soft_wrap=True,
        )
    console.print(f"\nThe records: [bold]{program} access list[/bold]. ", end="", soft_wrap=True)
    if settings[ApprovalSettings].owner_keys:
        console.print(f"What waits for your approval: [bold]{program} approvals list[/bold].", soft_wrap=True)
    else:
        console.print("Nothing can be approved: there is no ssh-keygen (sudo apt-get install openssh-client).")
    console.print("Ctrl-C ends everything.\n")
