"""The demo planet's files: what every page is like, and what the shop says of the demo's product."""

import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import anyio
import httpx2
import pytest

from orrery.app.cli.demo import _SETTINGS  # pyright: ignore[reportPrivateUsage] the text that the demo writes
from orrery.app.cli.sandbox import PRICE
from orrery.checkout.catalogue import Product
from orrery.sandbox.site import PAGES, WEB, create_site
from tests.support.tables import each_case

ROOT = Path(__file__).resolve().parents[2]
DATA = WEB / "site" / "data" / "tool_counters.toml"
PLACES = ("src", "deploy", "tests", "bench", "tools", ".github")
TEXTS = {".py", ".toml", ".yml", ".yaml", ".sh", ".js", ".html", ".service", ".timer", ".conf"}
FILES = sorted((WEB / "site").glob("*.html"))


class Markup(HTMLParser):
    """Every start tag of a page, with its attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a tag."""
        self.tags.append((tag, dict(attrs)))


def get(path: str) -> httpx2.Response:
    """Ask the site."""

    async def ask() -> httpx2.Response:
        transport = httpx2.ASGITransport(create_site("http://127.0.0.1:1"))
        async with httpx2.AsyncClient(transport=transport, base_url="http://planet.test") as client:
            return await client.get(path)

    return anyio.run(ask)


@each_case("file", FILES)
def test_pages_need_no_inline_code_and_no_other_host(file: Path) -> None:
    """No page has inline scripts, styles or handlers, nor an address on another host; each file is there."""
    for tag, attributes in Markup(file.read_text(encoding="utf-8")).tags:
        assert tag != "style"
        assert tag != "script" or attributes["src"]
        assert not [name for name in attributes if name == "style" or name.startswith("on")]
        for name in ("src", "href", "action"):
            there = attributes.get(name) or "/"
            assert re.match("#|/(?!/)", there)
            assert not there.startswith("/site/") or get(there).status_code == 200


@each_case("file", FILES)
def test_pages_have_one_heading_and_one_main(file: Path) -> None:
    """Every page has one main landmark with one first heading, and names its language."""
    tags = Markup(file.read_text(encoding="utf-8")).tags
    names = [tag for tag, _ in tags]
    assert (names.count("main"), names.count("h1")) == (1, 1)
    assert ("html", {"lang": "en"}) in tags


@each_case("address", (*PAGES, "/nowhere"))
def test_pages_keep_their_address(address: str) -> None:
    """Every page is open to its own files only, and no other site learns its address."""
    page = get(address)
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Content-Security-Policy"].startswith("default-src 'self';")


@pytest.mark.parametrize("path", ["/nowhere", "/practice/northwind/other", "/site/shop.html"])
def test_unknown_addresses_are_404_pages(path: str) -> None:
    """An address without a page answers 404 with a page that leads back to the shop."""
    page = get(path)
    assert page.status_code == 404
    assert "There is no such page" in page.text


def test_shop_says_what_the_demo_sells() -> None:
    """Title, price and trust copy are those of the demo's product; the page says what no purchase brings."""
    page = get("/").text
    [sold] = tomllib.loads(_SETTINGS[_SETTINGS.index("[[checkout.products]]") : _SETTINGS.index("[[sites]]")])[
        "checkout"
    ]["products"]
    product = Product(**sold)
    price = f"{PRICE.unit_amount / 100:.0f} {PRICE.currency.upper()}"
    for words in (product.title, price, product.submit_message, "One year", "No subscription", "No auto-renewal"):
        assert words in page
    assert f'data-vendor-slug="{product.vendor_slug}" data-cert-code="{product.cert_code}"' in page


def test_answers_of_the_questions_exist() -> None:
    """Every question's right answer is one of its choices."""
    page = (WEB / "site" / "practice.html").read_text(encoding="utf-8")
    forms = page.split("<form data-question")[1:]
    assert len(forms) == 6
    for form in forms:
        right = re.search(r'data-right="(\d+)"', form)
        assert right
        assert f'value="{right[1]}"' in form


def test_the_counter_of_tools_stays_removed() -> None:
    """Its data file holds an empty list, and nothing reads it (spec 2, What the service does 7).

    Its figures, such as articles read, were written down by hand. It must not be made again without explicit
    sign-off: the live counter is the honest one.
    """
    assert tomllib.loads(DATA.read_text("utf-8")) == {"tools": []}
    files = [path for folder in PLACES for path in (ROOT / folder).rglob("*.*") if path.suffix in TEXTS]
    naming = {path for path in files if "tool_counters" in path.read_text("utf-8")}
    assert naming == {Path(__file__)}
