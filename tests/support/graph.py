"""A running sandbox with Microsoft Graph, on the listener of its identity provider."""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from orrery.sandbox.identity.directory import ACCOUNTS, CLIENT_A, CLIENT_B, TENANT_A
from tests.support.identity import IdentityBox, identity

READING = ("User.Read", "Mail.Read", "Chat.Read", "Calendars.Read", "Tasks.Read")
"""What an account that reads only grants."""

WRITING = ("User.Read", "Mail.ReadWrite", "Chat.Read", "Calendars.ReadBasic", "Tasks.ReadWrite")
"""What the cockpit asks for."""


@dataclass(frozen=True)
class GraphBox(IdentityBox):
    """The identity provider with Microsoft Graph beside it, at `{authority}/v1.0`."""

    @property
    def graph(self) -> dict[str, Any]:
        """Return everything that is known of Microsoft Graph: mailboxes, requests, sends."""
        return self.asked("GET", "/_graph")

    @property
    def sends(self) -> list[dict[str, Any]]:
        """Return every call that sends something, refused or not: it is to be empty when a test ends."""
        return self.graph["sends"]

    def taken_sends(self) -> list[dict[str, Any]]:
        """Return the sends, and forget them."""
        return self.asked("DELETE", "/_graph/sends")["sends"]

    def arrive(self, account: str, **message: object) -> dict[str, Any]:
        """Let a message arrive, and return its ids: `id`, and `immutable_id`.

        Its fields are subject, sender (name, address), minutes_ago, folder, importance, read, body (its type and
        its content), set, drop; `odd` is one of `orrery.sandbox.graph.levers.MALFORMED`.
        """
        return self.lever("deliver", account, **message)

    def fill(self, account: str, count: int) -> None:
        """Let the inbox have that many older messages besides."""
        self.lever("fill", account, count=count)

    def lever(self, name: str, account: str, **values: object) -> dict[str, Any]:
        """Pull one of `orrery.sandbox.graph.levers.LEVERS`, and return its answer."""
        return self.asked("POST", f"/_graph/{name}", {"account": account, **values})

    def calls(self, account: str) -> Counter[str]:
        """Return how often an account's calls came, by method and path template."""
        return Counter(self.graph["requests"].get(account, {}))

    def token(self, account: str, *scopes: str, tenant: str = "") -> str:
        """Return an access token of an account, of its home tenant unless another is named."""
        tenant = tenant or ACCOUNTS[account].home
        client = CLIENT_A if tenant == TENANT_A else CLIENT_B
        path = f"/{tenant}/oauth2/v2.0"
        with self.https() as web:
            asked = {"client_id": client, "scope": " ".join(scopes or WRITING)}
            code = web.post(f"{path}/devicecode", data=asked).raise_for_status().json()
            self.approve(code["user_code"], account)
            grant = {
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
                "client_id": client,
                "device_code": code["device_code"],
            }
            return web.post(f"{path}/token", data=grant).raise_for_status().json()["access_token"]

    def client(self, account: str, *scopes: str, tenant: str = "") -> httpx2.Client:
        """Return a client of Microsoft Graph without any library, signed in."""
        web = self.https()
        web.base_url = f"{self.authority}/v1.0"
        web.headers["Authorization"] = f"Bearer {self.token(account, *scopes, tenant=tenant)}"
        return web


@contextmanager
def graph(folder: Path) -> Generator[GraphBox]:
    """Run a sandbox with Microsoft Graph in `folder`; fails at the end if anything was sent."""
    with identity(folder) as box:
        graph_box = GraphBox(box.web, box.app, box.clock, box.authority, box.ca_file)
        yield graph_box
        sends = graph_box.sends
        assert sends == [], f"it was sent: {sends}"
