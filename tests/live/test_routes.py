"""The counter over HTTP (spec 2, Endpoints and Authentication; decision 20)."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import anyio
import httpx2
import pytest
from anyio.lowlevel import checkpoint
from starlette.types import ASGIApp

from orrery.adapters.github import GitHubTracker
from orrery.adapters.memory import MemoryStore
from orrery.adapters.public_counter import HttpCounter
from orrery.edge.auth import GuessLimiter
from orrery.edge.http import public_app
from orrery.edge.metrics import Metrics
from orrery.edge.public_reads import PublicReads
from orrery.errors import NotConfigured, StoreUnavailable
from orrery.live import keys
from orrery.live.build import LiveDomain, LivePlan
from orrery.live.routes import PATH
from orrery.live.settings import LiveSettings
from orrery.ports.store import Put
from orrery.runtime.tasks import Tasks
from tests.support.analytics import MemoryAnalytics, failure
from tests.support.clock import ManualClock
from tests.support.requests import client_of
from tests.support.rounds import found
from tests.support.tables import each_case
from tests.support.unreliable_store import UnreliableStore

PASSWORD = "the owner's long password"  # noqa: S105  a password of the tests
BEARER = {"Authorization": f"Bearer {PASSWORD}"}
REFRESH = "/api/stats?refresh=realtime"
SITE, COSMOS = "/api/stats?realtime=1", "/api/stats?realtime=cosmos"
INTEL = f"{COSMOS}&intel=1"
GUIDED = "/guided/api/admin/realtime"
UNAUTHORIZED = {"ok": False, "error": "Unauthorized"}
"""What the specification says to the letter."""


@dataclass
class Service:
    """The public app over a store and a provider in memory."""

    app: ASGIApp
    analytics: MemoryAnalytics
    store: UnreliableStore
    clock: ManualClock

    async def ask(self, path: str, method: str = "GET", **headers: str) -> httpx2.Response:
        """Ask once."""
        async with client_of(self.app) as client:
            return await client.request(method, path, headers=headers)

    async def refresh(self) -> dict[str, Any]:
        """Refresh as the owner."""
        return (await self.ask(REFRESH, "POST", **BEARER)).json()


def plan(**other: object) -> LivePlan:
    """Return a deployment with everything configured, and with other settings where given."""
    return LivePlan(
        LiveSettings.model_validate({"property_id": "1", **other}),
        has_key=True,
        source="a property",
        password_hash=hashlib.sha256(PASSWORD.encode()).hexdigest(),
    )


def service_of(deployment: LivePlan) -> Service:
    """Return the service of a deployment."""
    clock, analytics = ManualClock(), MemoryAnalytics()
    store = UnreliableStore(MemoryStore(clock))
    tracker = GitHubTracker("https://tracker.invalid", None, None)
    live = LiveDomain(
        store,
        clock,
        analytics,
        HttpCounter("https://counter.invalid"),
        tracker,
        deployment,
        Tasks(),
        holder="one",
        wrong_passwords=GuessLimiter(clock),
    )
    routes = live.routes()
    app = public_app(routes.public, [], found(), Metrics())
    return Service(
        PublicReads(app, PATH, routes.reads[PATH], lambda _method, _status: None), analytics, store, clock
    )


@pytest.fixture
def service() -> Service:
    """Return the service of a deployment with everything configured."""
    return service_of(plan())


async def test_a_refresh_as_specified(service: Service) -> None:
    """A refresh answers ok, the count, how many pages it wrote, and when."""
    answer = await service.ask(REFRESH, "POST", **BEARER)
    assert answer.status_code == 200
    assert answer.json() == {"ok": True, "active": 12, "pages_count": 2, "generated_at": "2026-03-01T12:00:00Z"}
    assert answer.headers["cache-control"] == "private, no-store"


async def test_public_reads_show_the_refresh_at_once(service: Service) -> None:
    """Both reads show what was written, and neither asks the provider."""
    assert (await service.ask(COSMOS)).json()["error"] == "no-data"
    await service.refresh()
    assert (await service.ask(SITE)).json()["active"] == 12
    assert (await service.ask(COSMOS)).json()["totalUnique"] == 12
    assert service.analytics.calls.total() == 2


async def test_a_thousand_reads_of_an_empty_store_ask_no_provider(service: Service) -> None:
    """Public reads fail closed: an empty cache stays empty, however many ask, by whatever address."""
    async with client_of(service.app) as client:
        for number, path in enumerate((SITE, COSMOS) * 500):
            assert (await client.get(f"{path}&x={number}" if number % 4 > 1 else path)).status_code == 200
    assert service.analytics.calls.total() == 0


@each_case(
    "query",
    [
        "",
        "?",
        "?realtime=",
        "?realtime=2",
        "?realtime=Cosmos",
        "?intel=1",
        "?realtime=1&intel=1",
        "?realtime=1&x=2&intel=0",
        "?realtime=cosmos&intel=1&intel=1",
        "?realtime=1&refresh=realtime",
        "?realtime=cosmos&intel=0",
        "?realtime=1&realtime=cosmos",
        "?refresh=realtime",
        "?realtime=1%00",
    ],
)
async def test_an_unknown_query(service: Service, query: str) -> None:
    """Any other query is refused by 400 and its tag."""
    answer = await service.ask(f"/api/stats{query}")
    assert (answer.status_code, answer.json()["error"]) == (400, "unknown-query")
    assert answer.headers["access-control-allow-origin"] == "*"


@each_case("query", ["", "?refresh=", "?refresh=pages", "?refresh=realtime&intel=1", "?realtime=1", "?x=realtime"])
async def test_an_unknown_refresh(service: Service, query: str) -> None:
    """Only the realtime values can be refreshed."""
    answer = await service.ask(f"/api/stats{query}", "POST", **BEARER)
    assert (answer.status_code, answer.json()["error"]) == (400, "unknown-query")


async def test_an_unknown_field_changes_no_read_of_the_owners(service: Service) -> None:
    """It makes neither a refresh nor the owner's read another one."""
    assert (await service.ask(f"{REFRESH}&x=1", "POST", **BEARER)).json()["ok"]
    assert (await service.ask(f"{INTEL}&x=1", **BEARER)).json()["byPlanet"]
    assert (await service.ask(f"{INTEL}&x=1")).status_code == 401


@pytest.mark.parametrize("query", ["realtime=%31", "&realtime=1", "realtime=1&", "_=17&realtime=1&x"])
async def test_another_spelling_of_a_known_query(service: Service, query: str) -> None:
    """A known query gets the same answer and headers in every spelling, and beside unknown fields."""
    answer, fast = await service.ask(f"/api/stats?{query}"), await service.ask(SITE)
    assert answer.json() == fast.json()
    for name in ("etag", "cache-control", "access-control-allow-origin", "content-type"):
        assert answer.headers[name] == fast.headers[name]
    again = await service.ask(f"/api/stats?{query}", **{"If-None-Match": fast.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


WRONG = [
    {},
    {"Authorization": ""},
    {"Authorization": "Bearer"},
    {"Authorization": "Bearer "},
    {"Authorization": "Bearer wrong"},
    {"Authorization": f"Basic {PASSWORD}"},
    {"Authorization": f"Bearer {PASSWORD}x"},
    {"Authorization": "Bearer " + "x" * 1_000_000},
    {"Authorization": "Bearer " + hashlib.sha256(PASSWORD.encode()).hexdigest()},
]


async def _asked(service: Service, ask: Callable[[], Awaitable[httpx2.Response]]) -> httpx2.Response:
    """Ask, and let the time pass that a wrong bearer has to wait."""
    answers: list[httpx2.Response] = []

    async def work() -> None:
        answers.append(await ask())

    async with anyio.create_task_group() as group:
        group.start_soon(work)
        while not answers:
            service.clock.advance(1)
            await checkpoint()
    return answers[0]


@each_case("headers", WRONG)
@each_case(("method", "path"), [("POST", REFRESH), ("GET", INTEL), ("GET", GUIDED)])
async def test_without_the_bearer(service: Service, method: str, path: str, headers: dict[str, str]) -> None:
    """A missing, wrong or endless bearer is Unauthorized, and the provider is not asked."""
    answer = await _asked(service, lambda: service.ask(path, method, **headers))
    assert (answer.status_code, answer.json()) == (401, UNAUTHORIZED)
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["cache-control"] == "private, no-store"
    assert service.analytics.calls.total() == 0


@pytest.mark.parametrize(
    ("method", "path", "error"),
    [("POST", REFRESH, "no-provider-auth"), ("GET", INTEL, "no-auth"), ("GET", GUIDED, "no-auth")],
)
async def test_without_the_providers_key(method: str, path: str, error: str) -> None:
    """A missing key is 503 with the name that the specification gives it on this endpoint; reads go on."""
    service = service_of(replace(plan(), has_key=False))
    answer = await service.ask(path, method, **BEARER)
    assert (answer.status_code, answer.json()) == (503, {"ok": False, "error": error})
    assert (await service.ask(SITE)).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "error"),
    [("POST", REFRESH, "no-provider-auth"), ("GET", INTEL, "no-auth"), ("GET", GUIDED, "no-auth")],
)
async def test_with_a_key_that_is_none(service: Service, method: str, path: str, error: str) -> None:
    """A key that cannot be used is told as a missing one."""
    service.analytics.fails = dict.fromkeys([None, "page", "planet"], NotConfigured("The key cannot be used."))
    for _ in range(3):
        answer = await service.ask(path, method, **BEARER)
        assert (answer.status_code, answer.json()["error"]) == (503, error)
        service.clock.advance(60)


@pytest.mark.parametrize(("method", "path"), [("POST", REFRESH), ("GET", INTEL)])
async def test_without_the_store(service: Service, method: str, path: str) -> None:
    """A store that cannot be reached is 503 kv-not-bound for the owner, and 200 with the same error in public."""
    service.store.get_errors = [StoreUnavailable("It is gone.")] * 9
    answer = await service.ask(path, method, **BEARER)
    assert (answer.status_code, answer.json()["error"]) == (503, "kv-not-bound")
    public = await service.ask(COSMOS)
    assert (public.status_code, public.json()["error"]) == (200, "kv-not-bound")


async def test_provider_trouble_is_told_by_200(service: Service) -> None:
    """What the provider refuses is no error of ours: 200, ok false, and why."""
    service.analytics.fails = {None: failure("hour", 429)}
    answer = await service.ask(REFRESH, "POST", **BEARER)
    assert (answer.status_code, answer.json()["ok"], answer.json()["error"]) == (200, False, "quota-exhausted")


async def test_the_intel_read(service: Service) -> None:
    """The total comes from the cache while it is fresh, the planets from one direct query."""
    await service.refresh()
    answer = await service.ask(INTEL, **BEARER)
    assert answer.json() == {
        "totalUnique": 12,
        "scope": "cosmos",
        "generated_at": "2026-03-01T12:00:00Z",
        "age_s": 0,
        "stale": False,
        "window_minutes": 30,
        "byPlanet": [{"planet": "Northwind", "users": 8}, {"planet": "Tideline", "users": 4}],
    }
    assert answer.headers["cache-control"] == "private, no-store"
    assert service.analytics.calls == {None: 1, "page": 1, "planet": 1}


async def test_intel_of_an_old_cache_asks_for_the_total(service: Service) -> None:
    """Where the cache is not fresh the total comes from one direct query, which fills no cache (decision 23)."""
    await service.refresh()
    service.clock.advance(181)
    service.analytics.visitors = 30
    assert (await service.ask(INTEL, **BEARER)).json()["totalUnique"] == 30
    assert (await service.ask(COSMOS)).json()["totalUnique"] == 12


async def test_intel_while_the_provider_refuses(service: Service) -> None:
    """The cached total is shown without planets, and the reason is named."""
    await service.refresh()
    service.analytics.fails = {"planet": failure("thresholded", 429)}
    answer = (await service.ask(INTEL, **BEARER)).json()
    assert (answer["totalUnique"], answer["byPlanet"], answer["error"]) == (12, None, "quota-exhausted")


async def test_the_guided_read_is_kept_for_five_minutes(service: Service) -> None:
    """For 5 minutes the process answers from its memory; then the provider is asked again."""
    first = (await service.ask(GUIDED, **BEARER)).json()
    assert first == {"active": 12, "generated_at": "2026-03-01T12:00:00Z", "age_s": 0, "window_minutes": 30}
    service.analytics.visitors = 5
    service.clock.advance(299)
    assert (await service.ask(GUIDED, **BEARER)).json() == {**first, "age_s": 299}
    service.clock.advance(1)
    assert (await service.ask(GUIDED, **BEARER)).json()["active"] == 5
    assert service.analytics.calls == {None: 2}


async def test_the_guided_read_while_the_provider_fails(service: Service) -> None:
    """The last good count is told with the reason, for half an hour; then only the reason."""
    await service.ask(GUIDED, **BEARER)
    service.clock.advance(600)
    service.analytics.fails = {None: failure("unreachable")}
    answer = (await service.ask(GUIDED, **BEARER)).json()
    assert (answer["active"], answer["age_s"], answer["error"]) == (12, 600, "provider-unreachable")
    service.clock.advance(1300)
    answer = (await service.ask(GUIDED, **BEARER)).json()
    assert answer == {"ok": False, "error": "provider-unreachable"}


async def test_owners_reads_never_cost_the_total_its_quota(service: Service) -> None:
    """However often the owner asks, the hour's totals are still asked for."""
    for _ in range(200):
        await service.ask(INTEL, **BEARER)
    assert service.analytics.calls.total() * 10 <= 1750 - 60 * 10
    refused = (await service.ask(INTEL, **BEARER)).json()
    assert refused["error"] == "quota-exhausted"
    assert (await service.refresh())["ok"]


@pytest.mark.parametrize("key", [keys.ACTIVE, keys.PAGES, keys.LAST_ERROR, keys.OUTCOME, keys.QUOTA])
async def test_foreign_values_never_break_an_endpoint(service: Service, key: str) -> None:
    """Whatever lies in the store, every endpoint answers."""
    await service.store.commit([Put(key, b"\x00not ours")])
    for path in (SITE, COSMOS, INTEL, GUIDED):
        assert (await service.ask(path, **BEARER)).status_code == 200
    assert (await service.refresh())["ok"]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
async def test_another_method(service: Service, method: str) -> None:
    """Any other method is refused, with those that are there."""
    answer = await service.ask(SITE, method)
    assert (answer.status_code, answer.json()["error"]) == (405, "method-not-allowed")
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS, POST"


async def test_what_a_browser_asks_first(service: Service) -> None:
    """A page elsewhere may send headers of its own with a public read, and no method but GET and HEAD."""
    answer = await service.ask(COSMOS, "OPTIONS", Origin="https://planet.example")
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-methods"] == "GET, HEAD"


@pytest.mark.parametrize("name", ["pill.js", "tile.js", "admin.js"])
async def test_a_widget(service: Service, name: str) -> None:
    """Any site may take the scripts, and is told when it has them already."""
    answer = await service.ask(f"/live/{name}")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["access-control-allow-origin"] == "*"
    again = await service.ask(f"/live/{name}", **{"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_the_widgets_carry_the_settings() -> None:
    """LIVE_MIN_VISIBLE and the poll's interval are the deployment's."""
    service = service_of(plan(min_visible=3, poll_interval=5))
    text = (await service.ask("/live/pill.js")).text
    assert "MIN_VISIBLE = 3;" in text
    assert "INTERVAL = 5;" in text


@pytest.mark.parametrize("name", ["other.js", "pill", "..", "%2e%2e%2ftokens.css"])
async def test_no_other_file(service: Service, name: str) -> None:
    """Nothing else is served there."""
    assert (await service.ask(f"/live/{name}")).status_code == 404
