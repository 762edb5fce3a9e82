"""The ping over HTTP: who may send it, and what is refused (docs/decisions/0060)."""

import asyncio
import json
from datetime import timedelta

import httpx2
import pytest

from orrery.adapters.memory import MemoryStore
from orrery.edge.auth import ServiceBearer
from orrery.edge.http import public_app
from orrery.edge.metrics import Metrics
from orrery.gateway.pings import GatewayPlan, Pings
from orrery.gateway.reports import Reports
from orrery.gateway.routes import LARGEST_BODY, GatewayRoutes
from tests.support.clock import START, ManualClock, settled
from tests.support.requests import client_of
from tests.support.rounds import found
from tests.support.tables import each_case

TOKEN = "a-token-of-the-tests-and-of-nobody-else"  # noqa: S105  it opens nothing
BEARER = {"Authorization": f"Bearer {TOKEN}"}
GOOD = {
    "state": "active",
    "sub_state": "running",
    "result": "success",
    "exec_main_status": 0,
    "active_seconds": 1234,
    "restarts": 0,
    "probe": "200",
}


JOB = {
    "id": "0a1b2c3d-0",
    "status": "Completed",
    "started_at": "2026-03-01T11:00:00.123Z",
    "ended_at": "2026-03-01T11:01:00Z",
}
REPORT: dict[str, object] = {
    "power": "running",
    "health": "Available",
    "webhook_expires_at": "2026-11-23T08:00:00+00:00",
    "alerts": {"health": "on", "deallocate": "missing"},
    "jobs": [
        {"id": "0a1b2c3d-1", "status": "Running", "started_at": "2026-03-01T11:58:00Z", "ended_at": None},
        JOB,
    ],
    "troubles": ["role: The identity has no role\non the machine."],
}


class Site:
    """The public app that expects pings, or does not."""

    def __init__(self, *, expects: bool = True, token: str = TOKEN) -> None:
        self.clock = ManualClock()
        plan = GatewayPlan(expects, bool(token), timedelta(minutes=10))
        store = MemoryStore(self.clock)
        self.pings = Pings(store, self.clock, plan)
        self.reports = Reports(store, self.clock)
        bearer = ServiceBearer([token.encode()], self.clock)
        routes = GatewayRoutes(self.pings if expects else None, self.reports, bearer)
        self.app = public_app([routes.router()], [], found(), Metrics())

    async def ping(self, body: object, **headers: str) -> httpx2.Response:
        """Send a ping as the guest does."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with client_of(self.app) as client:
            return await client.post("/ping", content=content, headers=headers)


async def test_a_ping_is_kept() -> None:
    """The last one is in the store with its time; what it says more than is known is ignored."""
    site = Site()
    answer = await site.ping(GOOD | {"memory": 12}, **BEARER)
    assert (answer.status_code, answer.content) == (204, b"")
    kept = (await site.pings.last.require()).record
    assert (kept.at, kept.state, kept.active_seconds, kept.probe) == (START, "active", 1234, "200")
    assert site.pings.received == {"good": 1}


async def test_a_wrong_token_is_refused() -> None:
    """Without the token nothing is kept; a wrong one waits for its answer."""
    site = Site()
    assert (await site.ping(GOOD)).status_code == 401
    async with client_of(site.app) as client:
        asked = asyncio.ensure_future(client.post("/ping", json=GOOD, headers={"Authorization": "Bearer other"}))
        await settled()
        site.clock.advance(1)
        assert (await asked).status_code == 401
    assert await site.pings.last.get() is None


@each_case(
    "body",
    [
        b"",
        b"nonsense",
        [],
        {},
        GOOD | {"state": "<b>"},
        GOOD | {"probe": None},
        GOOD | {"restarts": -1},
        GOOD | {"active_seconds": 10**18},
    ],
)
async def test_what_is_no_ping_counts_as_nothing(body: object) -> None:
    """With the right token, too: it is a 422 that names a field, and the last ping stays."""
    site = Site()
    answer = await site.ping(body, **BEARER)
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid-field")
    assert await site.pings.last.get() is None


async def test_a_large_body_is_refused() -> None:
    """A ping is small."""
    assert (await Site().ping(b" " * (LARGEST_BODY + 1), **BEARER)).status_code == 413


@pytest.mark.parametrize(
    ("site", "status", "tag"),
    [
        (Site(expects=False), 404, "pings-off"),
        (Site(token=""), 503, "not-configured"),
    ],
)
async def test_a_site_without_pings_says_so(site: Site, status: int, tag: str) -> None:
    """Where none are expected it is a 404, and where the secret is missing a 503 (decision 41)."""
    answer = await site.ping(GOOD, **BEARER)
    assert (answer.status_code, answer.json()["error"]) == (status, tag)


async def test_a_report_of_the_cloud_is_kept() -> None:
    """It comes with the same token to the same address; it is no ping, and each trouble is one line."""
    site = Site()
    assert (await site.ping({"report": REPORT | {"more": 1}}, **BEARER)).status_code == 204
    kept = await site.reports.find()
    assert kept
    assert (kept.at, kept.power, kept.health_alert, kept.deallocate_alert) == (START, "running", "on", "missing")
    assert [(job.id, job.status, job.ended_at is None) for job in kept.jobs] == [
        ("0a1b2c3d-1", "Running", True),
        ("0a1b2c3d-0", "Completed", False),
    ]
    assert kept.troubles == ("role: The identity has no role on the machine.",)
    assert await site.pings.last.get() is None


@each_case(
    ("change", "field"),
    [
        ({"power": "<b>"}, "report.power"),
        ({"webhook_expires_at": "2026-11-23T08:00:00"}, "report.webhook_expires_at"),
        ({"webhook_expires_at": 1}, "report.webhook_expires_at"),
        ({"alerts": {"health": "on"}}, "report.alerts.deallocate"),
        ({"alerts": {"health": "on", "deallocate": "maybe"}}, "report.alerts.deallocate"),
        ({"jobs": 11 * [JOB]}, "report.jobs"),
        ({"troubles": 11 * ["x"]}, "report.troubles"),
    ],
)
async def test_what_is_no_report_is_refused(change: dict[str, object], field: str) -> None:
    """It is a 422 that names the field, and the last report stays."""
    site = Site()
    answer = await site.ping({"report": REPORT | change}, **BEARER)
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid-field")
    assert answer.json()["message"].startswith(f"{field}: ")
    assert await site.reports.find() is None
