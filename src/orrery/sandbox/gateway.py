"""A gateway with its guest, which pings the service as a real one does, and a watcher of scheduled jobs.

A page has buttons that break the gateway. No service manager is touched: the guest's pings are made up.
"""

import asyncio
import math
from collections.abc import Awaitable
from typing import NoReturn

import httpx2
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from orrery.sandbox.board import Board
from orrery.sandbox.ground import TIMEOUT, Document, SandboxGround, is_taken, rest
from orrery.trust import WELL_KNOWN

_HEARTBEAT = "_ping"


def watcher_routes(ground: SandboxGround) -> list[Route]:
    """Return the route for a job's heartbeats, and that of the JSON about all jobs: `name`, `count`, `at`."""
    state, clock = ground.state, ground.clock

    async def ping(request: Request) -> Response:
        name = request.path_params["name"]
        known = state.get(_HEARTBEAT, name) or {"object": _HEARTBEAT, "id": name, "count": 0}
        state.save(known | {"count": known["count"] + 1, "at": clock.now().timestamp()})
        return PlainTextResponse("OK")

    async def show(_: Request) -> Response:
        return JSONResponse(
            [{"name": one["id"], "count": one["count"], "at": one["at"]} for one in state.newest_first(_HEARTBEAT)]
        )

    return [Route("/ping", show, methods=["GET"]), Route("/ping/{name}", ping, methods=["GET"])]


EVERY = 5.0
"""Seconds between two pings; a real guest pings once a minute."""

RECOVERED_AFTER = 10.0
"""Seconds until the guest has restarted the gateway."""

ACTIONS = {
    "start": ("Start", "The gateway runs."),
    "stop": ("Stop", "Somebody stops the unit: a bad ping at once; the guest starts it again."),
    "crash": ("Crash", "The process is killed: a bad ping at once; the guest restarts it."),
    "hang": ("Hang", "The process no longer answers: a bad ping at once; the guest restarts it."),
    "silent": ("Silent", "The machine is off, or cut from the network: no ping until you press another button."),
    "pause": ("Pause", "The operator pauses the recovery, and stops the unit: the pings are good."),
}
"""Each button with what it does."""

_DOWN: dict[str, Document] = {
    "stop": {"state": "inactive", "sub_state": "dead", "result": "success", "exec_main_status": 0, "probe": "502"},
    "crash": {"state": "failed", "sub_state": "failed", "result": "signal", "exec_main_status": 9, "probe": "502"},
    "hang": {
        "state": "active",
        "sub_state": "running",
        "result": "success",
        "exec_main_status": 0,
        "probe": "none",
    },
    "pause": {"state": "paused", "sub_state": "dead", "result": "success", "exec_main_status": 0, "probe": "502"},
}
_RUNNING: Document = {
    "state": "active",
    "sub_state": "running",
    "result": "success",
    "exec_main_status": 0,
    "probe": "200",
}
_RECOVERS = frozenset({"stop", "crash", "hang"})


class Guest:
    """What the last button has made of the unit, by the sandbox's clock; and the pings to the service, if any."""

    def __init__(self, ground: SandboxGround) -> None:
        self._clock, self._service, self._machine = ground.clock, ground.service, ground.machine
        self._machine.on_change.append(self._power_changed)
        self._action, self._since = "start", self._clock.monotonic()
        self._recovers_at = math.inf
        self._restarts = 0
        self._has_answered = True
        self._client: httpx2.AsyncClient | None = None
        self._sending = asyncio.Lock()
        self._wake = asyncio.Event()
        self._sent: list[Document] = []

    def known(self) -> Document:
        """Return everything that the page shows."""
        address = None if self._service is None else f"{self._service.url}/ping"
        times = {"every": EVERY, "recovered_after": RECOVERED_AFTER}
        now = {"address": address, "silent": self._is_silent(), "ping": self._ping(), "sent": self._sent}
        return {"actions": ACTIONS, **times, **now}

    async def press(self, action: str, recovered_after: float = RECOVERED_AFTER) -> None:
        """Break or start the unit, and return once the service has answered the ping about it."""
        self._become(action, recovered_after)
        await self._send()
        self._wake.set()

    async def run(self) -> NoReturn:
        """Ping until cancelled."""
        async with httpx2.AsyncClient(timeout=TIMEOUT, trust_env=False, verify=WELL_KNOWN.web) as self._client:
            while True:
                self._wake.clear()
                if self._recovers_at <= self._clock.monotonic():
                    self._become("start")
                await self._send()
                await rest(self._clock, min(EVERY, self._recovers_at - self._clock.monotonic()), self._wake)

    def _become(self, action: str, recovered_after: float = math.inf) -> None:
        self._action, self._since = action, self._clock.monotonic()
        self._recovers_at = self._since + recovered_after if action in _RECOVERS else math.inf
        self._restarts += action == "crash"

    def _ping(self) -> Document:
        shown = _DOWN.get(self._action, _RUNNING)
        seconds = int(self._clock.monotonic() - self._since) if shown["state"] == "active" else None
        return shown | {"active_seconds": seconds, "restarts": self._restarts}

    async def _send(self) -> None:
        # One at a time: a ping that is overtaken by a later one would be taken for the last.
        async with self._sending:
            if self._client is None or self._service is None or self._is_silent():
                return
            ping = self._ping()
            outcome = await self._service.take(self._client, ping)
            self._sent = [{"at": self._clock.now().timestamp(), "ping": ping, "answer": outcome}, *self._sent[:9]]
            if is_taken(outcome) and not self._has_answered:
                self._has_answered = True
                self._machine.answered()

    def _is_silent(self) -> bool:
        return self._action == "silent" or not self._machine.running

    def _power_changed(self) -> None:
        """Ping at once when the machine runs again: it has started the gateway, too."""
        if self._machine.running:
            self._become("start")
            self._has_answered = False
            self._wake.set()


def gateway_routes(ground: SandboxGround) -> list[Route]:
    """Return the page with its buttons, and the lever under them: `do`, and `recovered_after` in seconds."""
    guest = Guest(ground)
    if ground.service is not None:
        ground.background.append(guest.run)

    def press(given: Document) -> Awaitable[None]:
        if given["do"] not in ACTIONS:
            raise ValueError(f"`do` is one of {', '.join(ACTIONS)}.")
        return guest.press(given["do"], float(given.get("recovered_after", RECOVERED_AFTER)))

    return Board("/gateway", "gateway.html", guest.known, {"POST /_gateway": press}).routes()
