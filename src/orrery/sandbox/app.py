"""The sandbox as one ASGI app on one port: processor, hosted page, mail, push, analytics, console."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route

from orrery.ports.clock import Clock
from orrery.sandbox.analytics.api import AnalyticsApi
from orrery.sandbox.analytics.config import AnalyticsConfig
from orrery.sandbox.analytics.page import ADDRESS, AnalyticsPage, switched_off
from orrery.sandbox.console import Console
from orrery.sandbox.faults import Faults
from orrery.sandbox.guard import Guard
from orrery.sandbox.mail import MailServer, mail_routes
from orrery.sandbox.pages import assets
from orrery.sandbox.processor.account import PriceSeed, open_account
from orrery.sandbox.processor.api import EVERYTHING, Api
from orrery.sandbox.processor.courier import Courier
from orrery.sandbox.processor.endpoints import configure_endpoints
from orrery.sandbox.processor.pay_page import PayPage
from orrery.sandbox.processor.world import World
from orrery.sandbox.push import PushServer
from orrery.sandbox.state import State
from orrery.sandbox.tracker import TrackerServer

log = logging.getLogger(__name__)

__all__ = ["EVERYTHING", "AnalyticsConfig", "PriceSeed", "Sandbox", "SandboxConfig", "create_app"]


@dataclass(frozen=True, slots=True)
class SandboxConfig:
    """What the sandbox is started with.

    `state_path` None keeps everything in memory. `api_keys` maps a key to its permissions (`EVERYTHING`, or the
    vendor's like `charge_read`). `webhook_endpoints` are (url, signing secrets). `smtp_port` 0 takes a free one,
    None starts no mail server. `push_token` is the bearer that publishers must show, if any; `tracker_token` the
    one for writing issues, None takes any. Without `analytics` there is no analytics provider.
    """

    base_url: str
    api_keys: Mapping[str, frozenset[str]]
    prices: tuple[PriceSeed, ...]
    state_path: Path | None = None
    webhook_endpoints: tuple[tuple[str, tuple[str, ...]], ...] = ()
    smtp_host: str = "127.0.0.1"
    smtp_port: int | None = 0
    push_token: str | None = None
    tracker_token: str | None = None
    analytics: AnalyticsConfig | None = None
    extra_routes: Sequence[BaseRoute] = field(default=())


class Sandbox:
    """Everything that the sandbox is made of, wired."""

    def __init__(self, config: SandboxConfig, clock: Clock, advance: Callable[[float], float]) -> None:
        self.config = config
        self.state = State(config.state_path)
        self.faults = Faults()
        livemode = any("_live_" in key for key in config.api_keys)
        self.world = World(self.state, clock, self.faults, config.base_url.rstrip("/"), livemode)
        open_account(self.world, config.prices)
        configure_endpoints(self.world, config.webhook_endpoints)
        self.courier = Courier(self.world)
        self.mail = _mail_server(config, self.state, clock, self.faults)
        self.push = PushServer(self.state, clock, self.faults, config.push_token)
        self.tracker = TrackerServer(self.state, clock, self.faults, config.base_url, config.tracker_token)
        self.console = Console(self.world, advance)

    def routes(self) -> list[BaseRoute]:
        """Return every route."""
        api = Api(self.world, self.config.api_keys)
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        return [
            Route("/v1/{rest:path}", api.answer, methods=methods),
            *PayPage(self.world).routes(),
            *self.push.routes(),
            *self.tracker.routes(),
            *mail_routes(self.state),
            *self._analytics_routes(),
            *self.console.routes(),
            assets(),
            *self.config.extra_routes,
        ]

    def _analytics_routes(self) -> list[Route]:
        world, config = self.world, self.config.analytics
        if config is None:
            return [Route(ADDRESS, switched_off, methods=["GET"])]
        api = AnalyticsApi(config, world.base_url, self.state, world.clock, self.faults)
        return [*api.routes(), *AnalyticsPage(api, self.faults).routes()]

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Deliver webhooks and take mail while the app runs."""
        if self.mail is not None:
            await self.mail.start()
        courier = asyncio.create_task(self.courier.run())
        courier.add_done_callback(_tell_of_a_crash)
        try:
            yield
        finally:
            courier.cancel()
            with suppress(asyncio.CancelledError):
                await courier
            if self.mail is not None:
                await self.mail.stop()
            self.state.close()


def _tell_of_a_crash(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.critical("No webhook is delivered any more.", exc_info=error)


def _mail_server(config: SandboxConfig, state: State, clock: Clock, faults: Faults) -> MailServer | None:
    if config.smtp_port is None:
        return None
    return MailServer(state, clock, faults, config.smtp_host, config.smtp_port)


def create_app(config: SandboxConfig, clock: Clock, advance: Callable[[float], float]) -> Starlette:
    """Return the app; `app.state.sandbox` is the `Sandbox`, `app.state.smtp_port` the mail port once started.

    `advance` moves the clock forward by seconds and returns the new offset (`MovableClock.advance`).
    """
    sandbox = Sandbox(config, clock, advance)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with sandbox.running():
            app.state.smtp_port = sandbox.mail.port if sandbox.mail is not None else None
            yield

    app = Starlette(routes=sandbox.routes(), lifespan=lifespan, middleware=[Middleware(Guard)])
    app.state.sandbox = sandbox
    return app
