"""The https listener of a stand-in that has one of its own."""

import asyncio
import socket
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp


async def listen(app: ASGIApp, listener: socket.socket, certificate: Path) -> None:
    """Serve the app by https with that certificate until cancelled, which cuts every connection."""
    settings = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=2,
        ssl_certfile=certificate,
    )
    server = uvicorn.Server(settings)
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        # A client that keeps its connection would be waited for, and the loop could not be closed before it went.
        for connection in list(server.server_state.connections):
            connection.transport.abort()
        server.should_exit = True
        await serving
        raise
