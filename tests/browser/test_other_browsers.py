"""The buy button, the form without a script and the live pill in Firefox and WebKit: the smallest way through."""

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.browser.buying import BUY, FORM, HOSTILE, STRICT
from tests.browser.other_browsers import PACKAGES, PROGRAMS, OtherBrowser, firefox, webkit
from tests.support.deployment import CounterSettings, Deployment, Product, running
from tests.support.nginx import running as running_nginx
from tests.support.nginx import write
from tests.support.ports import free_ports
from tests.support.soak import SOAKING
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(not SOAKING, reason="it needs two more browsers: ./run soak browsers")

NGINX = """server {{
    listen 127.0.0.1:{port};
    root {folder};
    default_type text/html;
    add_header Content-Security-Policy "{policy}";
    location = /shop.css {{ default_type text/css; }}
    location ~ ^/(guided|live|api)/ {{ proxy_pass {service}; add_header Via nginx; }}
}}"""

PAGE = f"""<!doctype html><html lang="en"><title>Exam</title><link rel="stylesheet" href="/shop.css">
<script type="module" src="/guided/buy.js"></script><script type="module" src="/live/pill.js"></script>
<main><live-pill></live-pill>{BUY}</main>"""

SETTINGS = """[[sites]]
origin = "{origin}"
name = "Northwind"
practice_url = "{origin}/practice/{{certCode}}/"
"""

BUTTON = "document.querySelector('orrery-buy').shadowRoot.querySelector('button')"
TAB, ENTER = "\ue004", "\ue007"

BROWSERS = pytest.mark.parametrize(("name", "start"), [("Firefox", firefox), ("WebKit", webkit)])

Start = Callable[[Path], AbstractContextManager[OtherBrowser]]


@contextmanager
def site_of(shop: Deployment, folder: Path, port: int) -> Generator[str]:
    """Serve a site in front of the service, and return its address."""
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    (folder / "form.html").write_text(f"<!doctype html><title>Exam</title>{FORM}", encoding="utf-8")
    (folder / "shop.css").write_text(HOSTILE, encoding="utf-8")
    text = NGINX.format(port=port, folder=folder, policy=STRICT, service=shop.public)
    with running_nginx(write(folder, text), port):
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a service with twelve visitors beside its sandbox, and a site in front of it."""
    counting, (port,) = CounterSettings(refresh=True), free_ports(1)
    settings = SETTINGS.format(origin=f"http://127.0.0.1:{port}")
    sold = [Product("exam", site="Northwind")]
    shop = Deployment(tmp_path_factory.mktemp("shop"), products=sold, counter=counting, more=settings)
    with running(shop), site_of(shop, tmp_path_factory.mktemp("site"), port) as address:
        shop.sandbox.visitors(12)
        shop.sandbox.advance(counting.interval)
        yield address


def skip_without(name: str) -> None:
    """Skip where a browser is missing."""
    if not Path(PROGRAMS[name]).exists():
        pytest.skip(f"no {name} here; to have it, type: sudo apt-get install -y {PACKAGES}")


@BROWSERS
def test_the_button_and_the_pill(name: str, start: Start, site: str, tmp_path: Path) -> None:
    """Under a strict policy and a hostile style: the names, the keyboard, the payment page, and the way back."""
    skip_without(name)
    with start(tmp_path) as browser:
        browser.ask("url", url=site)
        until(lambda: browser.run(f"return {BUTTON}.textContent") == "Buy exam exam $49.00")
        assert browser.run(f"return {BUTTON}.getBoundingClientRect().height") >= 24
        until(
            lambda: browser.run("return document.querySelector('live-pill').shadowRoot.textContent") == "12 live"
        )
        browser.press(TAB, ENTER)
        until(lambda: "/pay/" in str(browser.run("return location.pathname")))  # nothing between two pages
        browser.ask("back")
        until(lambda: browser.run(f"return {BUTTON}.ariaDisabled") == "false")
        browser.run(f"{BUTTON}.focus()")
        browser.press(ENTER)
        until(lambda: "/pay/" in str(browser.run("return location.pathname")))  # nothing between two pages


@BROWSERS
def test_the_form_without_a_script(name: str, start: Start, site: str, tmp_path: Path) -> None:
    """It leads to the payment page; Back leads to the form, which sells again. Pressed twice it opens one page."""
    skip_without(name)
    with start(tmp_path) as browser:
        browser.ask("url", url=f"{site}form.html")
        browser.press(TAB, ENTER, ENTER)
        until(lambda: "/pay/" in str(browser.run("return location.pathname")))  # nothing between two pages
        first = browser.run("return location.href")
        browser.ask("back")
        until(
            lambda: browser.run("return document.querySelector('form button')?.textContent") == "Get the questions"
        )
        browser.run("document.querySelector('form button').focus()")
        browser.press(ENTER)
        until(lambda: "/pay/" in str(browser.run("return location.pathname")))  # nothing between two pages
        assert browser.run("return location.href") != first
