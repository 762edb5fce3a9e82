"""A sign-in by a browser on this machine, which brings the answer to a loopback address."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from threading import Thread
from urllib.parse import parse_qsl

from orrery.ports.identity import IdentityRefused

WAIT_SECONDS = 600
"""How long a person has to sign in."""

_LONGEST = 64 * 1024
"""Bytes of the form in which the answer comes."""

_DONE = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Signed in</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<body style="font:1.1rem system-ui;margin:20vh auto;max-width:32rem;padding:0 1rem">
<h1>The browser is done</h1><p>Go back to the terminal: it shows whether the sign-in was accepted.</p>"""


class Receiver:
    """Listens on 127.0.0.1 until the browser has brought one answer."""

    def __init__(self) -> None:
        self._answers: Queue[Mapping[str, str]] = Queue()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.answers = self._answers

    @property
    def address(self) -> str:
        """The address that the authority sends the browser back to; the registered one is `http://localhost`."""
        return f"http://localhost:{self._server.server_port}"

    @contextmanager
    def listening(self) -> Generator[None]:
        """Listen in the background."""
        thread = Thread(target=self._server.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._server.shutdown()
            self._server.server_close()

    def answer(self, state: str) -> Mapping[str, str]:
        """Wait for the answer to the sign-in with this state; raise `IdentityRefused` when none comes.

        Any page of the browser may post something here: it is no answer.
        """
        while (found := self._next()).get("state") != state:
            pass
        return found

    def _next(self) -> Mapping[str, str]:
        try:
            return self._answers.get(timeout=WAIT_SECONDS)
        except Empty:
            minutes = WAIT_SECONDS // 60
            raise IdentityRefused(
                f"The sign-in was not finished within {minutes} minutes.", code="expired"
            ) from None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    answers: "Queue[Mapping[str, str]]"

    def handle_error(self, request: object, client_address: object) -> None:
        """Write nothing: a browser that breaks off is no fault, and a trace would disturb the sign-in."""


class _Handler(BaseHTTPRequestHandler):
    timeout = 30
    """Seconds: browsers open connections that they do not use."""

    def do_POST(self) -> None:
        """Take the answer, which comes as a form, so that no history of the browser keeps it."""
        length = self.headers.get("Content-Length", "")
        size = int(length) if length.isascii() and length.isdigit() else 0
        if self.path != "/" or not 0 < size <= _LONGEST:
            self.send_error(404)
            return
        form = dict(parse_qsl(self.rfile.read(size).decode(errors="replace"), keep_blank_values=True))
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(_DONE)))
        self.send_header("Connection", "close")
        self.end_headers()
        _ = self.wfile.write(_DONE)
        if isinstance(self.server, _Server):
            self.server.answers.put(form)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the library's name
        """Write nothing: an answer is a code."""
