"""`orrery serve`: one process with both listeners and the workers (the design, Processes)."""

import asyncio
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import uvloop
from starlette.types import ASGIApp

from orrery.adapters.unavailable_store import UnavailableStore
from orrery.app.cli.closing import ClosingServer
from orrery.app.cli.listening import listen
from orrery.app.cli.service_manager import READY, manager_address, notify
from orrery.app.cli.services import Config, configured
from orrery.app.cli.supervision import run_together
from orrery.app.composition import opened, opened_for_examination
from orrery.app.deployment import Orrery
from orrery.app.garbage import collect_from_now
from orrery.app.http_apps import apps_of
from orrery.app.settings.reader import Secrets, Settings
from orrery.edge.listeners import Listeners
from orrery.errors import StoreError, StoreMissing
from orrery.logs import log
from orrery.ports.health import Finding
from orrery.runtime.jobs import Workers
from orrery.runtime.nodes import Nodes
from orrery.runtime.readiness import Readiness
from orrery.runtime.settings import ServerSettings
from orrery.runtime.tasks import to_its_end
from orrery.runtime.watch import EVERY, OutageWatch

UNUSABLE = (StoreError, StoreMissing)
"""Why a store cannot be used."""

TURN = 0.001
"""Seconds that a thread may compute while others wait for their turn; Python's own are 0.005.

Reading a page of the processor's listing is computing, and a commit needs about ten turns. With shorter turns than
this the store's thread and the event loop interrupt each other too often, and a burst of webhooks gets slower.
"""


def command(config: Config = None) -> None:
    """Run the service until Ctrl-C or a termination signal."""
    settings, secrets = configured(config)
    with suppress(KeyboardInterrupt):
        uvloop.run(serve(settings, secrets))


async def serve(
    settings: Settings, secrets: Secrets, site: ASGIApp | None = None, ready: Callable[[], None] | None = None
) -> None:
    """Serve until a signal to stop; call `ready` once both listeners answer. See `run_together`.

    Raises the store's errors where this process has no service manager. With one, which would start it again in
    seconds without a notice, it stays up, reports the reason, and pushes it once (decision 73).
    """
    # uvicorn raises the signal again once it has stopped: by default SIGTERM would end us ahead of our `finally`.
    _ = signal.signal(signal.SIGTERM, signal.default_int_handler)
    public_socket, private_socket = _bind(settings[ServerSettings])
    troubles = UNUSABLE if manager_address() else ()
    async with opened_for_examination(settings, secrets, troubles=troubles) as orrery:
        for start in (one for parts in orrery.modules for one in parts.at_start):
            await start()
        public, private = apps_of(orrery, site)
        private_address = private_socket.getsockname()[:2]
        apps = Listeners(public, private, private_address)
        server = ClosingServer(apps, settings[ServerSettings].closing_seconds, partial(_close, orrery))
        # Else the service answers "not ready" until its first round has ended.
        log_settings(await orrery[Readiness].run_round())
        collect_from_now()
        sys.setswitchinterval(TURN)
        workers = asyncio.create_task(_work(orrery, settings, secrets))
        announce = partial(_announce, public_socket.getsockname()[:2], ready)
        try:
            await run_together(server, [public_socket, private_socket], workers, announce)
        except (asyncio.CancelledError, KeyboardInterrupt):  # by a signal: without one, others miss this node
            with suppress(StoreError):
                await to_its_end(orrery[Nodes].leave())
            raise
        finally:
            log.info("stopped")


def log_settings(findings: Sequence[Finding]) -> None:
    """Log what the settings bring about: `orrery config check` shows the same before a start."""
    for one in findings:
        if one.of_settings and one.state != "off":
            write = log.error if one.state == "broken" else log.info
            write("settings", part=one.part, why=one.why, todo=one.todo)


async def _work(orrery: Orrery, settings: Settings, secrets: Secrets) -> None:
    """Do the jobs; without a store that can be used, until there is one: the next process opens it."""
    jobs = asyncio.ensure_future(orrery[Workers].run())
    try:
        while isinstance(orrery.store, UnavailableStore) and not jobs.done():
            await orrery.adapters.clock.sleep(EVERY.total_seconds())
            with suppress(*UNUSABLE):
                async with opened(settings, secrets) as usable:
                    await orrery[OutageWatch].hand_over(usable.store)
                    log.info("the store can be used again: the service starts over")
                    return
        await jobs
    finally:
        _ = jobs.cancel()
        _ = await asyncio.wait([jobs])


async def _close(orrery: Orrery) -> None:
    """Let what is in front of this process, and what shares its store, do without it."""
    orrery[Readiness].close()
    await orrery[Workers].hand_over()


def _bind(server: ServerSettings) -> tuple[socket.socket, socket.socket]:
    return listen(server.host, server.port), listen(server.private_host, server.private_port)


def _announce(address: tuple[str, int], ready: Callable[[], None] | None) -> None:
    log.info("serving", address="http://{}:{}".format(*address))
    notify(READY)
    if ready:
        ready()
