"""The identity provider over HTTP: discovery, keys, codes and tokens, the page of accounts, the levers."""

import json
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from orrery.sandbox.board import Act, Board, form_of, render
from orrery.sandbox.faults import Refusal
from orrery.sandbox.ground import Document, SandboxGround
from orrery.sandbox.identity.directory import ACCOUNTS, CLIENTS, TENANTS, IdentityConfig, described, refusal
from orrery.sandbox.identity.grants import Grants, check_redirect, check_tenant, members, required
from orrery.sandbox.identity.switches import BY_JSON, SWITCHES, Switches, changed_members
from orrery.sandbox.identity.tokens import TokenEndpoint
from orrery.sandbox.serving import listen

ADDRESS = "/identity"


def identity_board(url: str, grants: Grants, switches: Switches, requests: Counter[str]) -> Board:
    """Return the page with the codes that wait, the accounts and the levers."""

    def known() -> Document:
        return {
            "url": url,
            "tenants": TENANTS,
            "clients": CLIENTS,
            "accounts": [asdict(one) for one in ACCOUNTS.values()],
            "waiting": list(grants.waiting()),
            "what_levers_do": SWITCHES,
            "by_json": BY_JSON,
            "levers": switches.on,
            "requests": dict(requests),
        }

    def pull(given: Document) -> None:
        """Turn a lever on; a form's field `undo`, since forms cannot delete, turns it off."""
        name = given.pop("lever")
        if given.pop("undo", None):
            undo({"lever": name})
        else:
            switches.pull(name, given)

    def undo(given: Document) -> None:
        _ = switches.on.pop(given["lever"], None)

    levers: dict[str, Act] = {
        "GET /_identity": lambda _: known(),
        "DELETE /_identity": lambda _: switches.on.clear(),
        "POST /_identity/approve": lambda given: grants.approve(given["user_code"], given["account"]),
        "POST /_identity/decline": lambda given: grants.decline(given["user_code"]),
        "POST /_identity/{lever}": pull,
        "DELETE /_identity/{lever}": undo,
    }
    return Board(ADDRESS, "identity.html", known, levers)


_SCRIPTS = "; script-src 'self'"
_NO_STORE = {"Cache-Control": "no-store, no-cache", "Pragma": "no-cache"}

Run = Callable[[str, Mapping[str, str], Mapping[str, str]], str | Response]
"""Answers a tenant's request of a query and a form, with the text of a JSON document or a page."""


class IdentityProvider:
    """Answers a client that signs a person in; `requests` counts what came by https, by path."""

    def __init__(self, config: IdentityConfig, ground: SandboxGround) -> None:
        self._config = config
        self._ground = ground
        self._switches = Switches()
        self.url = config.url
        self._tokens = TokenEndpoint(self.url, ground, self._switches)
        self._grants = Grants(ground, self._tokens, self._switches, f"{ground.base_url}{ADDRESS}", config.interval)
        self.requests: Counter[str] = Counter()

    def routes(self) -> list[Route]:
        tokens, grants = self._tokens, self._grants
        operations: tuple[tuple[str, str, Run], ...] = (
            (
                "GET",
                "v2.0/.well-known/openid-configuration",
                lambda tenant, _, __: changed_members(
                    self._discovered(tenant), self._switches.changes("discovery")
                ),
            ),
            ("GET", "discovery/v2.0/keys", lambda tenant, _, __: json.dumps(tokens.keys(tenant))),
            (
                "POST",
                "oauth2/v2.0/devicecode",
                lambda tenant, _, form: json.dumps(grants.device_code(tenant, form)),
            ),
            ("POST", "oauth2/v2.0/token", lambda tenant, _, form: grants.redeem(tenant, form)),
            ("GET", "oauth2/v2.0/authorize", self._accounts),
            ("POST", "oauth2/v2.0/authorize", self._choose),
        )
        board = identity_board(self.url, grants, self._switches, self.requests)
        return [
            *(
                Route(f"/{{tenant}}/{path}", partial(self._answer, run), methods=[how])
                for how, path, run in operations
            ),
            *board.routes(),
        ]

    async def _answer(self, run: Run, request: Request) -> Response:
        """Answer one request, a refusal as the vendor does, for a tenant that there is."""

        async def carried_out() -> Response:
            tenant = request.path_params["tenant"]
            check_tenant(tenant)
            answer = run(tenant, request.query_params, await form_of(request))
            return Response(answer, 200, _NO_STORE, "application/json") if isinstance(answer, str) else answer

        def shown(refused: Refusal) -> Response:
            correlation = request.headers.get("client-request-id") or str(uuid.uuid4())
            return JSONResponse(self._described(refused, correlation), refused.status, _NO_STORE)

        return await self._ground.faults.request("identity").answer({}, carried_out, shown)

    def _described(self, refused: Refusal, correlation: str) -> Document:
        return described(refused, self._ground.clock.now(), correlation, self.url)

    def _discovered(self, tenant: str) -> Document:
        base = f"{self.url}/{tenant}"
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

    def _accounts(self, tenant: str, query: Mapping[str, str], _: Mapping[str, str]) -> Response:
        """List the accounts that may sign in to the tenant."""
        self._check(tenant, query)
        return render(
            "identity_accounts.html",
            domain=TENANTS[tenant],
            client=query["client_id"],
            scopes=query["scope"].split(),
            accounts=[(one, one.is_guest(tenant)) for one in members(tenant)],
        )

    def _choose(self, tenant: str, query: Mapping[str, str], form: Mapping[str, str]) -> Response:
        """Answer the redirect address with a code for `account`, or with the refusal of a person who declines."""
        self._check(tenant, query)
        username = form.get("account", "")
        if not username or "consent" in self._switches.on:
            refused = self._described(refusal("access_denied"), str(uuid.uuid4()))
            answer: Document = {name: refused[name] for name in ("error", "error_description", "error_uri")}
        else:
            answer = {"code": self._grants.code(tenant, query, username), "session_state": str(uuid.uuid4())}
            answer |= (
                {"client_info": self._tokens.client_info(ACCOUNTS[username])} if "client_info" in query else {}
            )
        return _answered(query, answer | ({"state": query["state"]} if "state" in query else {}))

    def _check(self, tenant: str, query: Mapping[str, str]) -> None:
        for name in ("client_id", "redirect_uri", "response_type", "scope"):
            _ = required(query, name)
        self._grants.check_client(tenant, query["client_id"])
        check_redirect(query["redirect_uri"])

    async def listen(self, app: ASGIApp) -> None:
        """Serve the app on the listener until cancelled."""

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            # Microsoft Graph, on the same listener, counts its own: their paths have the ids of messages in them.
            if not scope["path"].startswith("/v1.0/"):
                self.requests[scope["path"]] += 1
            await app(scope, receive, send)

        await listen(counted, self._config.listener, self._config.certificate)


def _answered(query: Mapping[str, str], answer: Document) -> Response:
    address = query["redirect_uri"]
    if query.get("response_mode", "query") == "form_post":
        page = render("identity_answer.html", address=address, answer=answer)
        page.headers["Content-Security-Policy"] += _SCRIPTS
        return page
    return RedirectResponse(f"{address}{'&' if '?' in address else '?'}{urlencode(answer)}", 303)
