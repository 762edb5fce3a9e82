"""The two HTTP apps: the public one, and the private one for this machine only (decision 42)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from orrery.edge import problems
from orrery.edge.direct import DirectRoute
from orrery.edge.headers import SecurityHeaders
from orrery.edge.metrics import MeasuredApp, Metrics
from orrery.edge.reference import reference_page
from orrery.errors import OrreryError
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
    app = FastAPI(title="Orrery", version="1", openapi_url=None, docs_url=None, redoc_url=None, routes=[*direct])
    answer_plainly(app)
    for router in routers:
        app.include_router(router)

    @app.get("/healthz", tags=["health"], summary="Is the process alive?")
    async def healthz() -> dict[str, bool]:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        """Say that the process is alive."""
        return {"alive": True}

    @app.get(
        "/readyz", tags=["health"], summary="Can it do its work?", responses={503: {"description": "Not ready"}}
    )
    async def readyz() -> Response:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        """Say whether every configured part is well; the private listener says which one is not."""
        ready = _is_ready(readiness().findings)
        return JSONResponse({"ready": ready}, 200 if ready else 503)

    _describe_bearer(app)
    handle_errors(app)
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
) -> FastAPI:
    """Return the private app: metrics, readiness in detail, the public operations' reference, and `routers`."""
    app = FastAPI(title="Orrery, private", openapi_url=None, docs_url=None, redoc_url=None)
    answer_plainly(app)

    @app.get("/metrics")
    async def figures() -> Response:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        """Show the figures."""
        for state, count in (await undelivered()).items():
            metrics.notifications.labels(state).set(count)
        return Response(metrics.text(), media_type="text/plain; version=0.0.4")

    @app.get("/healthz")
    async def healthz() -> dict[str, bool]:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        """Say that the process is alive."""
        return {"alive": True}

    @app.get("/readyz")
    async def readyz() -> Response:  # pyright: ignore[reportUnusedFunction] the decorator registers it
        """Say which part is well, which is not, why, and what to do."""
        last = readiness()
        ready = _is_ready(last.findings)
        body = {"ready": ready, "at": last.at.isoformat(), "parts": [asdict(part) for part in last.findings]}
        return JSONResponse(body, 200 if ready else 503)

    for router in routers:
        app.include_router(router)
    add_reference(app, public)
    handle_errors(app)
    app.add_middleware(SecurityHeaders)
    # A page elsewhere must not reach this listener by a name of its own that points here.
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


def answer_plainly(app: FastAPI) -> None:
    """Answer 404 where there is nothing, instead of a redirection."""
    # The framework would send an address with a slash too many on, to whatever host the request names.
    app.router.redirect_slashes = False


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


def _is_ready(parts: Sequence[Finding]) -> bool:
    return not any(part.state == "broken" and part.essential for part in parts)


def handle_errors(app: FastAPI) -> None:
    """Answer every error in the shape of decision 3."""
    app.add_exception_handler(problems.Problem, problems.show_problem)
    app.add_exception_handler(OrreryError, problems.show_error)
    app.add_exception_handler(HTTPException, problems.show_http_exception)
    app.add_exception_handler(RequestValidationError, _show_invalid)
    app.add_exception_handler(Exception, problems.show_bug)


async def _show_invalid(_request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return problems.Problem(422, "invalid-field", f"{where}: {first['msg']}.").response()
