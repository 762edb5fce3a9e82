"""Who may speak with the sandbox: this machine under its own names, and no other site's page."""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN = frozenset({"same-origin", "none"})


class Guard:
    """Refuses another host name, by which a page elsewhere could reach this machine, and what such a page sends.

    A browser says where a request comes from (`Sec-Fetch-Site`, or at least `Origin`); a program says neither.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, unless it is refused."""
        if scope["type"] == "http" and (why := _refusal(scope["method"], Headers(scope=scope))):
            await PlainTextResponse(why, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _refusal(method: str, headers: Headers) -> str:
    host = headers.get("host", "")
    if _name(f"//{host}") not in HOSTS:
        return "The sandbox answers to the names of this machine only.\n"
    if method in _SAFE:
        return ""
    own = f"http://{host}"
    # A form of our own pages, which tell nobody where it was sent from, has the origin "null".
    site = headers.get("sec-fetch-site", "none" if headers.get("origin", own) == own else "cross-site")
    if site not in _OWN:
        return "A page of another site may change nothing in the sandbox.\n"
    return ""


def _name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
