"""`orrery site check` against Debian's nginx before the real gate: each wrong configuration is found by name."""

import asyncio
import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest

from orrery.adapters.sqlite import create
from orrery.adapters.web_sites import HttpWebSites
from orrery.checkout.site.check import SiteCheck
from orrery.checkout.site.cookie import BrowserCookies
from orrery.checkout.site.practice import PracticePages
from orrery.checkout.site.proving import Fault, Found
from orrery.checkout.site.web_servers import WebServer
from orrery.trust import Trust
from tests.nginx.gated import FILES as OF_GATED
from tests.nginx.gated import gated_site
from tests.support.certificates import make_certificate
from tests.support.checkout import INDEX_KEY, OTHER, PRODUCT
from tests.support.hosted import NORTH, HostedShop
from tests.support.nginx import replaced, running, write
from tests.support.ports import free_ports, is_taken
from tests.support.program import Program, typed
from tests.support.serving import served
from tests.support.waiting import eventually

pytestmark = pytest.mark.anyio

COOKIES = BrowserCookies.of_store(INDEX_KEY)

PRACTICE = f"/practice/{PRODUCT.cert_code}/"

PAGE = '<!doctype html><script src="/live/pill.js"></script>The questions.'

FILES = {"index.html": PAGE, "data.json": "[1, 2, 3]", "deep/more.js": "1;", "deep/text.pdf": "%"}

BLOCK = f"location ^~ {PRACTICE} {{"
GATED = "auth_request /orrery-gate;"
ASKED = f"/guided/api/gate/{PRODUCT.name};"
HSTS = 'add_header Strict-Transport-Security "max-age=31536000" always;'
PRIVATE = 'add_header Cache-Control "private, no-cache" always;'
POLICY = 'add_header Content-Security-Policy "{}";'
OWN, NO_NUMBERS = "default-src 'self'; img-src *", "default-src 'self'; connect-src 'none'"
GUIDED = "location /guided/ { proxy_pass GATE; }"

RIGHT = f"""
server {{
    listen 127.0.0.1:PORT ssl;
    server_name localhost;
    ssl_certificate CERTIFICATE;
    ssl_certificate_key CERTIFICATE;
    root FOLDER/www;
    merge_slashes on;
    types {{ text/html html; application/json json; text/css css; }}
    {GUIDED}
    location = /live/pill.js {{ return 200 "pill"; }}
    location = /orrery-gate {{
        internal;
        proxy_pass GATE{ASKED}
        proxy_pass_request_body off;
        proxy_set_header Content-Length "";
        proxy_set_header Range "";
        proxy_set_header If-None-Match "";
    }}
    {BLOCK}
        {GATED}
        error_page 401 = @lost;
        error_page 403 = @ended;
        {PRIVATE}
        {HSTS}
    }}
    location @lost {{ return 303 /guided/lost; }}
    location @ended {{ return 303 /guided/ended; }}
    location ~* \\.(js|css|json)$ {{ }}
}}
"""

LONGER = "an owner's location for one file comes first"
OBVIOUS = "the obvious one: a regular expression beside a prefix"

WRONG: dict[str, tuple[Mapping[str, str], set[Fault]]] = {
    "right": ({}, set()),
    OBVIOUS: ({BLOCK: BLOCK.replace("^~ ", "")}, {"extension"}),
    LONGER: ({BLOCK: f"location = {PRACTICE}data.json {{ expires 1y; }}\n{BLOCK}"}, set()),
    "the gate is not asked": ({GATED: ""}, {"open"}),
    "an answer before the gate": (
        {GATED: f"{GATED} if ($request_method = HEAD) {{ return 200; }}"},
        {"method"},
    ),
    "a part before the gate": ({GATED: f"{GATED} if ($http_range) {{ return 206; }}"}, {"condition"}),
    "slashes that are not merged": ({"merge_slashes on": "merge_slashes off"}, {"spelling"}),
    "a cookie is enough": ({"internal;": "internal; if ($http_cookie) { return 204; }"}, {"another product"}),
    "the gate of another product": ({ASKED: f"/guided/api/gate/{OTHER.name};"}, {"closed"}),
    "a login before the gate": ({"internal;": "internal; return 302 /login;"}, {"gate"}),
    "no way to the gate": (
        {GUIDED: "location /guided/ { return 302 /; }"},
        {"gate", "hosted pages"},
    ),
    "a cache may keep it": ({PRIVATE: 'add_header Cache-Control "public, max-age=60" always;'}, {"cache"}),
    "a cache that nobody told": ({PRIVATE: ""}, {"cache"}),
    "no HSTS": ({HSTS: ""}, {"HSTS"}),
    "no hosted pages": ({GUIDED: ""}, {"hosted pages"}),
    "no policy": ({GUIDED: GUIDED.replace("GATE;", "GATE; proxy_hide_header Content-Security-Policy;")}, {"CSP"}),
    "a refusal that stays": ({"return 303 /guided/lost;": "expires 1d; return 303 /guided/lost;"}, {"cache"}),
    "an error that shows the page": (
        {
            "error_page 401 = @lost;": "error_page 401 /again/index.html;",
            BLOCK: f"location ^~ /again/ {{ internal; alias FOLDER/www{PRACTICE}; }}\n{BLOCK}",
        },
        {"open"},
    ),
    "a policy without the pill": ({HSTS: f"{HSTS} {POLICY.format('default-src https://a.example')}"}, {"CSP"}),
    "a policy without its numbers": ({HSTS: f"{HSTS} {POLICY.format(NO_NUMBERS)}"}, {"CSP"}),
    "a policy with the pill": ({HSTS: f"{HSTS} {POLICY.format(OWN)}"}, set()),
    "no pill": ({'location = /live/pill.js { return 200 "pill"; }': ""}, {"pill"}),
    "a page for the folder's name": (
        {BLOCK: f"location / {{ try_files $uri $uri/index.html =404; }}\n{BLOCK}"},
        {"spelling"},
    ),
    "a second path": ({BLOCK: f"location ^~ /second/ {{ alias FOLDER/www{PRACTICE}; }}\n{BLOCK}"}, set()),
    "every path has a page": ({"root FOLDER/www;": "root FOLDER/www; try_files $uri $uri/ /home.html;"}, set()),
}
"""What is replaced in the right configuration, and what must be found: that, and nothing else."""


@dataclass(frozen=True)
class Sites:
    """Servers of one nginx, one for each configuration, before one gate."""

    shop: HostedShop
    web: HttpWebSites
    ports: Mapping[str, int]

    async def found(self, name: str, *paths: str) -> list[Found]:
        """Check the practice pages of one server, with the files that are there."""
        origin = f"https://localhost:{self.ports[name]}"
        pages = PracticePages(PRODUCT.key, NORTH, origin, PRACTICE)
        self.shop.clock.advance(60)  # the hosted pages have a limit
        return await SiteCheck(self.web, self.shop.clock, COOKIES).run(pages, dict.fromkeys(paths, ""))


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """Run nginx with all configurations."""
    folder = tmp_path_factory.mktemp("sites")
    _write_files(folder)
    certificate, shop = make_certificate(folder), HostedShop()
    ports = dict(zip(WRONG, free_ports(len(WRONG)), strict=True))
    with served(shop.app) as url:
        given = {"FOLDER": str(folder), "CERTIFICATE": str(certificate), "GATE": url}
        servers = [_server(WRONG[name][0], {**given, "PORT": str(port)}) for name, port in ports.items()]
        main = write(folder, "".join(servers))
        web = HttpWebSites(Trust(certificate))
        with running(main, ports["right"]):
            yield Sites(shop, web, ports)


SETTINGS = """\
mode = "sandbox"
[server]
port = {port}
private_port = {private_port}
[store]
path = "{folder}/orrery.db"
[log]
level = "error"
[tls]
ca_file = "{folder}/localhost.pem"
[[sites]]
origin = "{origin}"
name = "Practice"
practice_url = "{origin}/practice/{{certCode}}/"
[[checkout.products]]
vendor_slug = "{vendor}"
cert_code = "{cert}"
title = "CISSP"
price_id = "price_1"
"""


@pytest.mark.parametrize("kind", get_args(WebServer))
def test_what_orrery_prints_is_right(kind: WebServer, tmp_path: Path) -> None:
    """The configurations of `orrery site` have no fault, before sites that leak without them.

    The shop behind them has no live count, which their pages show.
    """
    with gated_site(kind, tmp_path) as site:
        check = SiteCheck(HttpWebSites(), site.shop.clock, COOKIES)
        pages = PracticePages(PRODUCT.key, NORTH, f"http://127.0.0.1:{site.port}", PRACTICE)
        found = asyncio.run(check.run(pages, {f"{PRACTICE}{one}": "" for one in OF_GATED}))
        assert [one for one in found if one.fault != "pill"] == []


@dataclass(frozen=True)
class Owner:
    """A service, its settings, and the port of its site."""

    folder: Path
    site: int
    port: int

    @property
    def origin(self) -> str:
        return f"https://localhost:{self.site}"

    def typed(self, *words: str) -> tuple[int, Any]:
        """Return what a command exits with, and its JSON."""
        came = typed(*words, "--json", "--config", str(self.folder / "orrery.toml"))
        return came.returncode, json.loads(came.stdout or "null")

    def parts(self) -> dict[str, Any]:
        """Return what `doctor` finds of the site, by part."""
        _, found = self.typed("doctor")
        return {one["part"].removesuffix(f" {self.origin}"): one for one in found if self.origin in one["part"]}

    @contextmanager
    def serving(self, name: str) -> Generator[None]:
        """Run nginx with a configuration of the table."""
        certificate = f"{self.folder}/localhost.pem"
        given = {"FOLDER": f"{self.folder}", "CERTIFICATE": certificate, "GATE": f"http://127.0.0.1:{self.port}"}
        main = write(self.folder, _server(WRONG[name][0], {**given, "PORT": f"{self.site}"}))
        with running(main, self.site):
            yield


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    """Run the service itself."""
    site, port, private_port = free_ports(3)
    one, _ = Owner(tmp_path, site, port), make_certificate(tmp_path)
    _write_files(tmp_path)
    given = {"folder": tmp_path, "origin": one.origin, "port": port, "private_port": private_port}
    text = SETTINGS.format(**given, vendor=PRODUCT.vendor_slug, cert=PRODUCT.cert_code)
    _ = (tmp_path / "orrery.toml").write_text(text, encoding="utf-8")
    create(tmp_path / "orrery.db")
    program = Program(["serve", "--config", str(tmp_path / "orrery.toml")], tmp_path / "service.log")
    try:
        eventually(lambda: _expect_taken(port))
        yield one
    finally:
        program.clear_away()


def _expect_taken(port: int) -> None:
    assert is_taken(port)


def _write_files(folder: Path) -> None:
    for name, text in {**FILES, "../../home.html": "Home"}.items():
        file = folder / f"www{PRACTICE}" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        _ = file.write_text(text, encoding="utf-8")


def test_the_owner_finds_and_fixes_it(owner: Owner) -> None:
    """From the folder of the site to the line that fixes it; what `doctor` asks now is what counts."""
    check = ("site", "check", owner.origin, "--root", str(owner.folder / "www"))
    assert owner.typed(*check)[0] == 1
    with owner.serving(OBVIOUS):
        code, found = owner.typed(*check)
        leaks = {one["path"]: one for one in found if one["status"] == 200}
        assert (code, {*leaks}) == (1, {f"{PRACTICE}data.json", f"{PRACTICE}deep/more.js"})
        assert leaks[f"{PRACTICE}data.json"]["nginx"].startswith(BLOCK)
        assert owner.parts()["practice pages of"]["state"] == "broken"
        _, today = owner.typed("today")
        assert any(one["key"].startswith("practice pages of") for one in today["broken"])
    with owner.serving("right"):
        assert owner.typed(*check, "--path", f"{PRACTICE}data.json", "--path", "/old/data.json") == (0, [])
        _, today = owner.typed("today")
        assert not any(one["key"].startswith("practice pages of") for one in today["broken"])
        assert {part: one["state"] for part, one in owner.parts().items()} == {
            "site": "ok",
            "practice pages of": "ok",
        }
        copy = owner.folder / "www/old/data.json"
        copy.parent.mkdir()
        _ = copy.write_text(FILES["data.json"], encoding="utf-8")
        for words in (check, (*check[:3], "--path", "/old/data.json")):
            code, (leak,) = owner.typed(*words)
            assert (code, leak["fault"], leak["path"]) == (1, "second path", "/old/data.json")
        assert f"{PRACTICE}data.json" in owner.typed(*check)[1][0]["how"]
        _, (leak,) = owner.typed(*check[:3], "--path", "/old/data.json?a=1&b=/c")
        assert leak["path"] == "/old/data.json?a=1&b=/c"
    for wrong in (("https://other.example",), ("--path", "elsewhere"), ("--root", "/")):
        assert owner.typed("site", "check", *wrong)[0] == 2


def _server(wrong: Mapping[str, str], given: Mapping[str, str]) -> str:
    text = replaced(RIGHT, wrong)
    for name, value in given.items():
        text = text.replace(name, value)
    return text


@pytest.mark.parametrize("name", WRONG)
async def test_what_is_wrong_is_found(sites: Sites, name: str) -> None:
    """Nothing else is: one fault in the configuration is one kind of finding."""
    found = await sites.found(name)
    assert {one.fault for one in found} == WRONG[name][1], found


async def test_what_leaks_is_named(sites: Sites) -> None:
    """Each file that the obvious configuration leaks, those that are not there yet, and no other."""
    found = await sites.found(OBVIOUS, *(f"{PRACTICE}{one}" for one in FILES))
    leaked = {one.path.removeprefix(PRACTICE) for one in found if one.status == 200}
    assert leaked == {"data.json", "deep/more.js"}
    assert {one.path.rpartition(".")[2] for one in found if one.status == 404} == {"js", "css", "json"}


async def test_a_file_that_has_a_location_of_its_own(sites: Sites) -> None:
    """The files have to be named: from outside, no other file of the folder shows it."""
    found = await sites.found(LONGER, *(f"{PRACTICE}{one}" for one in FILES))
    assert {one.path for one in found if one.status == 200} == {f"{PRACTICE}data.json"}


async def test_a_second_path(sites: Sites) -> None:
    """It has to be named, from outside; a path that is not there and one that all have do not leak."""
    assert await sites.found("right", "/second/data.json") == []
    assert await sites.found("every path has a page", "/second/data.json") == []
    found = await sites.found("a second path", "/second/data.json", "/second/none.json")
    assert [(one.fault, one.path, one.status) for one in found] == [("second path", "/second/data.json", 200)]


async def test_a_path_that_is_not_there(sites: Sites) -> None:
    """It is told from one that stays closed."""
    found = await sites.found("right", f"{PRACTICE}none.html")
    assert [(one.fault, one.path, one.status) for one in found] == [("missing", f"{PRACTICE}none.html", 404)]
