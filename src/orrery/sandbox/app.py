"""The sandbox as one ASGI app on one port: processor, hosted page, mail, push, analytics, console."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Host, Route, Router

from orrery.ports.clock import Clock
from orrery.runtime.module import load
from orrery.sandbox.analytics.access import AnalyticsConfig
from orrery.sandbox.analytics.api import ADDRESS, analytics_routes
from orrery.sandbox.board import assets, switched_off
from orrery.sandbox.cloud.levers import ADDRESS as CLOUD_ADDRESS
from orrery.sandbox.cloud.levers import cloud_routes
from orrery.sandbox.cloud.resources import CloudConfig
from orrery.sandbox.console import Console
from orrery.sandbox.faults import Faults
from orrery.sandbox.graph.api import graph_routes
from orrery.sandbox.graph.levers import ADDRESS as GRAPH_ADDRESS
from orrery.sandbox.ground import DocumentStore, SandboxGround, Service
from orrery.sandbox.identity.api import ADDRESS as IDENTITY_ADDRESS
from orrery.sandbox.identity.api import IdentityProvider
from orrery.sandbox.identity.directory import IdentityConfig
from orrery.sandbox.mail import MailLogin, MailServer
from orrery.sandbox.processor.account import PriceSeed, open_account
from orrery.sandbox.processor.api import EVERYTHING, Api
from orrery.sandbox.processor.courier import Courier
from orrery.sandbox.processor.pay_page import PayPage
from orrery.sandbox.processor.resources import configure_endpoints
from orrery.sandbox.processor.world import Mode, World, mode_of
from orrery.sandbox.push import PushServer
from orrery.sandbox.serving import Guard, listen
from orrery.sandbox.tracker import TrackerServer
from orrery.trust import Trust

log = logging.getLogger(__name__)

SANDBOXES = (
    "orrery.sandbox.mail:mail_routes",
    "orrery.sandbox.gateway:gateway_routes",
    "orrery.sandbox.gateway:watcher_routes",
)
"""The stand-ins that need no configuration: a vendor that is added is one more line here."""

_NEEDS = (
    (ADDRESS, "Analytics", "a key for the analytics provider"),
    (CLOUD_ADDRESS, "Cloud", "a port for the cloud"),
    (IDENTITY_ADDRESS, "Identity", "a port for the identity provider"),
    (GRAPH_ADDRESS, "Accounts", "a port for the identity provider"),
)
"""The pages of the others, and what a sandbox without them was started without."""

__all__ = [
    "EVERYTHING",
    "AnalyticsConfig",
    "CloudConfig",
    "IdentityConfig",
    "MailLogin",
    "PriceSeed",
    "Sandbox",
    "SandboxConfig",
    "Service",
    "create_app",
]


@dataclass(frozen=True, slots=True)
class SandboxConfig:
    """The configuration of the sandbox.

    `state_path` None keeps everything in memory. `api_keys` maps a key to its permissions (`EVERYTHING`, or the
    vendor's like `charge_read`); keys of both modes make two worlds, of which the first is that of test mode.
    `webhook_endpoints` are (url, signing secrets), in the first world. `smtp_port` 0 takes a free one, None starts
    no mail server; without `mail_login` that server accepts mail from anyone. `push_token` is the bearer that
    publishers must show, if any. Without `analytics` there is no analytics provider.

    A sandbox that is served under the vendors' names has them all in `hosts`. `pages_url` is where the hosted
    pages are, None means `base_url`; under the name `push_host` the push server is at the root, as ntfy does.
    `ca_file` has certificates of authorities that are believed beside the well-known ones where webhooks go.
    `service` is the one that the stand-ins ask by themselves, such as the gateway's guest; without it they do not.
    Without `cloud` there is no cloud, and without `identity` no identity provider.
    """

    base_url: str
    api_keys: Mapping[str, frozenset[str]]
    prices: tuple[PriceSeed, ...]
    state_path: Path | None = None
    webhook_endpoints: tuple[tuple[str, tuple[str, ...]], ...] = ()
    smtp_host: str = "127.0.0.1"
    smtp_port: int | None = 0
    push_token: str | None = None
    analytics: AnalyticsConfig | None = None
    ca_file: Path | None = None
    extra_routes: Sequence[BaseRoute] = field(default=())
    pages_url: str | None = None
    hosts: tuple[str, ...] = ()
    push_host: str | None = None
    mail_login: MailLogin | None = None
    service: Service | None = None
    cloud: CloudConfig | None = None
    identity: IdentityConfig | None = None


class Sandbox:
    """Everything that the sandbox is made of, wired."""

    def __init__(self, config: SandboxConfig, clock: Clock, advance: Callable[[float], float]) -> None:
        self.config = config
        self.state = DocumentStore(config.state_path)
        self.faults = Faults(clock)
        base_url = config.base_url.rstrip("/")
        self._ground = SandboxGround(self.state, clock, self.faults, base_url, config.service)
        self.worlds = _worlds(config, self.state, clock, self.faults)
        trust = Trust(config.ca_file)
        self.couriers = [Courier(world, trust) for world in self.worlds]
        self.mail = None
        if config.smtp_port is not None:
            self.mail = MailServer(self._ground, config.smtp_host, config.smtp_port, config.mail_login)
        self.push = PushServer(self._ground, config.push_token)
        self.console = Console(self.worlds, advance)
        self.identity = None if config.identity is None else IdentityProvider(config.identity, self._ground)

    def routes(self) -> list[BaseRoute]:
        config, ground, identity = self.config, self._ground, self.identity
        api = Api(self.worlds, config.api_keys)
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        at_the_root = Router(self.push.publishing())
        return [
            *(Host(name, at_the_root) for name in (config.push_host,) if name is not None),
            Route("/v1/{rest:path}", api.answer, methods=methods),
            *PayPage(self.worlds).routes(),
            *self.push.routes(),
            *TrackerServer(ground).routes(),
            *(route for target in SANDBOXES for route in load(target)(ground)),
            *([] if config.analytics is None else analytics_routes(config.analytics, ground)),
            *([] if config.cloud is None else cloud_routes(config.cloud, ground)),
            *([] if identity is None else [*identity.routes(), *graph_routes(ground, identity.url)]),
            *self.console.routes(),
            assets(),
            *config.extra_routes,
            *(switched_off(*one) for one in _NEEDS),
        ]

    def serve_beside(self, work: Callable[[], Coroutine[None, None, None]]) -> None:
        """Run this, too, while the app runs."""
        self._ground.background.append(work)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Deliver webhooks, take mail and do what stand-ins do by themselves, while the app runs."""
        if self.mail is not None:
            await self.mail.start()
        work = [*(courier.run for courier in self.couriers), *self._ground.background]
        tasks = [asyncio.create_task(one()) for one in work]
        for task in tasks:
            task.add_done_callback(_log_crash)
        try:
            yield
        finally:
            for task in tasks:
                _ = task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            if self.mail is not None:
                await self.mail.stop()
            for state in {self.state, *(world.state for world in self.worlds)}:
                state.close()


def _log_crash(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.critical("A part of the sandbox has ended: no webhook or no ping is sent any more.", exc_info=error)


def _worlds(config: SandboxConfig, state: DocumentStore, clock: Clock, faults: Faults) -> tuple[World, ...]:
    """Return a world for each mode that there is a key of: that of test mode first, and alone without any key."""
    base = config.base_url.rstrip("/")
    pages = base if config.pages_url is None else config.pages_url.rstrip("/")
    keyed = {mode_of(key) for key in config.api_keys} or {"test"}
    # Its own file, which keys that come or go later do not mix with the other.
    live = config.state_path and config.state_path.with_stem(f"{config.state_path.stem}-live")
    modes: list[Mode] = [mode for mode in get_args(Mode) if mode in keyed]
    worlds = tuple(
        World(DocumentStore(live) if mode == "live" else state, clock, faults, base, pages, mode) for mode in modes
    )
    first, last = worlds[0], worlds[-1]
    if first is not last:
        first.other, last.other = last, first
    for world in worlds:
        open_account(world, tuple(one for one in config.prices if (one.mode or first.mode) == world.mode))
        configure_endpoints(world, config.webhook_endpoints if world is first else ())
    return worlds


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

    app = Starlette(routes=sandbox.routes(), lifespan=lifespan, middleware=[Middleware(Guard, hosts=config.hosts)])
    app.state.sandbox = sandbox
    if (cloud := config.cloud) is not None:
        sandbox.serve_beside(lambda: listen(app, cloud.listener, cloud.certificate))
    if (identity := sandbox.identity) is not None:
        sandbox.serve_beside(lambda: identity.listen(app))
    return app
