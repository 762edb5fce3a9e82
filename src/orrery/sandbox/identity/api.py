"""The identity provider over HTTP: discovery, keys, codes and tokens."""

import uuid
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.ports.clock import Clock
from orrery.sandbox.identity.authorize import Authorize
from orrery.sandbox.identity.config import IdentityConfig
from orrery.sandbox.identity.errors import Refusal
from orrery.sandbox.identity.grants import Grants, check_tenant
from orrery.sandbox.identity.tokens import TokenEndpoint
from orrery.sandbox.pages import form_of
from orrery.sandbox.state import Document

_NO_STORE = {"Cache-Control": "no-store, no-cache", "Pragma": "no-cache"}

_DISCOVERY = "/{tenant}/v2.0/.well-known/openid-configuration"
_AUTHORIZE = "/{tenant}/oauth2/v2.0/authorize"

Endpoint = Callable[[Request], Awaitable[Response]]


class IdentityApi:
    """Answers a client that signs a person in."""

    def __init__(
        self, config: IdentityConfig, clock: Clock, tokens: TokenEndpoint, grants: Grants, authorize: Authorize
    ) -> None:
        self._config = config
        self._clock = clock
        self._tokens = tokens
        self._grants = grants
        self._authorize = authorize

    def routes(self) -> list[Route]:
        return [
            Route(_DISCOVERY, self.refusing(self.discovery), methods=["GET"]),
            Route("/{tenant}/discovery/v2.0/keys", self.refusing(self.keys), methods=["GET"]),
            Route("/{tenant}/oauth2/v2.0/devicecode", self.refusing(self.device_code), methods=["POST"]),
            Route("/{tenant}/oauth2/v2.0/token", self.refusing(self.token), methods=["POST"]),
            Route(_AUTHORIZE, self.refusing(self._authorize.show), methods=["GET"]),
            Route(_AUTHORIZE, self.refusing(self._authorize.choose), methods=["POST"]),
        ]

    def refusing(self, endpoint: Endpoint) -> Endpoint:
        """Return an endpoint that answers refusals as the vendor does, for a tenant that there is."""

        async def answer(request: Request) -> Response:
            try:
                check_tenant(request.path_params["tenant"])
                return await endpoint(request)
            except Refusal as refusal:
                correlation = request.headers.get("client-request-id") or str(uuid.uuid4())
                body = refusal.body(self._clock.now(), correlation, self._config.url)
                return JSONResponse(body, refusal.status, _NO_STORE)

        return answer

    async def discovery(self, request: Request) -> Response:
        text = self._tokens.discovered(self._discovered(request.path_params["tenant"]))
        return Response(text, media_type="application/json")

    async def keys(self, request: Request) -> Response:
        return JSONResponse(self._tokens.keys(request.path_params["tenant"]))

    async def device_code(self, request: Request) -> Response:
        form = await form_of(request)
        return JSONResponse(self._grants.device_code(request.path_params["tenant"], form), headers=_NO_STORE)

    async def token(self, request: Request) -> Response:
        text = self._grants.redeem(request.path_params["tenant"], await form_of(request))
        return Response(text, headers=_NO_STORE, media_type="application/json")

    def _discovered(self, tenant: str) -> Document:
        base = f"{self._config.url}/{tenant}"
        return {
            "token_endpoint": f"{base}/oauth2/v2.0/token",
            "token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt"],
            "jwks_uri": f"{base}/discovery/v2.0/keys",
            "response_modes_supported": ["query", "form_post"],
            "subject_types_supported": ["pairwise"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "response_types_supported": ["code"],
            "scopes_supported": ["openid", "profile", "email", "offline_access"],
            "issuer": self._tokens.issuer(tenant),
            "authorization_endpoint": f"{base}/oauth2/v2.0/authorize",
            "device_authorization_endpoint": f"{base}/oauth2/v2.0/devicecode",
            "claims_supported": ["sub", "iss", "aud", "exp", "iat", "nonce", "name", "tid", "ver"],
            "tenant_region_scope": "EU",
        }
