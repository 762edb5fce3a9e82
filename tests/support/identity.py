"""A running sandbox with an identity provider, by https on a free port of this machine."""

import re
import socket
import ssl
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2

from orrery.sandbox.app import IdentityConfig, SandboxConfig
from orrery.sandbox.serving import authority_file, certificate_of
from orrery.trust import Trust
from tests.support.sandbox_box import SandboxBox, running_box
from tests.support.waiting import IN_CLEAR, PATIENCE

_FORM = re.compile(r'<form [^>]*action="([^"]+)"')
_HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


@dataclass(frozen=True)
class IdentityBox(SandboxBox):
    """A running identity provider: `authority` is where people sign in, by https.

    A tenant's own authority is `{authority}/{tenant}`; a client of it trusts `ca_file`.
    """

    authority: str
    ca_file: Path

    @cached_property
    def trust(self) -> Trust:
        """Whom its clients trust; reading the certificates takes longer than most requests."""
        return Trust(self.ca_file)

    @property
    def known(self) -> dict[str, Any]:
        """Return everything that is known: accounts, waiting codes, levers, requests."""
        return self.asked("GET", "/_identity")

    @property
    def requests(self) -> Mapping[str, int]:
        """Return how many requests came by https, by path."""
        return self.known["requests"]

    def approve(self, user_code: str, account: str) -> None:
        """Let an account approve a device code."""
        self.asked("POST", "/_identity/approve", {"user_code": user_code, "account": account})

    def decline(self, user_code: str) -> None:
        """Decline a device code."""
        self.asked("POST", "/_identity/decline", {"user_code": user_code})

    def pull(self, lever: str, **values: object) -> None:
        """Pull a lever: consent, device_code, confidential, keys, skew, scopes, opaque."""
        self.asked("POST", f"/_identity/{lever}", values)

    def doctor(self, part: str, **change: object) -> None:
        """Change a part (id, access, client_info, answer): drop=, set= with value=, double=; sign= for id."""
        self.pull("doctor", part=part, **change)

    def undo(self, lever: str = "") -> None:
        """Undo a lever, or all."""
        self.asked("DELETE", f"/_identity/{lever}".rstrip("/"))

    def sign_in(self, address: str, account: str) -> dict[str, str]:
        """Choose an account on the authorization page, and return what is sent to the redirect address.

        Without an account the person declines.
        """
        answer = self._chosen(address, account)
        if "location" in answer.headers:
            return dict(parse_qsl(urlsplit(answer.headers["location"]).query))
        return _hidden(answer.text)

    def deliver(self, address: str, account: str) -> None:
        """Choose an account on the authorization page, and post the answer where the page would post it."""
        answer = self._chosen(address, account)
        [target] = _FORM.findall(answer.text)
        with httpx2.Client(trust_env=False, timeout=PATIENCE, verify=IN_CLEAR) as web:
            web.post(unescape(target), data=_hidden(answer.text)).raise_for_status()

    def https(self) -> httpx2.Client:
        """Return a client of the provider without any library."""
        trust = ssl.create_default_context(cafile=self.ca_file)
        return httpx2.Client(base_url=self.authority, verify=trust, trust_env=False, timeout=PATIENCE)

    def _chosen(self, address: str, account: str) -> httpx2.Response:
        with self.https() as web:
            answer = web.post(address, data={"account": account})
        assert not answer.is_error, answer.text
        return answer


@contextmanager
def identity(folder: Path) -> Generator[IdentityBox]:
    """Run a sandbox with an identity provider whose state, clock and authority live in `folder`."""
    https = socket.create_server(("127.0.0.1", 0))
    config = IdentityConfig(https, certificate_of(folder, "identity"), interval=1)

    def settings(url: str) -> SandboxConfig:
        return SandboxConfig(url, {}, (), folder / "sandbox.db", smtp_port=None, identity=config)

    with running_box(folder, settings) as box:
        yield IdentityBox(box.web, box.app, box.clock, config.url, authority_file(folder, "identity"))


def _hidden(page: str) -> dict[str, str]:
    return {unescape(name): unescape(value) for name, value in _HIDDEN.findall(page)}
