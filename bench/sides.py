"""The service and what it is measured beside, each on the server's core, all with the same answer."""

import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.bare import Answer
from bench.service import free_port, pinned, prepare, sandbox, serving, wait_for
from orrery.app.cli.sandbox import KEY_FILE, PROPERTY_ID
from orrery.edge.auth import hashed
from tests.support import nginx

SERVER_CORE = 0
READ = "/api/stats?realtime=1"
PASSWORD = "orrery-bench-password"  # noqa: S105  no real one: the measurement's own admin

NGINX, ROUTE, BARE, SERVICE, EDGE = (
    "nginx return 200",
    "framework route",
    "bare ASGI app",
    "orrery serve",
    "deploy/edge before it",
)

_LIVE = """
[live]
property_id = "{property}"
provider_url = "{provider}"
refresh = false
refresh_interval = {interval}
"""

INTERVAL = 10
"""Seconds after which a refresh asks the provider again."""


@dataclass(frozen=True, slots=True)
class Side:
    """One server: its name in the tables, its port, and its process."""

    name: str
    port: int
    process: int

    @property
    def url(self) -> str:
        """Return where the read is."""
        return f"http://127.0.0.1:{self.port}{READ}"


@contextmanager
def all_sides(folder: Path) -> Generator[dict[str, Side]]:
    """Run them all, the sandbox's analytics provider beside the load; the service holds a fresh count."""
    with ExitStack() as stack:
        service = stack.enter_context(counting_service(folder))
        answer = _answer_of(service)
        found = [
            stack.enter_context(_nginx_return(folder / "return", answer)),
            stack.enter_context(_bare(folder, ROUTE, "route", answer)),
            stack.enter_context(_bare(folder, BARE, "asgi", answer)),
            service,
            stack.enter_context(_edge(folder / "edge", service.port)),
        ]
        yield {side.name: side for side in found}


def asked(side: Side, method: str, address: str) -> str:
    """Return the output of an owner's operation that must succeed."""
    headers = {"Authorization": f"Bearer {PASSWORD}"}
    request = urllib.request.Request(f"http://127.0.0.1:{side.port}{address}", method=method, headers=headers)
    with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310  our own address
        return answer.read().decode()


@contextmanager
def counting_service(folder: Path, fill: Callable[[Path], None] = lambda _: None) -> Generator[Side]:
    """Run the service with a fresh count, over a store that `fill` is given the settings of before."""
    with sandbox(folder / "sandbox") as port:
        live = _LIVE.format(property=PROPERTY_ID, provider=f"http://127.0.0.1:{port}", interval=INTERVAL)
        settings = prepare(folder / "service", more=live)
        secrets = folder / "service" / "secrets"
        (secrets / "admin_password_hash").write_text(hashed(PASSWORD.encode()))
        (secrets / "analytics_service_account_key").write_text((folder / "sandbox" / KEY_FILE).read_text())
        fill(settings)
        with serving(settings, pinned(SERVER_CORE)) as service:
            side = Side(SERVICE, service.port, service.process.pid)
            asked(side, "POST", "/api/stats?refresh=realtime")
            yield side


def _answer_of(side: Side) -> Answer:
    with urllib.request.urlopen(side.url, timeout=20) as answer:  # noqa: S310  our own address
        body = answer.read().decode()
        if '"error"' in body:
            raise RuntimeError(f"There is no count: {body}")
        own = {"date", "connection", "server"}
        return Answer({name: value for name, value in answer.headers.items() if name.lower() not in own}, body)


@contextmanager
def _bare(folder: Path, name: str, kind: str, answer: Answer) -> Generator[Side]:
    file, port = folder / f"{kind}.json", free_port()
    file.write_text(answer.to_json())
    command = [*pinned(SERVER_CORE), sys.executable, "-m", "bench.bare", kind, str(port), str(file)]
    process = subprocess.Popen(command)  # noqa: S603  our own command
    try:
        side = Side(name, port, process.pid)
        wait_for(side.url, time.perf_counter())
        yield side
    finally:
        process.terminate()
        process.wait(20)


@contextmanager
def nginx_return_204(folder: Path) -> Generator[Side]:
    """Run the least that can answer as the access gate does."""
    folder.mkdir()
    port = free_port()
    site = f"server {{ listen 127.0.0.1:{port}; access_log off; location / {{ return 204; }} }}"
    with nginx.running(nginx.write(folder, site), port, pinned(SERVER_CORE)) as process:
        yield Side("nginx return 204", port, process.pid)


@contextmanager
def _nginx_return(folder: Path, answer: Answer) -> Generator[Side]:
    folder.mkdir()
    port = free_port()
    kind = answer.headers["content-type"]
    headers = [
        f"add_header {name} {_quoted(value)};" for name, value in answer.headers.items() if name[:8] != "content-"
    ]
    location = f"default_type {kind}; {' '.join(headers)} return 200 {_quoted(answer.body)};"
    site = f"server {{ listen 127.0.0.1:{port}; access_log off; location / {{ {location} }} }}"
    with nginx.running(nginx.write(folder, site), port, pinned(SERVER_CORE)) as process:
        yield Side(NGINX, port, process.pid)


@contextmanager
def _edge(folder: Path, origin: int) -> Generator[Side]:
    folder.mkdir()
    ports = nginx.Ports.free(origin)
    main = nginx.write(folder, nginx.in_clear(nginx.adapted(folder, ports), ports.site))
    with nginx.running(main, ports.site, pinned(SERVER_CORE)) as process:
        yield Side(EDGE, ports.site, process.pid)


def _quoted(text: str) -> str:
    mark = '"' if "'" in text else "'"
    return f"{mark}{text}{mark}"
