"""The levers of the identity provider, as JSON and as a page: approve a code, break a rule, undo it."""

import json
from collections import Counter
from collections.abc import Callable
from typing import cast

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from orrery.sandbox.identity.config import ACCOUNTS, CLIENTS, TENANTS, IdentityConfig
from orrery.sandbox.identity.grants import Grants, fields, members
from orrery.sandbox.identity.switches import BY_JSON, SWITCHES, Switches
from orrery.sandbox.pages import render
from orrery.sandbox.state import Document

ADDRESS = "/identity"

_SCRIPTS = "; script-src 'self'; connect-src 'self'; form-action 'self'"


class Levers:
    """Approvals, switches, and everything that can be known."""

    def __init__(self, config: IdentityConfig, grants: Grants, switches: Switches, requests: Counter[str]) -> None:
        self._config = config
        self._grants = grants
        self._switches = switches
        self._requests = requests

    def routes(self) -> list[Route]:
        return [
            Route(ADDRESS, self.page, methods=["GET"]),
            Route("/_identity", self.show, methods=["GET"]),
            Route("/_identity", self.undo_all, methods=["DELETE"]),
            Route("/_identity/approve", self.approve, methods=["POST"]),
            Route("/_identity/decline", self.decline, methods=["POST"]),
            Route("/_identity/{lever}", self.pull, methods=["POST"]),
            Route("/_identity/{lever}", self.undo, methods=["DELETE"]),
        ]

    async def page(self, _: Request) -> Response:
        """Show the codes that wait, the accounts and the levers."""
        return self._page("", 200)

    async def show(self, _: Request) -> Response:
        """Return everything that is known."""
        return JSONResponse(self.known())

    async def approve(self, request: Request) -> Response:
        """Approve `user_code` as `account`."""
        return await self._do(request, lambda given: self._grants.approve(given["user_code"], given["account"]))

    async def decline(self, request: Request) -> Response:
        """Decline `user_code`."""
        return await self._do(request, lambda given: self._grants.decline(given["user_code"]))

    async def pull(self, request: Request) -> Response:
        """Turn a lever on; a form's field `undo`, since forms cannot delete, turns it off."""
        name = request.path_params["lever"]

        def turn(given: Document) -> None:
            if given.pop("undo", None):
                self._switches.turn_off(name)
            else:
                self._switches.pull(name, given)

        return await self._do(request, turn)

    async def undo(self, request: Request) -> Response:
        """Turn a lever off."""
        self._switches.turn_off(request.path_params["lever"])
        return JSONResponse(self.known())

    async def undo_all(self, _: Request) -> Response:
        """Turn every lever off."""
        for name in SWITCHES:
            self._switches.turn_off(name)
        return JSONResponse(self.known())

    def known(self) -> Document:
        return {
            "url": self._config.url,
            "tenants": TENANTS,
            "clients": list(CLIENTS),
            "accounts": {one.username: one.object_ids for one in ACCOUNTS.values()},
            "waiting": list(self._grants.waiting()),
            "levers": self._switches.on(),
            "requests": dict(self._requests),
        }

    async def _do(self, request: Request, act: Callable[[Document], None]) -> Response:
        by_a_person = "text/html" in request.headers.get("accept", "")
        try:
            act(await _given(request))
        except (KeyError, TypeError, ValueError) as error:
            problem = f"{error.args[0]} is missing." if isinstance(error, KeyError) else str(error)
            return self._page(problem, 400) if by_a_person else JSONResponse({"error": problem}, 400)
        return RedirectResponse(ADDRESS, 303) if by_a_person else JSONResponse(self.known())

    def _page(self, problem: str, status: int) -> Response:
        on = self._switches.on()
        page = render(
            "identity.html",
            status,
            problem=problem,
            url=self._config.url,
            tenants=TENANTS,
            clients=CLIENTS,
            waiting=[(one, members(one["tenant"])) for one in self._grants.waiting()],
            accounts=list(ACCOUNTS.values()),
            levers=[(name, what, name in on, name in BY_JSON) for name, what in SWITCHES.items()],
            values={name: json.dumps(values) for name, values in on.items() if values},
            requests=sorted(self._requests.items()),
        )
        page.headers["Content-Security-Policy"] += _SCRIPTS
        return page


async def _given(request: Request) -> Document:
    if "json" not in request.headers.get("content-type", ""):
        return dict(await fields(request))
    given: object = json.loads(await request.body() or b"{}")
    if not isinstance(given, dict):
        raise TypeError("A lever's values are a JSON object.")
    return cast("Document", given)
