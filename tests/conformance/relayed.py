"""A port that leads to another, through changes of what is sent."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

Change = Callable[[bytes], bytes]


@asynccontextmanager
async def relayed(target: int, *, upward: Change = bytes, downward: Change = bytes) -> AsyncGenerator[int]:
    """Yield a port that leads to the target, through changes of what is sent; lines stay open to the end."""
    async with AsyncExitStack() as stack:

        async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            from_server, to_server = await asyncio.open_connection("127.0.0.1", target)
            for line in (writer, to_server):
                stack.callback(line.close)
            await asyncio.gather(pumped(reader, to_server, upward), pumped(from_server, writer, downward))

        listener = await stack.enter_async_context(await asyncio.start_server(relay, "127.0.0.1"))
        yield listener.sockets[0].getsockname()[1]


async def pumped(source: asyncio.StreamReader, target: asyncio.StreamWriter, change: Change) -> None:
    """Pass on what arrives, until its sender closes the line."""
    with suppress(ConnectionError):
        while sent := await source.read(65536):
            target.write(change(sent))
