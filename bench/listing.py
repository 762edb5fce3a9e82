"""A processor that lists the sales of the last month, and nothing else."""

import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import cast
from urllib.parse import parse_qs, urlsplit

from bench.events import session_of
from bench.large_store import MONTHS, named, number_of

_PAGE = 100


class Listing(ThreadingHTTPServer):
    """The server; `sales` are those of the store."""

    sales = 0

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def page(self, query: str) -> range:
        """Return which sales are on a page, by their numbers."""
        asked = parse_qs(query)
        if asked.get("status") != ["complete"]:
            return range(0)
        first = number_of(asked["starting_after"][0]) // MONTHS + 1 if "starting_after" in asked else 0
        return range(first, max(first, min(first + _PAGE, self.sales // MONTHS)))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server, address = cast("Listing", self.server), urlsplit(self.path)
        found = server.page(address.query) if address.path.endswith("/checkout/sessions") else range(0)
        now = int(time.time())  # noqa: TID251  within the month
        body = {
            "object": "list",
            "url": address.path,
            "data": [session_of(named(number * MONTHS), now) for number in found],
            "has_more": bool(found) and found.stop < server.sales // MONTHS,
        }
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Print nothing."""


@contextmanager
def listing() -> Generator[Listing]:
    """Run it until the end of the block."""
    with Listing(("127.0.0.1", 0), _Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
