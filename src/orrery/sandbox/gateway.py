"""A gateway with its guest, which pings the service as a real one does, and a watcher of scheduled jobs.

A page has buttons that break the gateway. No service manager is touched: the guest's pings are made up.
"""

import asyncio
from collections.abc import Awaitable
from typing import NoReturn

import httpx2
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from orrery.ports.clock import Clock
from orrery.sandbox.board import Board
from orrery.sandbox.ground import PING_TOKEN, Document, MachineSwitch, SandboxGround, Service, rest
from orrery.trust import WELL_KNOWN, Trust

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

TIMEOUT = 10.0
"""Real seconds that the service has to answer."""

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
_TAKEN = "204"
_RECOVERS = frozenset({"stop", "crash", "hang"})


class Gateway:
    """What the last button has made of the unit, by the sandbox's clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._action = "start"
        self._since = clock.monotonic()
        self._recovers_at: float | None = None
        self._restarts = 0

    @property
    def is_silent(self) -> bool:
        """Whether no ping is sent."""
        return self._action == "silent"

    def press(self, action: str, recovered_after: float) -> None:
        """Break or start the unit."""
        now = self._clock.monotonic()
        self._action, self._since = action, now
        self._recovers_at = now + recovered_after if action in _RECOVERS else None
        self._restarts += action == "crash"

    def recover_if_due(self) -> None:
        if self._recovers_at is not None and self.seconds_until_recovery() <= 0:
            self._action, self._since, self._recovers_at = "start", self._clock.monotonic(), None

    def seconds_until_recovery(self) -> float:
        """Return how long the guest still needs; infinity when there is nothing to recover."""
        return float("inf") if self._recovers_at is None else self._recovers_at - self._clock.monotonic()

    def ping(self) -> Document:
        """Return the guest's ping."""
        shown = _DOWN.get(self._action, _RUNNING)
        seconds = int(self._clock.monotonic() - self._since)
        return shown | {
            "active_seconds": seconds if shown["state"] == "active" else None,
            "restarts": self._restarts,
        }


class Guest:
    """Pings the service, if there is one."""

    def __init__(
        self, clock: Clock, service: Service | None, machine: MachineSwitch, trust: Trust = WELL_KNOWN
    ) -> None:
        self._clock = clock
        self._service = service
        self._machine = machine
        self._has_answered = True
        machine.on_change.append(self._power_changed)
        self._trust = trust
        self._gateway = Gateway(clock)
        self._client: httpx2.AsyncClient | None = None
        self._sending = asyncio.Lock()
        self._wake = asyncio.Event()
        self._sent: list[Document] = []

    def known(self) -> Document:
        """Return everything that the page shows."""
        address = None if self._service is None else f"{self._service.url}/ping"
        silent = self._is_silent()
        return {"address": address, "silent": silent, "ping": self._gateway.ping(), "sent": self._sent[:10]}

    async def press(self, action: str, recovered_after: float = RECOVERED_AFTER) -> None:
        """Press a button, and return once the service has answered the ping about it."""
        self._gateway.press(action, recovered_after)
        await self._send()
        self._wake.set()

    async def run(self) -> NoReturn:
        """Ping until cancelled."""
        async with httpx2.AsyncClient(timeout=TIMEOUT, trust_env=False, verify=self._trust.web) as self._client:
            while True:
                self._wake.clear()
                self._gateway.recover_if_due()
                await self._send()
                await rest(self._clock, min(EVERY, self._gateway.seconds_until_recovery()), self._wake)

    async def _send(self) -> None:
        # One at a time: a ping that is overtaken by a later one would be taken for the last.
        async with self._sending:
            if self._client is None or self._service is None or self._is_silent():
                return
            ping = self._gateway.ping()
            headers = {"Authorization": f"Bearer {self._service.secrets.get(PING_TOKEN, '')}"}
            try:
                answer = await self._client.post(f"{self._service.url}/ping", json=ping, headers=headers)
                outcome = str(answer.status_code)
            except Exception as error:  # noqa: BLE001  whatever broke, the next ping comes
                outcome = type(error).__name__
            self._sent = [{"at": self._clock.now().timestamp(), "ping": ping, "answer": outcome}, *self._sent[:9]]
            if outcome == _TAKEN and not self._has_answered:
                self._has_answered = True
                self._machine.answered()

    def _is_silent(self) -> bool:
        return self._gateway.is_silent or not self._machine.running

    def _power_changed(self) -> None:
        """Ping at once when the machine runs again: it has started the gateway, too."""
        if self._machine.running:
            self._gateway.press("start", RECOVERED_AFTER)
            self._has_answered = False
            self._wake.set()


def gateway_routes(ground: SandboxGround) -> list[Route]:
    """Return the page with its buttons, and the lever under them: `do`, and `recovered_after` in seconds."""
    guest = Guest(ground.clock, ground.service, ground.machine)
    if ground.service is not None:
        ground.background.append(guest.run)

    def view() -> Document:
        return {"actions": ACTIONS, "every": EVERY, "recovered_after": RECOVERED_AFTER, **guest.known()}

    def press(given: Document) -> Awaitable[None]:
        if given["do"] not in ACTIONS:
            raise ValueError(f"`do` is one of {', '.join(ACTIONS)}.")
        return guest.press(given["do"], float(given.get("recovered_after", RECOVERED_AFTER)))

    return Board("/gateway", "gateway.html", guest.known, view, {"POST /_gateway": press}).routes()
