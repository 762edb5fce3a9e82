"""A whole deployment as an owner has it: settings, a folder of secrets, service and sandbox as processes."""

import json
import signal
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from subprocess import CompletedProcess

import httpx2

from orrery.adapters.sqlite import create
from orrery.app.cli.sandbox import KEY_FILE, PROPERTY_ID
from orrery.runtime.references import References
from orrery.runtime.watch import EVERY
from tests.support.marked import SECRETS, analytics_key, assert_unmarked
from tests.support.ports import free_ports, is_taken
from tests.support.program import Program, typed
from tests.support.records import Records
from tests.support.sandbox import Sandbox
from tests.support.waiting import IN_CLEAR, PATIENCE, eventually

PRICE = "price_cloud_navigator"
"""The price that `orrery sandbox` knows from the start: 49.00 USD."""

SIGNING_SECRET = SECRETS["webhook_signing_secret"].splitlines()[1]
ANALYTICS_KEY = "analytics_service_account_key"
PRODUCTS = 12

_SETTINGS = """\
mode = {mode}

[server]
{node}
port = {public}
private_port = {private}
closing_seconds = {closing}
trusted_proxies = ["127.0.0.1"]

[store]
path = {store}
{more_store}

[log]
format = "json"

[secrets]
directory = {secrets}

[sandbox]
clock_file = {clock}

[checkout]
processor_url = "http://127.0.0.1:{sandbox}"
success_url = "http://127.0.0.1:{public}/success?session_id={{CHECKOUT_SESSION_ID}}"
cancel_url = "http://127.0.0.1:{public}/cancelled"
practice_url = "https://practice.example.test/{{vendorSlug}}/{{certCode}}"
{more_checkout}

[push]
url = "http://127.0.0.1:{sandbox}/push"
topic = "owner"

[mail]
host = "127.0.0.1"
port = {smtp}
security = "none"
sender = "shop@northwind.example"

{counter}

{more}

{products}
"""

_COUNTER = """\
[live]
property_id = "{property}"
provider_url = "http://127.0.0.1:{sandbox}"
refresh = {refresh}
refresh_interval = {interval}
{more}

[monitor]
file = {issues}
{monitor}
"""


@dataclass
class Product:
    """One product of the catalogue."""

    cert_code: str
    price_id: str | None = PRICE
    trust_copy: str | None = None
    vendor_slug: str = "northwind"
    site: str | None = None

    def toml(self) -> str:
        """Return its table of the settings."""
        lines = ["[[checkout.products]]", f'vendor_slug = "{self.vendor_slug}"', f'cert_code = "{self.cert_code}"']
        lines += [f'title = "{self.cert_code} exam"']
        lines += [f'price_id = "{self.price_id}"'] if self.price_id else []
        lines += [f'site = "{self.site}"'] if self.site else []
        lines += [f"trust_copy = {json.dumps(self.trust_copy, ensure_ascii=False)}"] if self.trust_copy else []
        return "\n".join(lines)


@dataclass
class CounterSettings:
    """How visitors are counted: whether the service refreshes by itself, and every how many seconds.

    `more` and `monitor` are further lines of the settings' sections [live] and [monitor].
    """

    refresh: bool = False
    interval: int = 60
    more: str = ""
    monitor: str = ""


@dataclass
class Deployment:
    """One deployment in a folder of its own, on ports of its own. Nothing runs until it is started.

    `products` are sold beside the plain ones (`cert-1` and so on) that `fresh_product` hands out; `more_checkout`
    and `more_store` are further lines of the settings' sections [checkout] and [store], `more` further sections;
    `closing` is for how many seconds a service goes on that is stopped;
    without a `counter` no visitors are counted; with a `guest` the sandbox pings the service as a gateway's guest
    does; `plain` is how many plain products there are; `store` is the store's file, which is made.
    """

    folder: Path
    products: list[Product] = field(default_factory=list[Product])
    more_checkout: str = ""
    more_store: str = ""
    more: str = ""
    closing: float = 0
    mode: str = "sandbox"
    plain: int = PRODUCTS
    counter: CounterSettings | None = None
    guest: bool = False
    secrets: dict[str, str] = field(default_factory=lambda: dict(SECRETS))
    store: Path = field(init=False)
    ports: tuple[int, int, int, int] = field(init=False)
    answers: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        public, private, sandbox, smtp = free_ports(4)
        self.ports = (public, private, sandbox, smtp)
        if self.counter:
            self.secrets[ANALYTICS_KEY] = analytics_key(sandbox)
        self.store = self.folder / "store" / "orrery.db"
        self._programs: list[Program] = []
        self._numbers = count(1)
        self.client = httpx2.Client(
            trust_env=False, timeout=PATIENCE, verify=IN_CLEAR, event_hooks={"response": [self._remember]}
        )
        self.configure()
        create(self.store)

    @property
    def public(self) -> str:
        """The address of the public listener."""
        return f"http://127.0.0.1:{self.ports[0]}"

    @property
    def private(self) -> str:
        """The address of the private listener."""
        return f"http://127.0.0.1:{self.ports[1]}"

    @property
    def config(self) -> Path:
        """The settings file."""
        return self.folder / "orrery.toml"

    @property
    def issues(self) -> Path:
        """The file in which the monitor opens issues, unless it has another tracker."""
        return self.folder / "issues.json"

    @property
    def sandbox(self) -> Sandbox:
        """The switches and the pages of the sandbox."""
        return Sandbox(f"http://127.0.0.1:{self.ports[2]}", self.secrets["processor_api_key"])

    @property
    def records(self) -> Records:
        """What is in the store, whether the service runs or not."""
        return Records(self.store, self.folder / "sandbox" / "clock")

    def reference(self, session_id: str) -> str:
        """Return what stands for a session wherever its id must not go."""
        return References.of_store(self.records.scan("index-key")["index-key"]).of(session_id)

    def configure(self) -> None:
        """Write settings and secrets as an owner would; secrets of before that are no more are taken away."""
        secrets = self.folder / "secrets"
        secrets.mkdir(mode=0o700, parents=True, exist_ok=True)
        for file in secrets.iterdir():
            file.unlink()
        for name, value in self.secrets.items():
            (secrets / name).write_text(f"{value}\n", encoding="utf-8")
        self.config.write_text(self._settings(*self.ports[:2]), encoding="utf-8")

    def _settings(self, public: int, private: int, node: str = "", more: str = "") -> str:
        _, _, sandbox, smtp = self.ports
        products = [*(Product(f"cert-{number}") for number in range(1, self.plain + 1)), *self.products]
        return _SETTINGS.format(
            mode=json.dumps(self.mode),
            node=node and f'node = "{node}"',
            more=f"{self.more}\n{more}",
            closing=self.closing,
            more_store=self.more_store,
            public=public,
            private=private,
            sandbox=sandbox,
            smtp=smtp,
            store=json.dumps(str(self.store)),
            secrets=json.dumps(str(self.folder / "secrets")),
            clock=json.dumps(str(self.folder / "sandbox" / "clock")),
            more_checkout=self.more_checkout,
            counter=self._counting() if self.counter else "",
            products="\n".join(product.toml() for product in products),
        )

    def _counting(self) -> str:
        assert self.counter is not None
        return _COUNTER.format(
            property=PROPERTY_ID,
            sandbox=self.ports[2],
            refresh=json.dumps(self.counter.refresh),
            interval=self.counter.interval,
            more=self.counter.more,
            issues=json.dumps(str(self.issues)),
            monitor=self.counter.monitor.format(sandbox=self.sandbox.base_url),
        )

    def start_sandbox(self) -> Program:
        """Start the sandbox, whose analytics provider has our key; it takes requests when this returns."""
        data = self.folder / "sandbox"
        data.mkdir(exist_ok=True)
        (data / KEY_FILE).write_text(analytics_key(self.ports[2]), encoding="utf-8")
        options = {
            "--webhook-url": f"{self.public}/guided/api/webhook",
            "--api-key": self.secrets["processor_api_key"],
            "--webhook-secret": SIGNING_SECRET,
            "--port": str(self.ports[2]),
            "--smtp-port": str(self.ports[3]),
            "--data": str(data),
        }
        if self.guest:
            options |= {"--service-url": self.public, "--ping-token": self.secrets["gateway_ping_token"]}
        program = self._start("sandbox", *(word for option in options.items() for word in option))
        self._wait(program, f"{self.sandbox.base_url}/_clock")
        return program

    def start_service(self) -> Program:
        """Start the service; it takes requests when this returns."""
        program = self.launch_service()
        self._wait(program, f"{self.public}/healthz")
        return program

    def launch_service(self, config: Path | None = None, *, ahead: str = "", forked: bool = True) -> Program:
        """Start the service, or that of other settings, which has a log of its own, without waiting for it."""
        log = config and config.with_suffix(".log")
        return self._start("serve", "--config", str(config or self.config), log=log, ahead=ahead, forked=forked)

    def launch_another_service(self, node: str = "", *, more: str = "", ahead: str = "") -> tuple[Program, str]:
        """Start a second service over the same store; return it and its public address, without waiting for it.

        `more` are further sections of its settings; its machine's clock is `ahead`, such as by `+1h`.
        """
        config, address = self.configure_another(node, more=more)
        return self.launch_service(config, ahead=ahead), address

    def configure_another(self, node: str = "", *, more: str = "") -> tuple[Path, str]:
        """Write the settings of another service over the same store; return their file and its public address."""
        public, private = free_ports(2)
        node = node or f"node-{public}"
        config = self.config.with_name(f"orrery-{node}.toml")
        config.write_text(self._settings(public, private, node, more), encoding="utf-8")
        return config, f"http://127.0.0.1:{public}"

    def await_answer(self, program: Program, base_url: str) -> None:
        """Wait until a service takes requests."""
        self._wait(program, f"{base_url}/healthz")

    def readiness(self) -> list[int]:
        """Let the service look at its parts anew; return what both listeners say then about being ready."""
        for _ in range(2):  # the first round to end may have begun before what the test did last
            before = self._looked_at()
            self.sandbox.advance(EVERY.total_seconds())
            eventually(partial(self._expect_later, before))
        return [self.client.get(f"{base}/readyz").status_code for base in (self.public, self.private)]

    def _expect_later(self, before: str) -> None:
        assert self._looked_at() != before

    def _looked_at(self) -> str:
        return self.client.get(f"{self.private}/readyz").json()["at"]

    def await_reconciled(self) -> None:
        """Wait for the first reconciliation, which a fault for a visitor's session would strike instead."""

        def reconciled() -> None:
            assert '"reconciled"' in self.printed()

        eventually(reconciled)

    def orrery(self, *words: str) -> CompletedProcess[str]:
        """Run one of the owner's commands to its end; asked whether to sign, the owner says yes."""
        given = "yes\n" if {"sign", "--sign"} & {*words} else ""
        return typed(*words, "--config", str(self.config), given=given)

    def printed(self) -> str:
        """Return everything that the processes of this deployment have printed."""
        return "\n".join(program.printed() for program in {one.output: one for one in self._programs}.values())

    def leaves_a_listener(self) -> bool:
        """Tell whether anything listens on a port of the service."""
        return any(map(is_taken, self.ports[:2]))

    def fresh_product(self) -> str:
        """Return the code of a product that no other test of this deployment has bought."""
        number = next(self._numbers)
        assert number <= self.plain
        return f"cert-{number}"

    def fresh_address(self) -> str:
        """Return a client address that no other visitor of this deployment has."""
        high, low = divmod(next(_ADDRESSES), 250)
        return f"198.18.{high}.{low + 1}"

    def clear_away(self) -> None:
        """Leave no process behind."""
        self.client.close()
        for program in self._programs:
            program.clear_away()

    def _start(self, *words: str, log: Path | None = None, ahead: str = "", forked: bool = True) -> Program:
        program = Program(words, log or self.folder / f"{words[0]}.log", forked, ahead)
        self._programs.append(program)
        return program

    def _wait(self, program: Program, address: str) -> None:
        def answers() -> None:
            program.require_alive()
            self.client.get(address)

        eventually(answers)

    def _remember(self, response: httpx2.Response) -> None:
        """Keep what a service answered, for a look at what it gives away."""
        if response.url.port not in self.ports[2:]:
            self.answers.append(f"{response.headers} {response.read().decode(errors='replace')}")


_ADDRESSES = count()


@contextmanager
def running(deployment: Deployment) -> Generator[Deployment]:
    """Start sandbox and service; afterwards see that they printed and answered no secret and no address."""
    with beside_a_sandbox(deployment):
        deployment.start_service()
        deployment.await_reconciled()
        yield deployment


@contextmanager
def beside_a_sandbox(deployment: Deployment) -> Generator[Deployment]:
    """Start the sandbox, and leave the service to the test; afterwards see the same as `running`."""
    try:
        deployment.start_sandbox()
        yield deployment
    finally:
        deployment.clear_away()
    assert_unmarked(deployment.printed())
    assert_unmarked("\n".join(deployment.answers))


def stop(program: Program) -> None:
    """End a program as a service manager does, and see that it went."""
    assert program.end(signal.SIGTERM) == 0
    assert not program.leaves_a_process()
