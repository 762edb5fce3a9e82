"""The gateway's guest in the sandbox: what it pings after each button (docs/reference/sandbox.md)."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from orrery.gateway.causes import Ping, kind_of
from orrery.gateway.routes import PingBody
from orrery.sandbox.app import SandboxConfig, Service
from orrery.sandbox.gateway import RECOVERED_AFTER
from orrery.sandbox.ground import PING_TOKEN
from tests.support.running_sandbox import Receiver, Running, running
from tests.support.serving import bound, serving
from tests.support.waiting import until


def ping_of(body: PingBody) -> Ping:
    """Return the ping in a body."""
    return Ping(**body.model_dump())


SECRET = "token-of-the-tests"  # noqa: S105  it opens nothing
NEVER = "inf"


class Site:
    """A service that keeps the pings."""

    def __init__(self) -> None:
        self.pings: list[dict[str, Any]] = []
        self.bearers: set[str] = set()

    async def receive(self, request: Request) -> Response:
        """Keep one ping."""
        self.pings.append(await request.json())
        self.bearers.add(request.headers["authorization"])
        return Response(status_code=204)


@pytest.fixture(scope="module")
def site() -> Site:
    """Return the service that is pinged."""
    return Site()


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory, site: Site) -> Iterator[Running]:
    """Run a sandbox beside that service."""
    listener, url = bound()
    service = Service(url, {PING_TOKEN: SECRET})

    def beside(config: SandboxConfig) -> SandboxConfig:
        return replace(config, service=service, webhook_endpoints=())

    app = Starlette(routes=[Route("/ping", site.receive, methods=["POST"])])
    with serving(app, listener), running(tmp_path_factory.mktemp("guest"), Receiver(), change=beside) as box:
        until(lambda: site.pings)
        yield box


def press(box: Running, action: str, **more: str) -> dict[str, Any]:
    """Press a button."""
    answer = box.web.post("/_gateway", data={"do": action} | more)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    ("action", "kind"),
    [("start", "good"), ("stop", "stopped"), ("crash", "failed"), ("hang", "hanging"), ("pause", "paused")],
)
def test_a_button_is_a_ping_at_once(guest: Running, site: Site, action: str, kind: str) -> None:
    """When the button's answer is there the service has a ping, which it can read, with what was done."""
    press(guest, action, recovered_after=NEVER)
    last = site.pings[-1]
    assert kind_of(ping_of(PingBody.model_validate(last))) == kind
    assert site.bearers == {f"Bearer {SECRET}"}


def test_the_guest_recovers_the_gateway(guest: Running, site: Site) -> None:
    """Some seconds after a crash a ping has it active again, and restarted once more."""
    restarts = press(guest, "crash")["ping"]["restarts"]
    assert site.pings[-1]["state"] == "failed"
    guest.advance(RECOVERED_AFTER)
    until(lambda: site.pings[-1]["state"] == "active")
    assert site.pings[-1]["restarts"] == restarts
