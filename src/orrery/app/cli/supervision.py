"""Server, listeners and workers in one group (decision 52): when one ends unexpectedly, the process ends.

The service manager then starts it again. Half a service is worse: it sells, and the owner is not notified.
"""

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

import uvicorn

from orrery.errors import OrreryError
from orrery.logs import log
from orrery.runtime.tasks import to_its_end

LISTENER_SECONDS = 1.0
"""How often the sockets are checked: whether both still listen."""


class EndedUnexpectedlyError(OrreryError):
    """A necessary part of the service has ended without a signal."""


async def run_together(
    server: uvicorn.Server,
    sockets: list[socket.socket],
    workers: "asyncio.Task[Any]",
    ready: Callable[[], None],
) -> None:
    """Serve until a signal comes; then end the workers. `ready` is called once the sockets listen.

    Raises `EndedUnexpectedlyError` when the server, a listener or the workers end before. Requests under way are
    answered first.
    """
    names = {workers: "the workers", asyncio.create_task(_listen(server, sockets, ready)): "a listener"}
    ended: list[asyncio.Task[Any]] = []

    def end(task: "asyncio.Task[Any]") -> None:
        if not server.should_exit:
            ended.append(task)
            server.should_exit = True

    for task in names:
        task.add_done_callback(end)
    try:
        trouble = await _serve(server, sockets)
        if ended:
            raise _unexpected(names[ended[0]], _error(ended[0]))
        if trouble or not server.should_exit:
            raise _unexpected("the server", trouble)
    finally:
        for task in names:
            _ = task.cancel()
        # uvicorn raises the signal again, which cancels this: the store must stay open until the workers end.
        _ = await to_its_end(asyncio.wait(names))


async def _serve(server: uvicorn.Server, sockets: list[socket.socket]) -> Exception | None:
    """Return once the server has ended, with the reason if it failed."""
    try:
        await server.serve(sockets=sockets)
    except Exception as error:  # noqa: BLE001  the process ends by it, and logs it
        return error
    finally:
        for listener in getattr(server, "servers", ()):  # it has none before it starts
            listener.close()  # the event loop would wait for ever for one that is open
    return None


async def _listen(server: uvicorn.Server, sockets: list[socket.socket], ready: Callable[[], None]) -> None:
    """Return once one of the sockets no longer listens: the event loop closes it at some faults, silently."""
    while not server.started:  # noqa: ASYNC110  uvicorn offers no event for it
        await asyncio.sleep(0.01)
    ready()
    while all(map(_is_listening, sockets)):  # noqa: ASYNC110  the event loop offers none for this
        await asyncio.sleep(LISTENER_SECONDS)


def _is_listening(listener: socket.socket) -> bool:
    try:
        return listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) != 0
    except OSError:
        return False


def _error(task: "asyncio.Task[Any]") -> BaseException | None:
    return None if task.cancelled() else task.exception()


def _unexpected(part: str, error: BaseException | None) -> EndedUnexpectedlyError:
    log.critical("ends unexpectedly", part=part, exc_info=error)
    why = f" ({', '.join(_kinds(error))})" if error else ""
    return EndedUnexpectedlyError(f"The service ends, because {part} ended{why}.")


def _kinds(error: BaseException) -> list[str]:
    """Return the types of an error: of a group, those of the errors in it."""
    if isinstance(error, BaseExceptionGroup):
        inner = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return sorted({kind for one in inner for kind in _kinds(one)})
    return [type(error).__name__]
