"""The counter over HTTP (spec 2, Endpoints; decision 20). `edge/public_reads.py` serves the public reads."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from orrery.edge.auth import AdminBearer
from orrery.edge.cors import PREFLIGHT_HEADERS, PUBLIC_HEADERS
from orrery.edge.problem import Problem
from orrery.edge.public_reads import (
    AnswerSource,
    ReadSources,
    known_part,
)
from orrery.edge.routes import Routes
from orrery.edge.scripts import script_answer
from orrery.errors import NotConfigured, StoreError
from orrery.live.admin_reads import AdminReads, Intel
from orrery.live.answers import NOT_BOUND, CurrentCount, dated
from orrery.live.budget import NO_KEY
from orrery.live.records import RefreshOutcome, stamp
from orrery.live.refresh import Refresh
from orrery.syntax.script import Script

Found = TypeVar("Found")

PATH = "/api/stats"
FIELDS = frozenset({b"realtime", b"intel", b"refresh"})
"""The fields of a query; others, such as a campaign's, are ignored (decision 20)."""

GUIDED_PATH = "/guided/api/admin/realtime"

NO_AUTH = "no-auth"
"""The analytics key is missing, as an admin read reports it (spec 2, Errors)."""

_PRIVATE = {"Cache-Control": "private, no-store"}
_PUBLIC = {name.decode(): value.decode() for name, value in PUBLIC_HEADERS}
_OTHER_METHODS = ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"]
_ALLOWED = "GET, HEAD, OPTIONS, POST"
_SCRIPT = _PUBLIC | {"Cross-Origin-Resource-Policy": "cross-origin"}


class PageUsers(BaseModel):
    """One page and its visitors."""

    page: str
    path: str | None
    users: int


class _Dated(BaseModel):
    generated_at: datetime | None
    age_s: int | None
    stale: bool
    window_minutes: int | None


class SiteRead(_Dated):
    """The count and the pages, for a site's own page."""

    active: int
    pages: list[PageUsers]
    pages_generated_at: datetime | None = None
    pages_age_s: int | None = None
    error: Literal["no-data", "data-too-stale", "kv-not-bound"] | None = None


class _OfFamily(_Dated):
    totalUnique: int  # noqa: N815  the spec's name
    scope: Literal["cosmos"]


class CosmosRead(_OfFamily):
    """The count alone, for the family's other pages."""

    error: Literal["no-data", "data-too-stale", "kv-not-bound"] | None = None


class PlanetUsers(BaseModel):
    """One site of the family and its visitors."""

    planet: str
    users: int


class IntelRead(_OfFamily):
    """The owner's read, by site of the family. `byPlanet` is null when the provider could not be asked."""

    byPlanet: list[PlanetUsers] | None  # noqa: N815  the spec's name
    error: str | None = None


class RefreshResult(BaseModel):
    """What a refresh did. With `ok` false, `error` and `message` say why."""

    ok: bool
    active: int | None = None
    pages_count: int | None = None
    generated_at: datetime | None = None
    error: str | None = None
    message: str | None = None


class GuidedRead(BaseModel):
    """The guided product's count."""

    active: int
    generated_at: datetime
    age_s: int
    window_minutes: int
    error: str | None = None


class AdminRefusal(BaseModel):
    """The answer without a valid bearer, and when a part is missing."""

    ok: Literal[False]
    error: str


_REFUSED: dict[int | str, dict[str, Any]] = {
    401: {"model": AdminRefusal},
    429: {"description": "Too many wrong passwords in a minute"},
    503: {"model": AdminRefusal},
}


@dataclass(frozen=True, slots=True)
class LiveRoutes:
    """The routes and their services. `refresh` and `admin_reads` are None while the provider's key is missing."""

    site: AnswerSource
    cosmos: AnswerSource
    refresh: Refresh | None
    admin_reads: AdminReads | None
    bearer: AdminBearer
    widgets: Mapping[str, Script]

    def all(self) -> Routes:
        """Return all of them, with the public reads that come ahead of the framework."""
        reads = ReadSources({b"realtime=1": self.site, b"realtime=cosmos": self.cosmos}, FIELDS)
        return Routes(public=[self.router()], reads={PATH: reads})

    def router(self) -> APIRouter:
        router = APIRouter(tags=["live"])
        router.add_api_route(
            PATH,
            self.read,
            methods=["GET"],
            response_model=SiteRead | CosmosRead | IntelRead,
            responses=_REFUSED | _REFUSED_QUERY,
            openapi_extra=_READ,
            summary="Read the live visitor count; intel=1 is the owner's",
        )
        router.add_api_route(
            PATH,
            self.fill,
            methods=["POST"],
            response_model=RefreshResult,
            responses=_REFUSED | _REFUSED_QUERY,
            openapi_extra=_FILL,
            summary="Refresh the shared cache from the analytics provider",
        )
        router.add_api_route(
            GUIDED_PATH,
            self.guided,
            methods=["GET"],
            response_model=GuidedRead | AdminRefusal,
            responses=_REFUSED,
            openapi_extra=_BEARER,
            summary="Read the guided product's count (at most 5 minutes old)",
        )
        router.add_api_route(PATH, self.other, methods=_OTHER_METHODS, include_in_schema=False)
        router.add_api_route("/live/{name}", self.widget, methods=["GET", "HEAD"], include_in_schema=False)
        return router

    async def read(self, request: Request) -> Response:
        """Answer the admin's read; a public one never comes here, since `edge/public_reads.py` answers it."""
        if sorted(_asked(request).split(b"&")) != [b"intel=1", b"realtime=cosmos"]:
            raise _unknown_query()
        return await self._for_owner(request, self.admin_reads and self.admin_reads.intel, _intel, NO_AUTH)

    async def other(self, request: Request) -> Response:
        """Answer a browser's preflight request for an own header; refuse other requests."""
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=_PUBLIC | {"Allow": _ALLOWED} | PREFLIGHT_HEADERS)
        if request.method == "HEAD":
            raise _unknown_query()
        raise Problem(405, "method-not-allowed", "This method is not allowed here.", {"Allow": _ALLOWED})

    async def fill(self, request: Request) -> Response:
        """Refresh; harmless to repeat."""
        if _asked(request) != b"refresh=realtime":
            raise _unknown_query()
        return await self._for_owner(request, self.refresh and self.refresh.run, _refreshed, NO_KEY)

    async def guided(self, request: Request) -> Response:
        """Return the guided product's count, from the provider or from at most 5 minutes ago."""
        return await self._for_owner(request, self.admin_reads and self.admin_reads.guided, _guided, NO_AUTH)

    async def widget(self, request: Request, name: str) -> Response:
        """Serve a script that any site may take."""
        found = self.widgets.get(name)
        if found is None:
            raise Problem(404, "not-found", "There is nothing here.")
        return script_answer(request, found, _SCRIPT)

    async def _for_owner(
        self,
        request: Request,
        ask: Callable[[], Awaitable[Found]] | None,
        shown: Callable[[Found], dict[str, object]],
        no_key: str,
    ) -> Response:
        """Answer with what `ask` returns, or say why not: `no_key` where the provider's key is missing."""
        if not await self.bearer.admits(request):
            return _refused("Unauthorized", 401, {"WWW-Authenticate": "Bearer"})
        try:
            if ask is not None:
                return JSONResponse(shown(await ask()), headers=_PRIVATE)
        except StoreError:
            return _refused(NOT_BOUND, 503)
        except NotConfigured:
            pass
        return _refused(no_key, 503)


def _query(name: str, values: list[str], description: str, *, required: bool) -> dict[str, Any]:
    schema = {"type": "string", "enum": values}
    return {"name": name, "in": "query", "required": required, "schema": schema, "description": description}


_BEARER: dict[str, Any] = {"security": [{"adminBearer": []}]}
_REFUSED_QUERY: dict[int | str, dict[str, Any]] = {400: {"description": "unknown-query"}}
_READ: dict[str, Any] = {
    "parameters": [
        _query("realtime", ["1", "cosmos"], "1 for the site, cosmos for the family.", required=True),
        _query("intel", ["1"], "The owner's breakdown by planet, with realtime=cosmos.", required=False),
    ],
    "security": [{}, {"adminBearer": []}],
}
_FILL = _BEARER | {"parameters": [_query("refresh", ["realtime"], "What is refreshed.", required=True)]}


def _asked(request: Request) -> bytes:
    return known_part(request.scope["query_string"], FIELDS)


def _unknown_query() -> Problem:
    # Any site may read the error about its request.
    return Problem(400, "unknown-query", "There is no such query; see the reference of operations.", _PUBLIC)


def _refused(error: str, status: int, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"ok": False, "error": error}, status, headers=_PRIVATE | (headers or {}))


def _refreshed(outcome: RefreshOutcome) -> dict[str, object]:
    if not outcome.ok:
        return {"ok": False, "error": outcome.error, "message": outcome.message}
    made = stamp(outcome.generated_at) if outcome.generated_at else None
    return {"ok": True, "active": outcome.active, "pages_count": outcome.pages_count, "generated_at": made}


def _intel(found: Intel) -> dict[str, object]:
    total, planets = found
    by_planet = planets and [{"planet": row.label, "users": row.users} for row in planets]
    return {"totalUnique": total.count, "scope": "cosmos", "byPlanet": by_planet, **dated(total)}


def _guided(found: CurrentCount) -> dict[str, object]:
    if found.generated_at is None:
        return {"ok": False, "error": found.error}
    fields = {"active": found.count, **dated(found)}
    del fields["stale"]
    return fields
