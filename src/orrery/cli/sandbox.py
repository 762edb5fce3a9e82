"""`orrery sandbox`: the stand-ins for the vendors, alone, for tests and for trying settings out."""

import socket
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
import uvicorn

from orrery.adapters.movable_clock import MovableClock
from orrery.edge.listeners import bind
from orrery.sandbox.app import EVERYTHING, PriceSeed, SandboxConfig, create_app

PRICE = PriceSeed(id="price_cloud_navigator", product="Cloud Navigator practice questions", unit_amount=4900)
"""What the demo sells."""

API_KEY, SIGNING_SECRET = "sk_test_orrery_sandbox", "whsec_orrery_sandbox"
"""What the sandbox accepts and signs with when nothing else is said: no real processor knows them."""


@dataclass(frozen=True, slots=True)
class SandboxPlan:
    """How the sandbox is run: where, with which keys, and where it sends webhooks."""

    data: Path
    port: int
    smtp_port: int
    api_key: str = field(repr=False)
    webhook_url: str
    webhook_secret: str = field(repr=False)


def command(
    webhook_url: Annotated[str, typer.Option(help="Where webhooks are sent.")],
    api_key: Annotated[str, typer.Option(help="The key that callers must show.")] = API_KEY,
    webhook_secret: Annotated[str, typer.Option(help="What webhooks are signed with.")] = SIGNING_SECRET,
    port: Annotated[int, typer.Option(help="The port on 127.0.0.1.")] = 8090,
    smtp_port: Annotated[int, typer.Option(help="The mail server's port on 127.0.0.1.")] = 8025,
    data: Annotated[Path, typer.Option(help="Where state and clock are kept.")] = Path(".orrery"),
) -> None:
    """Run the sandbox until Ctrl-C."""
    plan = SandboxPlan(data, port, smtp_port, api_key, webhook_url, webhook_secret)
    server, listener = prepare(plan)
    typer.echo(f"sandbox: http://127.0.0.1:{port}")
    server.run(sockets=[listener])


def prepare(plan: SandboxPlan) -> tuple[uvicorn.Server, socket.socket]:
    """Return the server and its socket."""
    listener = bind("127.0.0.1", plan.port)
    clock = MovableClock(clock_file(plan.data))
    config = SandboxConfig(
        base_url=f"http://127.0.0.1:{plan.port}",
        api_keys={plan.api_key: frozenset({EVERYTHING})},
        prices=(PRICE,),
        state_path=plan.data / "sandbox.db",
        webhook_endpoints=((plan.webhook_url, (plan.webhook_secret,)),),
        smtp_port=plan.smtp_port,
    )
    app = create_app(config, clock, clock.advance)
    settings = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=2)
    return uvicorn.Server(settings), listener


class SandboxThread:
    """The sandbox beside the service in one process, so that no kill can leave one of them behind."""

    def __init__(self, plan: SandboxPlan) -> None:
        self._server, listener = prepare(plan)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)

    def start(self) -> None:
        """Start serving."""
        self._thread.start()

    def stop(self) -> None:
        """Stop and wait."""
        self._server.should_exit = True
        self._thread.join(timeout=10)


def clock_file(data: Path) -> Path:
    """Return the file of the clock that service and sandbox share."""
    return data / "clock"
