"""A page for one person on one machine: who may ask it is decided ahead of everything else (decision 37).

Other pages in the same browser, other programs on the same machine and names that others point at this machine all
reach the socket. The order of the checks is that of decision 37: the host, the token, the origin.
"""

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from orrery.edge.auth import bearer
from orrery.edge.headers import SecurityHeaders
from orrery.edge.http import add_reference, bare_app
from orrery.edge.launch import Launch
from orrery.edge.problem import Problem
from orrery.edge.problems import response_of
from orrery.edge.routes import Routes
from orrery.logs import log

SESSION = "/api/session"
"""Where a code is exchanged for the token: the one operation without it."""

_OPEN = frozenset({"/", SESSION, "/docs", "/openapi.json"})
_OPEN_FOLDER = "/static/"
_OWN_SITES = frozenset({"same-origin", "none"})
"""The `Sec-Fetch-Site` of a request by the page itself, and of an address that a person typed or opened."""


def local_app(title: str, routes: Sequence[Routes], host: str, launch: Launch) -> ASGIApp:
    """Return the app of the public `routes` behind the guard; it answers one `Host` only, such as `name:8791`.

    Its reference is at `/docs`. All of its errors are shown in full: they are the owner's own.
    """
    app = bare_app(title, [router for one in routes for router in one.public], in_full=True)
    add_reference(app, app)
    # The first to be asked is the last that is added: a refusal has the security headers, too.
    app.add_middleware(LocalGuard, host=host, launch=launch)
    app.add_middleware(SecurityHeaders)
    return app


class LocalGuard:
    """Refuses what does not come from the page itself, or has no token."""

    def __init__(self, app: ASGIApp, *, host: str, launch: Launch) -> None:
        self._app = app
        self._host = host
        self._launch = launch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
            return
        log.warning("request refused", reason=refusal.tag, method=scope["method"])
        await response_of(refusal)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        if headers.getlist("host") != [self._host]:
            return Problem(403, "wrong-host", f"This page answers to http://{self._host} only.")
        return self._without_token(scope) or self._from_elsewhere(headers)

    def _without_token(self, scope: Scope) -> Problem | None:
        path: str = scope["path"]
        if path in _OPEN or path.startswith(_OPEN_FOLDER):
            return None
        given = bearer(Request(scope))
        if given is None:
            return Problem(401, "token-missing", "Open the link that the cockpit shows in its terminal.")
        if not self._launch.is_token(given):
            return Problem(401, "token-wrong", "This tab belongs to a cockpit that has ended: open its new link.")
        return None

    def _from_elsewhere(self, headers: Headers) -> Problem | None:
        origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
        if any(origin != f"http://{self._host}" for origin in origins) or any(
            site not in _OWN_SITES for site in sites
        ):
            return Problem(403, "wrong-origin", "Only the cockpit's own page may ask it; type its address.")
        return None
