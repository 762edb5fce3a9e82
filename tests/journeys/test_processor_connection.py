"""A processor that answers a byte at a time, and a machine that has other keys lying about."""

import asyncio
import signal
import socket
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.sales import StripeProcessor
from orrery.ports.processor.errors import ProcessorError
from tests.support.deployment import Deployment
from tests.support.visiting import Visitor
from tests.support.waiting import PATIENCE

KEY = "sk_test_orrery_sandbox"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"


class Dripping:
    """A server that begins an answer and then sends a blank a second, for as long as anybody listens."""

    def __init__(self, port: int) -> None:
        self._listener = socket.create_server(("127.0.0.1", port))
        self._over = threading.Event()
        self.asked = threading.Event()

    def serve(self) -> None:
        """Answer until closed."""
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._drip, args=[client], daemon=True).start()

    def _drip(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            client.recv(65536)
            client.sendall(HEAD)
            self.asked.set()
            while not self._over.wait(1):  # from one byte to the next: no limit
                client.sendall(b" ")

    def close(self) -> None:
        """Stop answering."""
        self._over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@contextmanager
def dripping(port: int) -> Generator[Dripping]:
    """Have a dripping server on a port."""
    server = Dripping(port)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


def test_the_service_ends_while_the_processor_drips(tmp_path: Path) -> None:
    """A visitor gets a 503 within the deadline, and the service ends on request while bytes still come."""
    shop = Deployment(tmp_path)
    try:
        with dripping(shop.ports[2]) as processor, ThreadPoolExecutor(1) as pool:
            service = shop.start_service()
            clicked = pool.submit(Visitor(shop).check_out, "a-key-of-its-own")
            assert processor.asked.wait(PATIENCE)
            assert clicked.result().status_code == 503
            assert service.end(signal.SIGTERM) == 0
    finally:
        shop.clear_away()


class Asking(BaseHTTPRequestHandler):
    """Keeps the key that it is shown, and refuses it."""

    shown: list[str] = []  # noqa: RUF012  the server makes a handler for each request

    def do_GET(self) -> None:
        """Refuse."""
        self.shown.append(self.headers.get("Authorization", ""))
        self.send_response(401)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the names of the method that is replaced
        """Print nothing."""


def test_no_other_key_of_this_machine_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor is shown our key, also where the user's .netrc has something for every host."""
    netrc = tmp_path / "netrc"
    netrc.write_text("default login somebody password something\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with HTTPServer(("127.0.0.1", 0), Asking) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        processor = StripeProcessor(StripeConnection(KEY, base_url=f"http://127.0.0.1:{server.server_port}"))
        with pytest.raises(ProcessorError):
            asyncio.run(processor.get_account())
        server.shutdown()
    assert Asking.shown == [f"Bearer {KEY}"]
