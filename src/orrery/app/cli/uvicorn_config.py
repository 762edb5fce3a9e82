"""How each of our servers runs uvicorn."""

import resource
import socket
from errno import EADDRINUSE
from functools import partial

import uvicorn
from starlette.types import ASGIApp

from orrery.edge.connection_limiter import ConnectionLimiter, most_connections
from orrery.edge.listeners import bind
from orrery.edge.uvicorn_protocol import TimeLimitedProtocol
from orrery.errors import OrreryError

GRACE = 10
"""Seconds that requests under way may take to end after Ctrl-C."""


class AddressTakenError(OrreryError):
    """Something else listens there already."""


def uvicorn_config(app: ASGIApp) -> uvicorn.Config:
    """Return the configuration: our limits, no access log, and no trusted proxy."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limiter = ConnectionLimiter(most_connections(descriptors))
    return uvicorn.Config(
        app,
        log_level="error",  # below that it logs each stranger's bytes that are no HTTP
        http=partial(TimeLimitedProtocol, limiter),  # pyright: ignore[reportArgumentType]  called with uvicorn's own words
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
        callback_notify=limiter.close_unread,
        timeout_notify=0,  # each second
    )


def why_not_to_listen(host: str, port: int) -> str:
    """Return why no program can listen there, or nothing; a listener of the running service is no reason."""
    try:
        bind(host, port).close()
    except OSError as error:
        return "" if error.errno == EADDRINUSE else f"{host}:{port} cannot be listened on: {error.strerror}."
    return ""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise `AddressTakenError`."""
    try:
        return bind(host, port)
    except OSError as error:
        raise AddressTakenError(f"{host}:{port} cannot be listened on: {error.strerror}.") from None
