"""Who may ask a page of this machine: the host, then the token, then the origin (decision 37)."""

import pytest
from fastapi import APIRouter

from orrery.edge.launch import Launch
from orrery.edge.local import local_app
from orrery.edge.routes import Routes
from orrery.ports.comms.errors import MailboxUnreachable
from tests.support.clock import ManualClock
from tests.support.logged import logged
from tests.support.requests import client_of
from tests.support.tables import each_case

HOST = "cockpit.localhost:8791"
ORIGIN = f"http://{HOST}"

WRONG_HOSTS = (
    "cockpit.localhost",
    "cockpit.localhost:8792",
    "COCKPIT.localhost:8791",
    "cockpit.localhost.:8791",
    "localhost:8791",
    "127.0.0.1:8791",
    "[::1]:8791",
    "evil.example:8791",
    "evil.example",
    "cockpit.localhost:8791@evil.example",
    "",
)
FOREIGN: tuple[dict[str, str], ...] = (
    {"Origin": "http://evil.example"},
    {"Origin": "http://cockpit.localhost:9999"},
    {"Origin": "https://cockpit.localhost:8791"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "nonsense"},
    {"Origin": ORIGIN, "Sec-Fetch-Site": "cross-site"},
)
OWN: tuple[dict[str, str], ...] = (
    {},
    {"Sec-Fetch-Site": "none"},
    {"Sec-Fetch-Site": "same-origin"},
    {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin"},
)
DATA, SHELL = "/api/data", "/static/page.js"


class Page:
    """An app of this machine with one operation that has data, and a file that has none."""

    def __init__(self) -> None:
        self.launch = Launch(ManualClock())
        self.asked = 0
        router = APIRouter()
        router.add_api_route(DATA, self.data, methods=["GET"])
        router.add_api_route(DATA, self.change, methods=["POST"])
        router.add_api_route(SHELL, self.file)
        router.add_api_route("/elsewhere", self.data)
        router.add_api_route("/api/fails", self.fails)
        self.client = client_of(local_app("Page", [Routes(public=[router])], HOST, self.launch), host=HOST)
        token = self.launch.exchange(self.launch.new_code())
        self.bearer = {"Authorization": f"Bearer {token}"}

    async def data(self) -> dict[str, int]:
        """Count who gets here."""
        self.asked += 1
        return {"asked": self.asked}

    async def change(self) -> dict[str, int]:
        """Count, too."""
        return await self.data()

    async def file(self) -> str:
        """Return what holds no data."""
        return "file"

    async def fails(self) -> None:
        """Fail as a mailbox does."""
        raise MailboxUnreachable("It gave no answer for 30 s.")


@pytest.fixture
def page() -> Page:
    """Return the page of one process."""
    return Page()


@each_case("host", WRONG_HOSTS)
@each_case("path", [DATA, SHELL, "/", "/docs", "/nowhere"])
async def test_another_host_gets_nothing(page: Page, host: str, path: str) -> None:
    """Whatever name a request came by, only the exact host and port is answered, for reads and files too."""
    answer = await page.client.get(path, headers={**page.bearer, "Host": host})
    assert (answer.status_code, answer.json()["error"]) == (403, "wrong-host")
    assert page.asked == 0


async def test_two_hosts_are_none(page: Page) -> None:
    """A request with the right host and another one is refused."""
    answer = await page.client.get(DATA, headers=[("Host", HOST), ("Host", "evil.example"), *page.bearer.items()])
    assert answer.json()["error"] == "wrong-host"


@pytest.mark.parametrize("bearer", [{}, {"Authorization": "Bearer "}, {"Authorization": "Basic YTpi"}])
async def test_data_needs_the_token(page: Page, bearer: dict[str, str]) -> None:
    """Without it there is a sentence that says where to get it."""
    answer = await page.client.get(DATA, headers=bearer)
    assert (answer.status_code, answer.json()["error"]) == (401, "token-missing")
    assert "link" in answer.json()["message"]
    assert page.asked == 0


async def test_another_token_is_refused(page: Page) -> None:
    """That of an ended process opens nothing."""
    answer = await page.client.post(DATA, headers=Page().bearer)
    assert (answer.status_code, answer.json()["error"]) == (401, "token-wrong")
    assert page.asked == 0


async def test_a_token_in_the_address_is_none(page: Page) -> None:
    """It travels in its header only."""
    token = page.bearer["Authorization"].removeprefix("Bearer ")
    answer = await page.client.get(f"{DATA}?token={token}", headers={"Cookie": f"token={token}"})
    assert answer.status_code == 401


@pytest.mark.parametrize("path", ["/elsewhere", "/api/elsewhere", "/API/data", "//api/data", "/api/data/"])
async def test_what_is_no_file_of_the_page_needs_the_token(page: Page, path: str) -> None:
    """A route that somebody adds is closed before it is thought about, whatever its name."""
    assert (await page.client.get(path)).status_code == 401


@each_case("headers", FOREIGN)
@each_case("path", [DATA, SHELL])
async def test_other_pages_get_nothing(page: Page, headers: dict[str, str], path: str) -> None:
    """Not with the token, and not the files: another site, another port of this machine, another scheme."""
    for ask in (page.client.get, page.client.post):
        answer = await ask(path, headers={**page.bearer, **headers})
        assert (answer.status_code, answer.json()["error"]) == (403, "wrong-origin")
    assert page.asked == 0


@pytest.mark.parametrize("headers", OWN)
async def test_the_page_itself_is_answered(page: Page, headers: dict[str, str]) -> None:
    """With the token, from itself, or from a program that is no browser; its files without the token."""
    assert (await page.client.get(DATA, headers={**page.bearer, **headers})).status_code == 200
    assert (await page.client.get(SHELL, headers=headers)).status_code == 200


async def test_the_order_of_the_checks(page: Page) -> None:
    """The host is asked about first, then the token, then the origin (decision 37)."""
    foreign = {"Origin": "http://evil.example"}
    first = await page.client.get(DATA, headers={"Host": "evil.example", **foreign})
    second = await page.client.get(DATA, headers=foreign)
    third = await page.client.get(DATA, headers={**page.bearer, **foreign})
    assert [one.json()["error"] for one in (first, second, third)] == [
        "wrong-host",
        "token-missing",
        "wrong-origin",
    ]


@pytest.mark.parametrize("path", [DATA, SHELL, "/nowhere"])
async def test_no_answer_may_be_shared(page: Page, path: str) -> None:
    """No cookie, no leave for other origins, no caching, no frame; refusals too."""
    for headers in (page.bearer, {"Host": "evil.example"}, {**page.bearer, "Origin": "http://evil.example"}):
        answered = (await page.client.options(path, headers=headers)).headers
        answered.update((await page.client.get(path, headers=headers)).headers)
        assert not {one for one in answered if one.startswith("access-control") or one == "set-cookie"}
        assert answered["cache-control"] == "no-store"
        assert answered["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in answered["content-security-policy"]


async def test_a_refusal_is_logged_without_values(page: Page) -> None:
    """The log says why, and holds neither address nor header."""
    with logged() as logs:
        _ = await page.client.get("/api/secret-path", headers={"Host": "evil.example"})
    [line] = logs
    refusal = {"event": "request refused", "level": "warning", "reason": "wrong-host", "method": "GET"}
    assert line == refusal | {"timestamp": line["timestamp"]}


async def test_an_error_is_shown_in_full(page: Page) -> None:
    """It is the owner's own: a sentence that says what failed, whatever its status."""
    answer = await page.client.get("/api/fails", headers=page.bearer)
    body = {"error": "mailbox-unreachable", "message": "It gave no answer for 30 s."}
    assert (answer.status_code, answer.json()) == (503, body)


async def test_the_reference_holds_no_data(page: Page) -> None:
    """It is open to the page's own origin without the token, and describes the operations."""
    assert DATA in (await page.client.get("/openapi.json")).json()["paths"]
    assert DATA in (await page.client.get("/docs")).text
