"""The levers of the identity provider, as JSON: approve a code, break a rule of the vendor's, undo it."""

import json
from collections import Counter
from typing import cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.sandbox.identity.config import ACCOUNTS, CLIENTS, TENANTS, IdentityConfig
from orrery.sandbox.identity.doctoring import refused
from orrery.sandbox.identity.grants import Grants
from orrery.sandbox.identity.switches import SWITCHES, Switches
from orrery.sandbox.state import Document


class Levers:
    """Approvals, switches, and everything that can be known."""

    def __init__(self, config: IdentityConfig, grants: Grants, switches: Switches, requests: Counter[str]) -> None:
        self._config = config
        self._grants = grants
        self._switches = switches
        self._requests = requests

    def routes(self) -> list[Route]:
        return [
            Route("/_identity", self.show, methods=["GET"]),
            Route("/_identity", self.undo_all, methods=["DELETE"]),
            Route("/_identity/approve", self.approve, methods=["POST"]),
            Route("/_identity/decline", self.decline, methods=["POST"]),
            Route("/_identity/{lever}", self.pull, methods=["POST"]),
            Route("/_identity/{lever}", self.undo, methods=["DELETE"]),
        ]

    async def show(self, _: Request) -> Response:
        """Return everything that is known."""
        return JSONResponse(self.known())

    async def approve(self, request: Request) -> Response:
        """Approve `user_code` as `account`."""
        given = await _given(request)
        try:
            self._grants.approve(str(given.get("user_code", "")), str(given.get("account", "")))
        except ValueError as error:
            return _wrong(str(error))
        return JSONResponse(self.known())

    async def decline(self, request: Request) -> Response:
        """Decline `user_code`."""
        try:
            self._grants.decline(str((await _given(request)).get("user_code", "")))
        except ValueError as error:
            return _wrong(str(error))
        return JSONResponse(self.known())

    async def pull(self, request: Request) -> Response:
        """Turn a lever on; one of `keys` rotates again, one of `doctor` adds a change."""
        name, given = request.path_params["lever"], await _given(request)
        if name not in SWITCHES:
            return _wrong(f"A lever is one of {', '.join(SWITCHES)}.")
        known = self._switches.values(name) or {}
        if name == "doctor":
            if why := refused(given):
                return _wrong(why)
            given = {"changes": [*known.get("changes", []), given]}
        if name == "keys":
            given = {"rotated": known.get("rotated", 0) + 1}
        self._switches.turn_on(name, given)
        return JSONResponse(self.known())

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


def _wrong(why: str) -> Response:
    return JSONResponse({"error": why}, 400)


async def _given(request: Request) -> Document:
    try:
        given: object = json.loads(await request.body() or b"{}")
    except ValueError:
        return {}
    return cast("Document", given) if isinstance(given, dict) else {}
