"""A running sandbox with a cloud, by https on a free port of this machine."""

import socket
import ssl
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.ports.cloud.machine import Restart
from orrery.sandbox.app import CloudConfig, SandboxConfig, Service
from orrery.sandbox.cloud.resources import IDENTITY_HEADER, TOKEN_PATH
from orrery.sandbox.serving import authority_file, certificate_of
from tests.support.sandbox_box import SandboxBox, running_box
from tests.support.waiting import PATIENCE

SCOPE = "https://management.azure.com/.default"
"""What a client asks a token for (`credential_scopes`)."""

_KINDS = ("_cloud_resource", "_cloud_due", "_cloud_event", "_cloud_value")


async def _kept(request: Request) -> Response:
    """Return what the cloud knows; PUT has it know that again, here where nothing else is done meanwhile."""
    again: list[Any] = await request.json() if request.method == "PUT" else []
    state = request.app.state.sandbox.state
    known = [one for kind in _KINDS for one in reversed(list(state.newest_first(kind)))]
    if request.method == "PUT":
        for one in known:
            state.remove(one["object"], one["id"])
        state.save(*again)
    return JSONResponse(known)


@dataclass(frozen=True)
class CloudBox(SandboxBox):
    """A running cloud: `config.url` is where it is managed, by https."""

    config: CloudConfig
    ca_file: Path

    @property
    def identity_env(self) -> Mapping[str, str]:
        """What a managed identity finds in its environment."""
        return {"IDENTITY_ENDPOINT": f"{self.url}{TOKEN_PATH}", "IDENTITY_HEADER": IDENTITY_HEADER}

    def known(self) -> dict[str, Any]:
        """Return everything that is known, with what is due by now."""
        return self.asked("GET", "/_cloud")

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the log, oldest first, of those kinds if any are given."""
        return [one for one in self.known()["events"] if not kinds or one["kind"] in kinds]

    def asked_since(self, moment: float) -> list[str]:
        """Return the requests since a time of the clock, by their names; of many, the last ones."""
        return [one["what"] for one in self.known()["requests"] if one["at"] >= moment]

    def kept(self) -> Any:  # noqa: ANN401  JSON of the sandbox's own
        """Return what the cloud knows, for `put_back`."""
        return self.asked("GET", "/_kept")

    def put_back(self, kept: Any) -> None:  # noqa: ANN401  the same
        """Have the cloud know what it knew, without a fault; the clock goes on."""
        self.clear_faults()
        self.asked("PUT", "/_kept", kept)

    def pull(self, action: str, **delays: float | list[float]) -> dict[str, Any]:
        """Pull a lever: shutdown, deallocate, start, unknown, known, expire."""
        return self.asked("POST", "/_cloud", {"do": action, **delays})

    def advance(self, seconds: float) -> dict[str, Any]:
        """Move the clock; everything that is due until then has happened when this returns."""
        self.clock.advance(seconds)
        return self.known()

    def post(self, uri: str, body: str = "{}") -> httpx2.Response:
        """Post to a webhook's URI, by https."""
        with self.https() as web:
            return web.post(uri, content=body)

    def https(self) -> httpx2.Client:
        """Return a client of the management API without any library."""
        trust = ssl.create_default_context(cafile=self.ca_file)
        return httpx2.Client(base_url=self.config.url, verify=trust, trust_env=False, timeout=PATIENCE)

    def waiting_faults(self) -> list[str]:
        """Return the kinds of the faults that have not met their request yet."""
        return [one["kind"] for one in self.asked("GET", "/_faults")["active"]]


@contextmanager
def running_cloud(
    folder: Path,
    restart: Restart | None = None,
    service: Service | None = None,
    **config: Any,  # noqa: ANN401  fields of CloudConfig
) -> Generator[CloudBox]:
    """Run a sandbox with a cloud whose state, clock and authority live in `folder`, beside a service if any."""
    https = socket.create_server(("127.0.0.1", 0))
    cloud = CloudConfig(https, certificate_of(folder, "cloud"), restart, **config)
    kept = Route("/_kept", _kept, methods=["GET", "PUT"])

    def settings(url: str) -> SandboxConfig:
        return SandboxConfig(
            url, {}, (), folder / "sandbox.db", smtp_port=None, extra_routes=(kept,), service=service, cloud=cloud
        )

    with running_box(folder, settings) as box:
        yield CloudBox(box.web, box.app, box.clock, cloud, authority_file(folder, "cloud"))
