"""The edge of `deploy/edge/` in front of an origin, as a test reads through it."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from tests.support.nginx import NAME, Ports, adapted, in_clear, running, said, write
from tests.support.waiting import IN_CLEAR, PATIENCE

SITE_READ = "/api/stats?realtime=1"
HOST = {"Host": NAME}
COSMOS_READ = "/api/stats?realtime=cosmos"


@dataclass(frozen=True, slots=True)
class Edge:
    """A running edge without TLS: its port, its folder, and a client of it."""

    port: int
    folder: Path
    client: httpx2.Client

    def read(self, address: str = SITE_READ, **headers: str) -> httpx2.Response:
        """Read through the edge."""
        return self.client.get(address, headers=headers)

    def active(self, address: str = SITE_READ) -> int:
        """Return the number of the origin's answer that is shown; raise when none is."""
        return int(self.read(address).raise_for_status().json()["active"])

    def active_alone(self) -> int:
        """Return the same, asked over a connection of its own."""
        address = f"{self.client.base_url}{SITE_READ}"
        answer = httpx2.get(address, headers=HOST, trust_env=False, timeout=PATIENCE, verify=IN_CLEAR)
        return int(answer.raise_for_status().json()["active"])

    def log(self) -> str:
        """Return the log of requests, once nginx has written it."""
        return (self.folder / "orrery.log").read_text(encoding="utf-8")

    def said(self) -> str:
        """Return what nginx has logged about errors."""
        return said(self.folder)


@contextmanager
def edge_before(port: int, folder: Path, values: Mapping[str, str] | None = None) -> Generator[Edge]:
    """Run the site as shipped, but for `values`, in front of the origin on that port."""
    folder.mkdir()
    ports = Ports.free(port)
    main = write(folder, in_clear(adapted(folder, ports, values), ports.site))
    address = f"http://127.0.0.1:{ports.site}"
    with running(main, ports.site), client_of(address) as client:
        yield Edge(ports.site, folder, client)


def client_of(address: str) -> httpx2.Client:
    """Return a client that asks there for the site's name."""
    return httpx2.Client(base_url=address, headers=HOST, trust_env=False, timeout=PATIENCE, verify=IN_CLEAR)
