"""The sandbox's access rule: it answers this machine under its own names, and no other site's page."""

from collections.abc import Collection
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
    `hosts` are further names that the sandbox is served under.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] = ()) -> None:
        self._app = app
        self._hosts = HOSTS.union(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, unless it is refused."""
        if scope["type"] == "http" and (why := self._refusal(scope)):
            await PlainTextResponse(why, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> str:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _name(f"//{host}") not in self._hosts:
            return "The sandbox answers to the names of this machine only.\n"
        if scope["method"] in _SAFE:
            return ""
        own = f"{scope['scheme']}://{host}"
        # A form of our own pages, which send no referrer, has the origin "null".
        site = headers.get("sec-fetch-site", "none" if headers.get("origin", own) == own else "cross-site")
        if site not in _OWN:
            return "A page of another site may change nothing in the sandbox.\n"
        return ""


def _name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
