"""Where a person chooses an account in the browser, and what the client is sent for it."""

import secrets
import uuid
from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from orrery.ports.clock import Clock
from orrery.sandbox.identity.config import ACCOUNTS, TENANTS, IdentityConfig
from orrery.sandbox.identity.errors import refusal
from orrery.sandbox.identity.grants import Grants, check_redirect, members
from orrery.sandbox.identity.switches import Switches
from orrery.sandbox.identity.tokens import TokenEndpoint
from orrery.sandbox.pages import form_of, render

_SCRIPTS = "; script-src 'self'"


class Authorize:
    """The page with the accounts, and the answer to the redirect address."""

    def __init__(
        self, config: IdentityConfig, clock: Clock, tokens: TokenEndpoint, grants: Grants, switches: Switches
    ) -> None:
        self._config = config
        self._clock = clock
        self._tokens = tokens
        self._grants = grants
        self._switches = switches

    async def show(self, request: Request) -> Response:
        """List the accounts that may sign in to the tenant."""
        tenant, query = request.path_params["tenant"], request.query_params
        self._check(tenant, query)
        return render(
            "identity_accounts.html",
            domain=TENANTS[tenant],
            client=query["client_id"],
            scopes=query["scope"].split(),
            accounts=[(one, one.is_guest(tenant)) for one in members(tenant)],
        )

    async def choose(self, request: Request) -> Response:
        """Answer the redirect address with a code for `account`, or with the refusal of a person who declines."""
        tenant, query = request.path_params["tenant"], request.query_params
        self._check(tenant, query)
        username = (await form_of(request)).get("account", "")
        declined = not username or self._switches.holds("consent", tenant)
        answer = self._declined() if declined else self._chosen(tenant, query, username)
        if "state" in query:
            answer["state"] = query["state"]
        return _answered(query, answer)

    def _chosen(self, tenant: str, query: Mapping[str, str], username: str) -> dict[str, str]:
        answer = {
            "code": self._grants.code(tenant, query, username),
            "session_state": str(uuid.UUID(bytes=secrets.token_bytes(16))),
        }
        if "client_info" in query:
            answer["client_info"] = self._tokens.client_info(ACCOUNTS[username])
        return answer

    def _declined(self) -> dict[str, str]:
        body = refusal("access_denied").body(self._clock.now(), str(uuid.uuid4()), self._config.url)
        return {name: body[name] for name in ("error", "error_description", "error_uri")}

    def _check(self, tenant: str, query: Mapping[str, str]) -> None:
        for name in ("client_id", "redirect_uri", "response_type", "scope"):
            if not query.get(name):
                raise refusal("missing", parameter=name)
        self._grants.check_client(tenant, query["client_id"])
        check_redirect(query["redirect_uri"])
        if query["response_type"] != "code":
            raise refusal("unsupported_response_type", kind=query["response_type"])


def _answered(query: Mapping[str, str], answer: dict[str, str]) -> Response:
    address = query["redirect_uri"]
    if query.get("response_mode", "query") == "form_post":
        page = render("identity_answer.html", address=address, answer=answer)
        page.headers["Content-Security-Policy"] += _SCRIPTS
        return page
    return RedirectResponse(f"{address}{'&' if '?' in address else '?'}{urlencode(answer)}", 303)
