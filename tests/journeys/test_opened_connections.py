"""A company's proxy that opens TLS: it shows certificates of its own authority for the vendors' names."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from orrery.adapters.ntfy import NtfyNotifier
from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.reads import StripeReads
from orrery.errors import OrreryError
from orrery.ports.notifier import OutgoingMessage
from orrery.trust import Trust
from tests.support.certificates import make_authority, server_context

ANSWER = json.dumps({"id": "acct_1", "object": "account"}).encode()
ASKED: dict[str, Callable[[Trust], Awaitable[object]]] = {
    "api.stripe.com": lambda trust: StripeReads(
        StripeConnection("sk_test_orrery_sandbox", base_url="https://api.stripe.com", trust=trust)
    ).get_account(),
    "ntfy.example": lambda trust: NtfyNotifier("https://ntfy.example", "t", trust=trust).send(
        OutgoingMessage("1", "t", "b")
    ),
}


@asynccontextmanager
async def proxy(certificate: Path) -> AsyncGenerator[tuple[str, list[str]]]:
    """Run a proxy that answers in the vendor's place; yield its address and the lines that it was asked with."""
    asked: list[str] = []

    async def open_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode().splitlines()[0])
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        try:
            await writer.start_tls(server_context(certificate))
            await reader.readuntil(b"\r\n\r\n")
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(ANSWER)}\r\nConnection: close\r\n\r\n"
            writer.write(head.encode() + ANSWER)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # it was not believed
        finally:
            writer.close()

    server = await asyncio.start_server(open_connection, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", asked


@pytest.mark.parametrize("host", ASKED)
def test_a_proxy_that_opens_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """Through a proxy of the environment, a vendor is believed once the proxy's authority is named."""
    authority = make_authority(tmp_path)

    async def ask(trust: Trust) -> list[str]:
        async with proxy(authority.certify(host)) as (address, asked):
            monkeypatch.setenv("HTTPS_PROXY", address)
            await ASKED[host](trust)
            return asked

    with pytest.raises(OrreryError, match="unknown authority"):
        asyncio.run(ask(Trust()))
    (line,) = asyncio.run(ask(Trust(authority.file)))
    assert line.startswith(f"CONNECT {host}:443 ")
