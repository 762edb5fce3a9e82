"""The two HTTP apps: the public one, and the private one for this machine only (decision 42)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from orrery.edge.direct import DirectRoute
from orrery.edge.headers import SecurityHeaders
from orrery.edge.metrics import MeasuredApp, Metrics
from orrery.edge.problems import handle_errors
from orrery.edge.reference import reference_page
from orrery.ports.health import Finding, Round

Readiness = Callable[[], Round]


def public_app(
    routers: Sequence[APIRouter],
    direct: Sequence[DirectRoute],
    readiness: Readiness,
    metrics: Metrics,
    site: ASGIApp | None = None,
) -> FastAPI:
    """Return the public app; `direct` routes come first, and `site` answers what no operation does."""
    app = bare_app("Orrery", routers, direct)
    app.add_api_route("/healthz", _healthz, tags=["health"], summary="Is the process alive?")

    @app.get(
        "/readyz", tags=["health"], summary="Can it do its work?", responses={503: {"description": "Not ready"}}
    )
    async def readyz() -> Response:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        """Report whether every configured part is well; the private listener names the one that is not."""
        ready = _is_ready(readiness().findings)
        return JSONResponse({"ready": ready}, 200 if ready else 503)

    _describe_bearer(app)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(MeasuredApp, metrics=metrics)
    if site is not None:
        app.router.default = _SiteBehindOperations(site)
    return app


def private_app(
    public: FastAPI,
    readiness: Readiness,
    metrics: Metrics,
    undelivered: Callable[[], Awaitable[Mapping[str, int]]],
    routers: Sequence[APIRouter],
    problems: Callable[[], Mapping[str, int]] = dict,
) -> FastAPI:
    """Return the private app: metrics, readiness in detail, the public operations' reference, and `routers`.

    `problems` returns how many there are of each severity.
    """
    app = bare_app("Orrery, private", routers)
    app.add_api_route("/healthz", _healthz)
    add_reference(app, public)

    @app.get("/metrics")
    async def figures() -> Response:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        """Show the figures."""
        for state, count in (await undelivered()).items():
            metrics.notifications.labels(state).set(count)
        for severity, count in problems().items():
            metrics.problems.labels(severity).set(count)
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    @app.get("/readyz")
    async def readyz() -> Response:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        """Report which part is well, which is not, why, and what to do."""
        last = readiness()
        ready = _is_ready(last.findings)
        body = {"ready": ready, "at": last.at.isoformat(), "parts": [asdict(part) for part in last.findings]}
        return JSONResponse(body, 200 if ready else 503)

    app.add_middleware(SecurityHeaders)
    # A page elsewhere must not reach this listener by its own host name that points here.
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost", "[::1]"])
    return app


def add_reference(app: FastAPI, public: FastAPI) -> None:
    """Add the reference of the operations of `public` to `app`: for people at `/docs`."""

    @app.get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        """Describe the public operations for machines."""
        return JSONResponse(public.openapi())

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        """Describe the public operations for people."""
        policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
        return HTMLResponse(reference_page(public.openapi()), headers={"Content-Security-Policy": policy})


def bare_app(
    title: str, routers: Sequence[APIRouter], direct: Sequence[DirectRoute] = (), *, in_full: bool = False
) -> FastAPI:
    """Return an app of `routers` that answers errors in our shape, and 404 where there is nothing."""
    app = FastAPI(title=title, version="1", openapi_url=None, docs_url=None, redoc_url=None, routes=[*direct])
    # The framework would send an address with a slash too many on, to the host that the request names.
    app.router.redirect_slashes = False
    for router in routers:
        app.include_router(router)
    handle_errors(app, in_full=in_full)
    return app


def _describe_bearer(app: FastAPI) -> None:
    described = app.openapi

    def with_bearer() -> dict[str, Any]:
        document = described()
        schemes = document.setdefault("components", {}).setdefault("securitySchemes", {})
        schemes["serviceBearer"] = {
            "type": "http",
            "scheme": "bearer",
            "description": "A practice site's",
        }
        schemes["adminBearer"] = {"type": "http", "scheme": "bearer", "description": "The admin password."}
        return document

    app.openapi = with_bearer


class _SiteBehindOperations:
    """The site answers what no operation does, but for the operations' own paths."""

    def __init__(self, site: ASGIApp) -> None:
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["path"].startswith("/guided/"):
            raise HTTPException(404)
        await self._site(scope, receive, send)


async def _healthz() -> dict[str, bool]:
    """Report that the process is alive."""
    return {"alive": True}


def _is_ready(parts: Sequence[Finding]) -> bool:
    return not any(part.state == "broken" and part.essential for part in parts)
