"""A mail server's port by a detour, which takes its time for each answer and counts what is asked. No TLS."""

import re
import socket
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from threading import Thread

_COMMAND = re.compile(rb"^[A-Z]{4}\d+ (UID )?(\w+)", re.MULTILINE)


class Relay:
    """Passes connections on; `delay` is what a network takes for the way to the server and back, in seconds."""

    def __init__(self, port: int) -> None:
        self.delay = 0.0
        self.commands = Counter[str]()
        self._server = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]

    def run(self) -> None:
        """Pass on what comes until the listener is closed."""
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
                Thread(target=self._pass, args=(client, server), daemon=True).start()
                Thread(target=self._back, args=(server, client), daemon=True).start()

    def _pass(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                self.commands.update((uid + name).decode() for uid, name in _COMMAND.findall(data))
                time.sleep(self.delay)  # noqa: TID251  a network's
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    def _back(self, server: socket.socket, client: socket.socket) -> None:
        with suppress(OSError), server, client:
            while data := server.recv(65536):
                client.sendall(data)


@contextmanager
def relayed(port: int) -> Generator[Relay]:
    """Run a relay to a port of this machine until the block ends."""
    relay = Relay(port)
    thread = Thread(target=relay.run, daemon=True)
    thread.start()
    try:
        yield relay
    finally:
        relay.listener.shutdown(socket.SHUT_RDWR)
        relay.listener.close()
