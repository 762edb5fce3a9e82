"""A real Chromium that reaches this machine only, and pages that remember what went wrong in them."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Request,
    ViewportSize,
    expect,
    sync_playwright,
)

from tests.browser.live_widgets import Network
from tests.support.analytics_provider import module_provider, provider
from tests.support.cockpit import Cockpit, running_cockpit
from tests.support.soak import SOAKING
from tests.support.waiting import PATIENCE

__all__ = ["module_provider", "provider"]

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
SHELL = ("chromium-headless-shell", *CHROMIUM)
"""The first is Chromium without windows and without a profile: a page opens in a third of the time."""

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-default-apps",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE *.localhost",
]

PATIENCE_MS = PATIENCE * 1000
USUAL: ViewportSize = {"width": 1280, "height": 800}
expect.set_options(timeout=PATIENCE_MS)


@dataclass
class Watch:
    """What a page complained about and which hosts it asked."""

    complaints: list[str] = field(default_factory=list[str])
    hosts: set[str] = field(default_factory=set[str])

    def follow(self, page: Page) -> None:
        """Watch a page from now on."""
        page.on("console", self._console)
        page.on("pageerror", self._page_error)
        page.on("request", self._request)

    def leave(self, page: Page) -> None:
        """Watch a page no more."""
        page.remove_listener("console", self._console)
        page.remove_listener("pageerror", self._page_error)
        page.remove_listener("request", self._request)

    def forgive(self, words: str) -> None:
        """Take back the complaints that a test provoked on purpose: those with `words` in them, at least one."""
        kept = [complaint for complaint in self.complaints if words not in complaint]
        assert len(kept) < len(self.complaints), f"nothing complained of {words}"
        self.complaints = kept

    def see(self) -> None:
        """See that no page complained or asked another host."""
        assert self.complaints == []
        assert all(f".{host}".endswith((".127.0.0.1", ".localhost")) for host in self.hosts)

    def _page_error(self, error: Error) -> None:
        self.complaints.append(str(error))

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def _request(self, request: Request) -> None:
        self.hosts.add(urlsplit(request.url).hostname or "")


OpenPage = Callable[..., Page]


def path_of(names: Sequence[str]) -> str:
    """Return the program of the first of these names that this machine has."""
    return next(filter(None, map(shutil.which, names)))


def looks(page: Page) -> Iterator[str]:
    """Give a page a phone's width in the light and a desk's in the dark; yield each look once the page has it.

    No colour depends on the width. `./run soak looks` has all four.
    """
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in (360, 1100) if SOAKING else (360 if scheme == "light" else 1100,):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            yield f"{width}-{scheme}"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Start one Chromium for the whole run."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path_of(SHELL), headless=True, args=ARGUMENTS, timeout=PATIENCE_MS
        )
        yield browser
        browser.close()


@pytest.fixture
def watch() -> Watch:
    """Return what the pages of this test are watched with."""
    return Watch()


@pytest.fixture
def open_page(chromium: Browser, watch: Watch) -> Iterator[OpenPage]:
    """Open pages with their own cookies; afterwards see that none complained or asked another host."""
    contexts: list[BrowserContext] = []

    def open_one(**options: object) -> Page:
        contexts.append(chromium.new_context(**options))  # pyright: ignore[reportArgumentType] the options of new_context
        contexts[-1].set_default_timeout(PATIENCE_MS)
        page = contexts[-1].new_page()
        watch.follow(page)
        return page

    yield open_one
    for context in contexts:
        context.close()
    watch.see()


@pytest.fixture
def network(page: Page) -> Iterator[Network]:
    """Return the network around the page of the module."""
    network = Network(page)
    yield network
    network.let_go()


@pytest.fixture(scope="module")
def cockpit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cockpit]:
    """Return a cockpit on its sample."""
    with running_cockpit(tmp_path_factory.mktemp("cockpit"), "--sample") as found:
        yield found


@pytest.fixture(scope="module")
def module_page(chromium: Browser) -> Iterator[Page]:
    """Open one page for the tests of a module: to open one costs more computing than most tests."""
    with chromium.new_context(viewport=USUAL) as context:
        context.set_default_timeout(PATIENCE_MS)
        yield context.new_page()


@pytest.fixture
def page(module_page: Page, watch: Watch) -> Iterator[Page]:
    """Lend the page of the module, which is as new: without routes, cookies and storage, online, of usual size.

    A clock and the scripts that a test puts into it stay: all tests of a module move a clock in it, or none does.
    """
    watch.follow(module_page)
    yield module_page
    watch.leave(module_page)
    module_page.context.set_offline(offline=False)
    module_page.evaluate("try { localStorage.clear(); sessionStorage.clear(); } catch {}")
    module_page.goto("about:blank")
    module_page.unroute_all(behavior="ignoreErrors")
    module_page.context.clear_cookies()
    module_page.set_viewport_size(USUAL)
    module_page.emulate_media(color_scheme="null")
    watch.see()
