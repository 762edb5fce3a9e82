"""The identity provider, wired: its routes, and what its listener counts."""

from collections import Counter

from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from orrery.sandbox.ground import SandboxGround
from orrery.sandbox.https import listen
from orrery.sandbox.identity.api import IdentityApi
from orrery.sandbox.identity.authorize import Authorize
from orrery.sandbox.identity.config import IdentityConfig
from orrery.sandbox.identity.grants import Grants
from orrery.sandbox.identity.levers import ADDRESS, identity_board
from orrery.sandbox.identity.switches import Switches
from orrery.sandbox.identity.tokens import TokenEndpoint


class IdentityProvider:
    """The stand-in with everything that belongs to it; `requests` counts what came by https, by path."""

    def __init__(self, config: IdentityConfig, ground: SandboxGround) -> None:
        self._config = config
        self._ground = ground
        self.requests: Counter[str] = Counter()

    @property
    def url(self) -> str:
        """Return the address of the listener."""
        return self._config.url

    def routes(self) -> list[Route]:
        config, ground = self._config, self._ground
        tokens = TokenEndpoint(config, ground.state, ground.clock)
        grants = Grants(ground.state, ground.clock, tokens, f"{ground.base_url}{ADDRESS}", config.interval)
        switches = Switches(ground.state)
        authorize = Authorize(config, ground.clock, tokens, grants, switches)
        board = identity_board(config, grants, switches, self.requests)
        return [*IdentityApi(config, ground.clock, tokens, grants, authorize).routes(), *board.routes()]

    async def listen(self, app: ASGIApp) -> None:
        """Serve the app on the listener until cancelled."""

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            # Microsoft Graph, on the same listener, counts its own: their paths have the ids of messages in them.
            if not scope["path"].startswith("/v1.0/"):
                self.requests[scope["path"]] += 1
            await app(scope, receive, send)

        await listen(counted, self._config.listener, self._config.certificate)
