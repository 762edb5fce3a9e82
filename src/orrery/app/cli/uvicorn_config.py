"""How each of our servers runs uvicorn."""

import resource
from functools import partial

import uvicorn
from starlette.types import ASGIApp

from orrery.edge.connection_limiter import ConnectionLimiter, most_connections
from orrery.edge.uvicorn_protocol import TimeLimitedProtocol

GRACE = 10
"""Seconds that requests under way may take to end after Ctrl-C."""


def connection_limiter() -> ConnectionLimiter:
    """Return the limits over all connections that this process may have."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return ConnectionLimiter(most_connections(descriptors))


def uvicorn_config(app: ASGIApp, limiter: ConnectionLimiter) -> uvicorn.Config:
    """Return the configuration: our limits, no access log, and no trusted proxy."""
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
