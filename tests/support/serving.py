"""An application on a free port of this machine, served from a thread while a test runs."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from socket import create_server, socket
from typing import Literal

import uvicorn
from starlette.types import ASGIApp

from tests.support.waiting import PATIENCE, until


@contextmanager
def serving(
    app: ASGIApp, listener: socket, certificate: Path | None = None, lifespan: Literal["on", "off"] = "off"
) -> Generator[None]:
    """Serve an app on a bound socket, from its first request on; over TLS with a file of certificate and key.

    One with a lifespan ends in good order; any other is cut off.
    """
    config = uvicorn.Config(
        app, log_level="critical", lifespan=lifespan, timeout_graceful_shutdown=2, ssl_certfile=certificate
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    try:
        until(lambda: server.started)
        yield
    finally:
        server.should_exit = True
        server.force_exit = lifespan == "off"
        thread.join(PATIENCE)
        listener.close()


def bound() -> tuple[socket, str]:
    """Return a socket on a free port of this machine, and its address."""
    listener = create_server(("127.0.0.1", 0))
    return listener, f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def served(app: ASGIApp) -> Generator[str]:
    """Serve an app on a free port until the end of the block; yield its address."""
    listener, url = bound()
    with serving(app, listener):
        yield url
