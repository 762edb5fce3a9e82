"""Other pages in the same browser try the cockpit's doors: each stays shut (decision 37)."""

import stat
from collections.abc import Iterator
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.conftest import ARGUMENTS, CHROMIUM, PATIENCE_MS, path_of
from tests.support.cockpit import Cockpit, running_cockpit

STRANGER = "evil.example"
RULES = f"MAP {STRANGER} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost"
"""The names that this browser knows: a stranger's points at this machine, as a rebound one does."""

ASK = """async ([path, init]) => {
  try { const answer = await fetch(path, init); return [answer.status, answer.type, await answer.text()]; }
  catch (error) { return ["failed", error.name, ""]; }
}"""
"""Return what a page gets for a request."""


class Elsewhere:
    """A web server of a stranger: it serves an empty page, under any name."""

    def __init__(self, folder: Path) -> None:
        (folder / "index.html").write_text("<!doctype html><title>Elsewhere</title><body>")
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
        Thread(target=self.server.serve_forever, daemon=True).start()

    def page(self, host: str) -> str:
        """Return the address of its page under a name."""
        return f"http://{host}:{self.server.server_address[1]}/"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the library's name
        """Print nothing."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of this module's processes and profile."""
    return tmp_path_factory.mktemp("doors")


@pytest.fixture(scope="module")
def elsewhere(folder: Path) -> Iterator[Elsewhere]:
    """Return a stranger's server."""
    (folder / "elsewhere").mkdir()
    found = Elsewhere(folder / "elsewhere")
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture(scope="module")
def cockpit(folder: Path) -> Iterator[Cockpit]:
    """Return a cockpit that runs."""
    with running_cockpit(folder, "--sample") as found:
        yield found


@pytest.fixture(scope="module")
def profile(folder: Path) -> Path:
    """Return where the browser keeps everything."""
    return folder / "profile"


@pytest.fixture(scope="module")
def context(chromium: Browser, profile: Path) -> Iterator[BrowserContext]:
    """Return a browser with a profile on the disk, as a person's is."""
    arguments = [one for one in ARGUMENTS if "host-resolver" not in one]
    found = chromium.browser_type.launch_persistent_context(
        profile,
        executable_path=path_of(CHROMIUM),
        args=[*arguments, f"--host-resolver-rules={RULES}"],
        timeout=PATIENCE_MS,
    )
    found.set_default_timeout(PATIENCE_MS)
    yield found
    found.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """Return a new tab."""
    found = context.new_page()
    yield found
    found.close()


def entered(context: BrowserContext, cockpit: Cockpit) -> Page:
    """Return a tab of the cockpit's page that has the token."""
    page = context.new_page()
    _ = page.goto(f"http://{cockpit.host}/")
    page.evaluate("token => sessionStorage.setItem('orrery.token', token)", cockpit.token)
    _ = page.reload()
    page.get_by_role("article").first.wait_for()
    return page


def counted(cockpit: Cockpit) -> int:
    """Return how many tasks there are: what a stranger's write would raise."""
    return len(cockpit.listed()["tasks"])


def test_a_rebound_host_gets_nothing(page: Page, cockpit: Cockpit) -> None:
    """A name of a stranger that points at this machine: neither the page, nor data with the token, nor a token."""
    answer = page.goto(f"http://{STRANGER}:{cockpit.port}/")
    assert answer is not None
    assert answer.status == HTTPStatus.FORBIDDEN
    bearer = {"headers": {"Authorization": f"Bearer {cockpit.token}"}}
    for path, init in (
        ("/api/comms/rows", bearer),
        ("/static/cockpit.js", {}),
        ("/api/session", {"method": "POST", "body": "{}", "headers": {"Content-Type": "application/json"}}),
    ):
        assert page.evaluate(ASK, [path, init])[2] == ""  # the policy of the refusal stops its own requests


@pytest.fixture(params=[STRANGER, "cockpit.localhost"], scope="module")
def other(request: pytest.FixtureRequest, context: BrowserContext, elsewhere: Elsewhere) -> Iterator[Page]:
    """Return a tab with a page of another site, or of another port of the same name."""
    found = context.new_page()
    _ = found.goto(elsewhere.page(request.param))
    yield found
    found.close()


def test_another_page_reads_nothing(other: Page, cockpit: Cockpit) -> None:
    """No data, even with the token; no file either."""
    bearer = {"headers": {"Authorization": f"Bearer {cockpit.token}"}}
    for path in ("/api/comms/rows", "/", "/static/cockpit.js", "/openapi.json"):
        for init in (bearer, {"mode": "no-cors"}, {"credentials": "include"}):
            status, _, text = other.evaluate(ASK, [f"http://{cockpit.host}{path}", init])
            assert (status in ("failed", 0), text) == (True, "")


def test_another_page_has_none_of_its_storage(context: BrowserContext, other: Page, cockpit: Cockpit) -> None:
    """Token and dismissals belong to name and port: another port sees neither, and there is no cookie."""
    own = entered(context, cockpit)
    assert other.evaluate("[sessionStorage.length, localStorage.length, document.cookie]") == [0, 0, ""]
    assert context.cookies() == []
    own.close()


def test_another_page_embeds_nothing(other: Page, cockpit: Cockpit) -> None:
    """An image, a script, a style sheet and a frame of the cockpit are refused."""
    loaded = other.evaluate(
        """async base => {
          const tried = [["img", "src", "/static/icon.svg"], ["script", "src", "/static/cockpit.js"],
                         ["link", "href", "/static/cockpit.css"]];
          return Promise.all(tried.map(([name, attribute, path]) => new Promise((resolve) => {
            const element = document.createElement(name);
            if (name === "link") element.rel = "stylesheet";
            element.onload = () => resolve(true);
            element.onerror = () => resolve(false);
            element[attribute] = base + path;
            document.body.append(element);
          })));
        }""",
        f"http://{cockpit.host}",
    )
    assert loaded == [False, False, False]


def test_another_page_frames_nothing(other: Page, cockpit: Cockpit) -> None:
    """The frame of a stranger's page stays empty."""
    other.evaluate(
        """address => new Promise((resolve) => {
          const frame = document.createElement("iframe");
          frame.onload = resolve; frame.src = address; document.body.append(frame);
        })""",
        f"http://{cockpit.host}/",
    )
    framed = other.frames[-1]
    assert framed != other.main_frame
    assert framed.get_by_role("heading").count() == 0
    assert "chrome-error" in framed.url or framed.content().count("Orrery") == 0


def test_another_page_writes_nothing(other: Page, cockpit: Cockpit) -> None:
    """A form and a blind request, with a row's real id: refused, and no task is made."""
    row = cockpit.row(source="mail")
    before = counted(cockpit)
    address = f"http://{cockpit.host}/api/comms/add-to-tasks"
    blind = {"method": "POST", "mode": "no-cors", "body": f'{{"rowId": "{row["id"]}"}}'}
    _ = other.evaluate(ASK, [address, blind])
    with other.expect_navigation() as gone:
        other.evaluate(
            """([address, id]) => {
              const form = document.createElement("form");
              form.method = "post"; form.enctype = "text/plain"; form.action = address;
              const field = document.createElement("input");
              field.name = `{"rowId": "${id}", "x": "`; field.value = '"}';
              form.append(field); document.body.append(form); form.submit();
            }""",
            [address, row["id"]],
        )
    assert gone.value.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
    assert counted(cockpit) == before


def test_a_link_elsewhere_opens_nothing(page: Page, cockpit: Cockpit, elsewhere: Elsewhere) -> None:
    """A stranger's link leads to a refusal, not to the page."""
    _ = page.goto(elsewhere.page(STRANGER))
    with page.expect_navigation() as gone:
        page.evaluate("address => { location.href = address; }", f"http://{cockpit.host}/")
    assert gone.value.status == HTTPStatus.FORBIDDEN


def test_a_link_works_once(context: BrowserContext, folder: Path) -> None:
    """It opens the list, leaves no code in the address, and opens nothing in a second tab or from the history."""
    cockpit = Cockpit(folder, "--sample").wait()
    try:
        link = cockpit.link
        first = context.new_page()
        _ = first.goto(link)
        first.get_by_role("article").first.wait_for()
        assert first.url == f"http://{cockpit.host}/"
        second = context.new_page()
        _ = second.goto(link)
        second.get_by_text("This link does not open the cockpit").wait_for()
        assert second.get_by_role("article").count() == 0
        first.close()
        second.close()
    finally:
        _ = cockpit.program.end()
        cockpit.program.clear_away()


def test_what_the_profile_keeps_opens_nothing(context: BrowserContext, folder: Path, profile: Path) -> None:
    """While it runs only its user may read the profile; what that holds does not open the next cockpit."""
    assert stat.S_IMODE(profile.stat().st_mode) == 0o700
    ended = Cockpit(folder, "--sample").begin()
    tab = entered(context, ended)
    _ = ended.program.end()
    ended.program.clear_away()
    with running_cockpit(folder, "--sample", port=ended.port) as following:
        assert following.token != ended.token
        _ = tab.reload()
        tab.get_by_role("heading", name="Open the cockpit from its terminal").wait_for()
        assert tab.get_by_role("article").count() == 0
        kept = [one.read_bytes() for one in profile.rglob("*") if one.is_file() and not one.is_symlink()]
        assert not any(following.token.encode() in one for one in kept)
        refused = following.ask("GET", "/api/comms/rows", Authorization=f"Bearer {ended.token}")
        assert refused.status == HTTPStatus.UNAUTHORIZED
    tab.close()
