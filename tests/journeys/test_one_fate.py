"""Server and workers in one group: when one of them ends, the process ends with the reason (decision 52)."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest
import uvicorn
import uvloop
from starlette.responses import PlainTextResponse

from orrery.app.cli.supervision import EndedUnexpectedlyError, run_together
from orrery.edge.listeners import bind
from tests.support.deployment import Deployment
from tests.support.waiting import PATIENCE

Work = Callable[[], Coroutine[None, None, None]]


def test_the_process_ends_when_its_workers_end(tmp_path: Path) -> None:
    """A fault in the workers' own code ends the process with 1 and a line that names it; no port stays taken."""
    shop = Deployment(tmp_path)
    try:
        service = shop.start_service()
        clock = tmp_path / "sandbox" / "clock"
        clock.parent.mkdir()
        clock.write_text("no number", encoding="ascii")
        assert service.process.wait(PATIENCE) == 1
        lines = [one for one in service.printed().splitlines() if '"ends unexpectedly"' in one]
        assert len(lines) == 1, service.printed()
        assert '"part": "the workers"' in lines[0]
        assert "ValueError" in lines[0]
        assert "The service ends, because the workers ended (ValueError)." in service.printed()
        assert not shop.leaves_a_listener()
    finally:
        shop.clear_away()


async def never() -> None:
    """Work until cancelled."""
    await asyncio.Event().wait()


async def fail() -> None:
    """Fail as one job of several does."""
    async with asyncio.TaskGroup() as group:
        group.create_task(never())
        raise ZeroDivisionError


async def finish() -> None:
    """Come to an end, as nothing may here."""


def reason_of_the_end(
    work: Work,
    sockets: list[socket.socket],
    ready: Callable[[], None] = print,
    kind: type[uvicorn.Server] = uvicorn.Server,
) -> str:
    """Return why a server of one word and the workers beside it end, having seen that the workers have."""
    server = kind(uvicorn.Config(PlainTextResponse("here"), lifespan="off", log_config=None))

    async def together() -> str:
        workers = asyncio.create_task(work())
        with pytest.raises(EndedUnexpectedlyError) as ended:
            async with asyncio.timeout(PATIENCE):
                await run_together(server, sockets, workers, ready)
        assert workers.done()
        return str(ended.value)

    return uvloop.run(together())


def two_sockets() -> list[socket.socket]:
    """Return what the two listeners of a service would listen on."""
    return [bind("127.0.0.1", 0), bind("127.0.0.1", 0)]


@pytest.mark.parametrize("which", [0, 1])
def test_a_listener_that_closes(which: int) -> None:
    """When the system closes the public listener or the private one, the server and the workers end."""
    sockets = two_sockets()
    why = reason_of_the_end(never, sockets, lambda: sockets[which].shutdown(socket.SHUT_RDWR))
    assert why == "The service ends, because a listener ended."


@pytest.mark.parametrize(("work", "how"), [(fail, " (ZeroDivisionError)"), (finish, "")])
def test_workers_that_end(work: Work, how: str) -> None:
    """Workers that fail, or come to an end, end the server."""
    sockets = two_sockets()
    assert reason_of_the_end(work, sockets) == f"The service ends, because the workers ended{how}."
    assert [one.fileno() for one in sockets] == [-1, -1]


def test_a_port_that_another_took_meanwhile() -> None:
    """A socket on whose port another process began to listen after the bind never listens, and is the reason."""
    first = bind("127.0.0.1", 0)
    with first, bind("127.0.0.1", first.getsockname()[1]) as second:
        first.listen()
        assert reason_of_the_end(never, [second]) == "The service ends, because a listener ended."


class FailingServer(uvicorn.Server):
    """A server with a fault."""

    async def main_loop(self) -> None:
        """Fail."""
        raise ZeroDivisionError


def test_a_server_that_fails() -> None:
    """A server that fails ends the workers."""
    why = reason_of_the_end(never, two_sockets(), kind=FailingServer)
    assert why == "The service ends, because the server ended (ZeroDivisionError)."
