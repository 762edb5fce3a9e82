"""The two apps: what the public may ask, and what only the machine itself may see (decision 42)."""

import re

import pytest
from fastapi import APIRouter, FastAPI, Header
from starlette.responses import PlainTextResponse, Response

from orrery.edge.http import private_app, public_app
from orrery.edge.metrics import Metrics
from orrery.errors import Invalid, StoreUnavailable
from orrery.ports.health import Finding
from orrery.secrets.routes import secrets_routes
from tests.support.clock import ManualClock
from tests.support.panels import owner_page
from tests.support.requests import client_of
from tests.support.rounds import found
from tests.support.tables import each_case

WELL = Finding("store", "ok", essential=True)
BROKEN = Finding("webhook secret", "broken", "It is missing.", "Put it into its file.", essential=True)
UNLUCKY = Finding("notifications", "broken", "2 were refused permanently.", essential=False)
OFF = Finding("email", "off", "It is not configured.", essential=True)


def router() -> APIRouter:
    """Return a few operations: one that works, one that our errors stop, one that breaks."""
    made = APIRouter(prefix="/guided/api")

    @made.get("/works/{what}", summary="Work <b>hard</b>", description="As `what` says.")
    async def works(what: str) -> dict[str, str]:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        return {"what": what}

    @made.get("/own")
    async def own() -> Response:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        return PlainTextResponse("x", headers={"X-Frame-Options": "SAMEORIGIN", "Cache-Control": "max-age=60"})

    @made.get("/invalid")
    async def invalid() -> None:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        raise Invalid("A sentence.")

    @made.get("/breaks")
    async def breaks() -> None:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        raise ZeroDivisionError

    @made.get("/number")
    async def number(x_number: int = Header()) -> int:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        return x_number

    return made


async def undelivered() -> dict[str, int]:
    """Return what is not delivered."""
    return {"waiting": 3, "held": 0, "dead": 1}


def apps(*parts: Finding, metrics: Metrics | None = None) -> tuple[FastAPI, FastAPI]:
    """Return both apps over parts in that state."""
    metrics = metrics or Metrics()
    public = public_app([router()], [], found(*parts), metrics)
    return public, private_app(public, found(*parts), metrics, undelivered, [owner_page(ManualClock()).router()])


@pytest.mark.parametrize(
    ("path", "status"),
    [("/healthz", 200), ("/guided/api/works/1", 200), ("/nowhere", 404), ("/guided/api/invalid", 400)],
)
async def test_every_answer_has_the_security_headers(path: str, status: int) -> None:
    """Answers of any status carry the security headers."""
    for app in apps(WELL):
        async with client_of(app) as client:
            answer = await client.get(path)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.status_code in (status, 404)


async def test_an_answer_keeps_its_own_header() -> None:
    """A header that an answer sets itself is left as it is, and not doubled."""
    async with client_of(apps(WELL)[0]) as client:
        answer = await client.get("/guided/api/own")
    assert answer.headers.get_list("x-frame-options") == ["SAMEORIGIN"]
    assert answer.headers.get_list("cache-control") == ["max-age=60"]


@each_case("path", ["/healthz", "/readyz", "/guided/api/works/1", "/nowhere", "/guided/api/breaks"])
async def test_what_says_nothing_else_is_stored_nowhere(path: str) -> None:
    """An answer that does not say how long it may be kept is kept by no cache, of either listener."""
    for app in apps(WELL):
        async with client_of(app, raising=False) as client:
            answer = await client.get(path)
        assert answer.headers.get_list("cache-control") == ["no-store"]


@each_case("path", ["/metrics", "/docs", "/openapi.json", "/redoc", "/owner", "/secrets"])
async def test_the_public_sees_nothing_private(path: str) -> None:
    """Metrics and reference are not there on the public app."""
    async with client_of(apps(WELL)[0]) as client:
        assert (await client.get(path)).status_code == 404


async def test_fingerprints_of_what_is_in_memory() -> None:
    """The private app shows what it is given of the secrets, and no cache keeps it."""
    shown = {"keyed_by": "0123456789ab", "secrets": {"push_token": None}}
    public = apps(WELL)[0]
    private = private_app(public, found(WELL), Metrics(), undelivered, secrets_routes(lambda: shown).private)
    async with client_of(private) as client:
        answer = await client.get("/secrets")
    assert (answer.json(), answer.headers["cache-control"]) == (shown, "no-store")


@pytest.mark.parametrize(
    ("parts", "ready"), [([WELL, OFF], True), ([WELL, UNLUCKY], True), ([WELL, BROKEN], False)]
)
async def test_ready_or_not(parts: list[Finding], ready: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """The public learns whether all that is essential is well, and not what is broken."""
    async with client_of(apps(*parts)[0]) as client:
        answer = await client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200 if ready else 503, {"ready": ready})
    assert answer.headers["cache-control"] == "no-store"


async def test_the_owner_learns_which() -> None:
    """On the private app every part is told with its reason and what to do."""
    async with client_of(apps(WELL, BROKEN)[1]) as client:
        answer = await client.get("/readyz")
    assert answer.status_code == 503
    (_, broken) = answer.json()["parts"]
    assert (broken["part"], broken["why"], broken["todo"]) == (
        "webhook secret",
        "It is missing.",
        "Put it into its file.",
    )


async def test_figures() -> None:
    """The private app shows requests by route and status, never by path, and what is undelivered."""
    metrics = Metrics()
    public, private = apps(WELL, metrics=metrics)
    async with client_of(public) as client:
        await client.get("/guided/api/works/marked-value")
        await client.get("/nowhere/marked-value")
    async with client_of(private) as client:
        text = (await client.get("/metrics")).text
    assert 'orrery_http_requests_total{method="GET",route="/guided/api/works/{what}",status="200"} 1.0' in text
    assert 'route="other",status="404"} 1.0' in text
    assert 'orrery_notifications{state="dead"} 1.0' in text
    assert "marked-value" not in text


@pytest.mark.parametrize("host", ["attacker.example", "127.0.0.1.attacker.example", "127.0.0.2"])
async def test_no_other_name_leads_to_the_private_app(host: str) -> None:
    """A page elsewhere cannot reach the private app by a name that it points to this machine."""
    async with client_of(apps(WELL)[1], host=host) as client:
        assert (await client.get("/metrics")).status_code == 400


@each_case("host", ["127.0.0.1", "localhost", "127.0.0.1:8081", "localhost:8081", "[::1]", "[::1]:8081"])
async def test_this_machine_reaches_the_private_app(host: str) -> None:
    """By this machine's own names, with or without a port, the private app answers."""
    async with client_of(apps(WELL)[1], host=host) as client:
        assert (await client.get("/healthz")).status_code == 200


async def test_wrong_parameters() -> None:
    """A parameter that the framework refuses is a 422 in our form, naming it and not its value."""
    async with client_of(apps(WELL)[0]) as client:
        answer = await client.get("/guided/api/number", headers={"x-number": "marked-value"})
    assert answer.status_code == 422
    assert answer.json()["error"] == "invalid-field"
    assert "x-number" in answer.json()["message"]
    assert "marked-value" not in answer.text


async def test_a_bug_is_told_in_our_form() -> None:
    """An error that nobody foresaw is a 500 in our form, tells nothing, and is raised for the server to log."""
    async with client_of(apps(WELL)[0], raising=False) as client:
        answer = await client.get("/guided/api/breaks")
    assert (answer.status_code, answer.json()["error"]) == (500, "internal")
    assert "ZeroDivision" not in answer.text
    async with client_of(apps(WELL)[0]) as client:
        with pytest.raises(ZeroDivisionError):
            await client.get("/guided/api/breaks")


async def test_the_site_stands_behind_the_operations() -> None:
    """A site answers what no operation does, and never under the operations' own paths."""
    app = public_app([router()], [], found(WELL), Metrics(), PlainTextResponse("site"))
    async with client_of(app) as client:
        assert (await client.get("/")).text == "site"
        assert (await client.get("/healthz")).json() == {"alive": True}
        assert (await client.get("/guided/api/nowhere")).json()["error"] == "not-found"
        assert (await client.post("/guided/api/works/1")).status_code == 405


async def test_the_reference() -> None:
    """The reference shows every public operation, escaped, and brings no script and no outside resource."""
    public, private = apps(WELL)
    async with client_of(private) as client:
        page = (await client.get("/docs")).text
        document = (await client.get("/openapi.json")).json()
    for path in document["paths"]:
        assert path in page
    assert "Work &lt;b&gt;hard&lt;/b&gt;" in page
    assert "As <code>what</code> says." in page
    assert not re.search(r"<script|<link|<img|<iframe|\bsrc=|@import|url\(|https?://", page)
    assert public.openapi_url is None


async def test_a_store_that_is_gone() -> None:
    """When the figures cannot be had the private app says so, in our form."""

    async def gone() -> dict[str, int]:
        raise StoreUnavailable("disk sda1")

    public, _ = apps(WELL)
    private = private_app(public, found(WELL), Metrics(), gone, [owner_page(ManualClock()).router()])
    async with client_of(private) as client:
        answer = await client.get("/metrics")
    assert (answer.status_code, answer.json()["error"]) == (503, "store-unavailable")
    assert "sda1" not in answer.text


async def test_the_bearer_is_described() -> None:
    """The document says what kind of credential the two bearers are."""
    schemes = apps(WELL)[0].openapi()["components"]["securitySchemes"]
    assert {name: (one["type"], one["scheme"]) for name, one in schemes.items()} == {
        "serviceBearer": ("http", "bearer"),
        "adminBearer": ("http", "bearer"),
    }


async def test_what_another_part_counts() -> None:
    """A part's own counts are shown by their label, as they are at that moment."""
    metrics, counts = Metrics(), {"wrong signature": 2}
    metrics.watch("orrery_webhook_refused", "Webhooks that were refused.", "reason", counts)
    counts["wrong signature"] += 1
    assert b'orrery_webhook_refused_total{reason="wrong signature"} 3.0' in metrics.text()
