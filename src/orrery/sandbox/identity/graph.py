"""The one address of Microsoft Graph that every signed-in person can read: their own."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.sandbox.ground import SandboxGround
from orrery.sandbox.identity.config import GRAPH
from orrery.sandbox.identity.registry import Issued, Registry
from orrery.sandbox.state import Document

_READING = frozenset({"User.Read", "User.Read.All", "User.ReadWrite"})


class Me:
    """Answers who a token is."""

    def __init__(self, ground: SandboxGround) -> None:
        self._clock = ground.clock
        self._registry = Registry(ground.state)

    def routes(self) -> list[Route]:
        return [Route("/v1.0/me", self.show, methods=["GET"])]

    async def show(self, request: Request) -> Response:
        """Answer 401 to a token that is not good here, or has no scope for it."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            return _refused("Access token is empty.")
        issued = self._registry.issued(token)
        if issued is None:
            return _refused("Access token validation failure. Invalid token.")
        if issued.expires <= self._clock.now().timestamp():
            return _refused("Lifetime validation failed, the token is expired.")
        if not issued.scopes & _READING:
            return _refused("Access token validation failure. Insufficient scope.")
        return JSONResponse(_person(issued))


def _person(issued: Issued) -> Document:
    account = issued.account
    return {
        "@odata.context": f"{GRAPH}/v1.0/$metadata#users/$entity",
        "displayName": account.name,
        "mail": account.username,
        "userPrincipalName": account.upn(issued.tenant),
        "id": account.object_ids[issued.tenant],
    }


def _refused(message: str) -> Response:
    body: Document = {"error": {"code": "InvalidAuthenticationToken", "message": message, "innerError": {}}}
    return JSONResponse(body, 401, {"WWW-Authenticate": 'Bearer realm="", authorization_uri="", client_id=""'})
