"""The buy button and the live pill in Firefox and WebKit: the smallest way through each."""

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.browser.buying import BUY, HOSTILE, STRICT
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

BUTTON = "document.querySelector('orrery-buy').shadowRoot.querySelector('button')"
TAB, ENTER = "\ue004", "\ue007"

Start = Callable[[Path], AbstractContextManager[OtherBrowser]]


@contextmanager
def site_of(shop: Deployment, folder: Path) -> Generator[str]:
    """Serve a site in front of the service, and return its address."""
    (port,) = free_ports(1)
    (folder / "index.html").write_text(PAGE, encoding="utf-8")
    (folder / "shop.css").write_text(HOSTILE, encoding="utf-8")
    text = NGINX.format(port=port, folder=folder, policy=STRICT, service=shop.public)
    with running_nginx(write(folder, text), port):
        yield f"http://127.0.0.1:{port}/"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run a service with twelve visitors beside its sandbox, and a site in front of it."""
    counting = CounterSettings(refresh=True)
    shop = Deployment(tmp_path_factory.mktemp("shop"), products=[Product("exam")], counter=counting)
    with running(shop), site_of(shop, tmp_path_factory.mktemp("site")) as address:
        shop.sandbox.visitors(12)
        shop.sandbox.advance(counting.interval)
        yield address


@pytest.mark.parametrize(("name", "start"), [("Firefox", firefox), ("WebKit", webkit)])
def test_the_button_and_the_pill(name: str, start: Start, site: str, tmp_path: Path) -> None:
    """Under a strict policy and a hostile style: the names, the keyboard, the payment page, and the way back."""
    if not Path(PROGRAMS[name]).exists():
        pytest.skip(f"no {name} here; to have it, type: sudo apt-get install -y {PACKAGES}")
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
