"""An application on a free port of this machine, served from a thread while a test runs."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from socket import socket

import stamina
import uvicorn
from starlette.types import ASGIApp

from tests.support.waiting import PATIENCE


class NotStarted(Exception):
    """The server does not take requests yet."""


@contextmanager
def serving(app: ASGIApp, listener: socket, certificate: Path | None = None) -> Generator[None]:
    """Serve an app on a bound socket, from its first request on; over TLS with a file of certificate and key."""
    config = uvicorn.Config(app, log_level="critical", lifespan="off", ssl_certfile=certificate)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        _wait_for(server)
        yield
    finally:
        server.should_exit = server.force_exit = True
        thread.join(PATIENCE)


@stamina.retry(on=NotStarted, attempts=None, timeout=PATIENCE, wait_initial=0.01, wait_max=0.05)
def _wait_for(server: uvicorn.Server) -> None:
    if not server.started:
        raise NotStarted
