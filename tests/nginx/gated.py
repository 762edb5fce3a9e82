"""A site on each real web server, with the configuration that `orrery site` prints, in front of a shop."""

import asyncio
import http.client
import os
import re
import shutil
import socket
import subprocess
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, get_args

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

from orrery.adapters.memory import MemoryStore
from orrery.checkout.site.cookie import BrowserCookies
from orrery.checkout.site.web_servers import WebServer, configuration, gated_sites
from orrery.checkout.sites import GATE
from orrery.live.widgets import widgets
from orrery.sandbox.site import WEB, DemoSite, sites
from tests.support import nginx
from tests.support.checkout import INDEX_KEY
from tests.support.clock import ManualClock
from tests.support.hosted import HostedShop, sold
from tests.support.ports import free_ports, is_taken
from tests.support.serving import served, serving
from tests.support.soak import IN_CI, SOAKING
from tests.support.unreliable_store import UnreliableStore
from tests.support.waiting import PATIENCE, eventually

T = TypeVar("T")

CADDIES = Path(__file__).resolve().parents[2] / ".venv/caddies"
"""The newer versions that `./run soak` fetches."""

SERVERS = [*get_args(WebServer), *(f"caddy {one.name}" for one in sorted(CADDIES.glob("*")) if SOAKING)]
"""Each web server; in a soak, Caddy in each version that can be had."""

WORKERD = Path(__file__).resolve().parents[2] / ".venv/workerd/package/bin/workerd"

VISITOR = "127.0.0.3"

MARK = "for buyers only"
"""What stands in each practice page, and nowhere else."""

AT = "/practice/cissp"

FILES = ("index.html", "data.json", "app.js", "style.css", "book.pdf", "more/index.html")

PLAIN = [f"{AT}/", *(f"{AT}/{name}" for name in FILES)]

_NGINX = """\
proxy_cache_path {folder}/cache keys_zone=kept:1m;
server {{
    listen 127.0.0.1:{port};
    root {root};
    index index.html;
    expires 30d;
    access_log {folder}/access.log;
    satisfy any;
    allow 127.0.0.0/8;
    deny all;
    error_page 404 /index.html;
    location ~* \\.(js|css|json|pdf)$ {{ expires 1y; }}
    include {folder}/orrery-site.conf;
}}
"""
"""A site as its owner has it: what leaks without `^~` is there."""

_CADDY = """\
{{
	admin 127.0.0.1:{admin}
	auto_https off
}}
import orrery-site.caddy
http://127.0.0.1:{port} {{
	bind 127.0.0.1
	{above}
	import orrery.127.0.0.1
	log {{
		output file access.log
	}}
	root * {root}
	@assets path *.js *.css *.json *.pdf
	handle @assets {{
		header Cache-Control "public, max-age=31536000"
		file_server
	}}
	file_server
}}
"""

_WORKERD = """\
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
      bindings = [(name = "ASSETS", service = "files")],
      compatibilityDate = "2026-01-01",
    )),
    (name = "files", external = (address = "{files}", http = ())),
    (name = "internet", network = (allow = ["private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:{port}", http = (), service = "main")],
);
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a browser got: names of headers in lower case."""

    status: int
    headers: Mapping[str, Sequence[str]]
    body: str

    @property
    def location(self) -> str:
        """Where it leads."""
        return self.headers.get("location", [""])[0]


def expect_away(answer: Answer) -> None:
    """Expect the page of a service that does not answer."""
    assert (answer.status, MARK in answer.body) == (503, False)
    assert "Your access is not lost" in answer.body
    assert answer.headers["cache-control"] == ["private, no-cache"]
    assert answer.headers["content-type"] == ["text/html"]
    assert answer.headers["refresh"] == ["10"]
    assert answer.headers["strict-transport-security"] == ["max-age=31536000"]


@dataclass
class GatedShop:
    """A shop that is asked over a real socket, with what it was asked; the owner works at another node of it."""

    clock: ManualClock = field(default_factory=ManualClock)
    asked: list[tuple[str, str, Mapping[str, str], bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store = UnreliableStore(MemoryStore(self.clock))
        self.node, self.owner = HostedShop(self.clock, self.store), HostedShop(self.clock, self.store.inside)
        self.port = free_ports(1)[0]
        self.service = f"http://127.0.0.1:{self.port}"
        self._widgets = widgets(min_visible=1, interval=45)
        self._up = ExitStack()
        self.start()

    def start(self) -> None:
        """Take requests, on the same port as before."""
        listener = socket.create_server(("127.0.0.1", self.port))
        self._up.enter_context(serving(self, listener))

    def stop(self) -> None:
        """Be gone: nobody listens any more."""
        self._up.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        body = await request.body()
        self.asked.append((request.method, scope["path"], dict(request.headers), body))

        async def again() -> Message:
            return {"type": "http.request", "body": body}

        pill = self._widgets.get(scope["path"].removeprefix("/live/"))
        await (PlainTextResponse(pill.text) if pill else self.node.app)(scope, again, send)

    def at_the_gate(self) -> tuple[str, str, Mapping[str, str], bytes]:
        """Return what the access gate was asked last."""
        return [one for one in self.asked if one[1].startswith(GATE)][-1]

    def opened(self, session_id: str) -> str:
        """Sell a session and open it in a new browser; return the cookie."""
        cookies = BrowserCookies.of_store(INDEX_KEY)
        cookie = cookies.new()

        async def open_first() -> None:
            await sold(self.owner, session_id)
            assert await self.owner.browsers.open_first(session_id, cookies.browser_of(cookie) or "none")

        asyncio.run(open_first())
        return f"orrery-local={cookie.decode()}"

    def at_owner(self, action: Awaitable[T]) -> T:
        """Let the owner do something, a second ago."""

        async def act() -> T:
            return await action

        done = asyncio.run(act())
        self.clock.advance(1)
        return done


@dataclass(frozen=True, slots=True)
class GatedSite:
    """A site behind a web server of that kind."""

    kind: WebServer
    shop: GatedShop
    port: int
    folder: Path

    def ask(self, path: str, method: str = "GET", body: bytes | None = None, **headers: str) -> Answer:
        """Ask for exactly that path, which no client makes plainer; `If_Range` stands for `If-Range`.

        The address of the visitor is one that nobody else has.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, PATIENCE, source_address=(VISITOR, 0))
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            answer = connection.getresponse()
            found: dict[str, list[str]] = {}
            for name, value in answer.getheaders():
                found.setdefault(name.lower(), []).append(value)
            return Answer(answer.status, found, answer.read().decode())
        finally:
            connection.close()

    def crawl(self) -> Mapping[str, Answer]:
        """Follow every link of the site, without a cookie."""
        found, ahead = dict[str, Answer](), ["/", "/about.html"]
        while ahead:
            path = ahead.pop()
            if path not in found:
                answer = found[path] = self.ask(path)
                links = re.findall(r'(?:href|src)="(/[^"]*)"', answer.body) if answer.status == 200 else []
                ahead += [link.replace("&amp;", "&") for link in (*links, answer.location) if link]
        return found


def write_site(root: Path, demo: DemoSite) -> None:
    """Write a site of the demo as files, its practice page for two products, and a page that links all of it."""
    files = (path for path in (WEB / "site").glob("*.*") if path.suffix != ".html")
    texts = {f"/site/{path.name}": path.read_text(encoding="utf-8") for path in files}
    texts |= {f"{path.rstrip('/')}/index.html": page for path, page in demo.open_pages().items()}
    page = demo.page("practice")
    closed = [f"/practice/{product}/{name}" for product in ("cissp", "ccsp") for name in FILES]
    texts |= {path: f"{path.split('/')[2]}, {MARK}. {page}" for path in closed}
    paths = {to for path in texts for to in (path, path.removesuffix("index.html"))}
    links = "".join(f'<a href="{path}">more</a>' for path in paths)
    (root / "practice/cissp/empty").mkdir(parents=True)
    texts |= {"/about.html": f"For all. {links}", "/open.json": "For all.", "/404.html": "For all."}
    for path, text in texts.items():
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@contextmanager
def gated_site(
    kind: str,
    folder: Path,
    service: str | None = None,
    more: str = "",
    changed: tuple[str, str] = ("", ""),
    demo: DemoSite | None = None,
) -> Generator[GatedSite]:
    """Run a shop and a site's web server of that kind, as its owner configures it; it asks another `service`.

    `kind` may name a version. `more` are further lines of the owner's, above what is printed; there, the first
    text of `changed` becomes the second one.
    """
    root, (port,) = folder / "files", free_ports(1)
    write_site(root, demo or sites()[0])
    shop = GatedShop()
    (gated,) = gated_sites(shop.owner.catalogue)
    server: WebServer = next(one for one in _RUNNING if kind.startswith(one))
    text = configuration(server, gated, service or shop.service).replace(*changed)
    with ExitStack() as stack:
        stack.callback(shop.stop)
        stack.enter_context(_RUNNING[server](folder, root, port, text, more, kind.removeprefix(server).strip()))
        yield GatedSite(server, shop, port, folder)


_Run = Callable[[Path, Path, int, str, str, str], AbstractContextManager[None]]


@contextmanager
def _nginx(folder: Path, root: Path, port: int, text: str, more: str, _version: str) -> Generator[None]:
    (folder / "orrery-site.conf").write_text(more + text, encoding="utf-8")
    main = nginx.write(folder, _NGINX.format(port=port, root=root, folder=folder))
    with nginx.running(main, port):
        yield


@contextmanager
def _caddy(folder: Path, root: Path, port: int, text: str, more: str, version: str) -> Generator[None]:
    caddy = caddy_of(version)
    if not caddy and not IN_CI:
        pytest.skip("no Caddy on this machine; to have it, type: sudo apt-get install -y caddy")
    own = text.replace("unix/@", f"unix/@{port}.")
    (folder / "orrery-site.caddy").write_text(own, encoding="utf-8")
    own_file = _CADDY.format(port=port, root=root, above=more, admin=free_ports(1)[0])
    (folder / "Caddyfile").write_text(own_file, encoding="utf-8")
    with _running([caddy or "caddy", "run", "--config", "Caddyfile"], folder, port):
        yield


def caddy_of(version: str) -> str | None:
    """Return the program of a version, or without one this machine's own."""
    path = str(CADDIES / version / "bin") if version else f"{os.defpath}:/usr/local/bin"
    return shutil.which("caddy", path=path)


@contextmanager
def _worker(folder: Path, root: Path, port: int, text: str, _more: str, _version: str) -> Generator[None]:
    if not WORKERD.exists() and not IN_CI:
        pytest.skip("no workerd on this machine; with npm there, `./run setup` fetches it")
    (folder / "worker.mjs").write_text(text, encoding="utf-8")
    with served(Starlette(routes=[Mount("/", StaticFiles(directory=root, html=True))])) as url:
        files = url.removeprefix("http://")
        (folder / "config.capnp").write_text(_WORKERD.format(files=files, port=port), encoding="utf-8")
        with _running([str(WORKERD), "serve", "config.capnp"], folder, port):
            yield


_RUNNING: dict[WebServer, _Run] = {"nginx": _nginx, "caddy": _caddy, "worker": _worker}


@contextmanager
def _running(command: Sequence[str], folder: Path, port: int) -> Generator[None]:
    output = folder / "output.log"
    with output.open("wb") as log:
        process = subprocess.Popen(  # noqa: S603  our own command
            command, cwd=folder, stdout=log, stderr=log, env={"HOME": str(folder), "PATH": os.defpath}
        )
    try:
        eventually(lambda: _expect_listener(process, port, output))
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _expect_listener(process: subprocess.Popen[bytes], port: int, output: Path) -> None:
    if process.poll() is not None:
        raise RuntimeError(f"it ended with {process.returncode}: {output.read_text(encoding='utf-8')}")
    assert is_taken(port)
