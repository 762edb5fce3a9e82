"""The refresh operation of a running service over HTTP."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2

from orrery.ports.refresh import DEADLINE, RefreshReply
from orrery.tls import tls_trouble
from orrery.trust import Trust

_LONGEST_ANSWER = 64 * 1024


class HttpRefreshService:
    """The service at one address. The password is in no error."""

    def __init__(self, client: httpx2.AsyncClient, base_url: str) -> None:
        self._client = client
        self._base_url = base_url

    async def post(self, path: str, password: str) -> RefreshReply:
        """Post to the operation; see the port."""
        # "identity": a small answer must not unfold into a large one.
        headers = {"Authorization": f"Bearer {password}", "Accept-Encoding": "identity"}
        address = self._base_url + path
        try:
            async with self._client.stream("POST", address, headers=headers, follow_redirects=False) as answer:
                body = b""
                async for piece in answer.aiter_raw():
                    body += piece
                    if len(body) > _LONGEST_ANSWER:
                        break
                return RefreshReply(answer.status_code, body)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            return RefreshReply(why=tls_trouble("The service", error) or f"{type(error).__name__}.")


@asynccontextmanager
async def connected(base_url: str, trust: Trust) -> AsyncGenerator[HttpRefreshService]:
    """Yield the service at this address.

    A proxy of the environment is for the outside: to this machine, the bearer would pass it in clear.
    """
    proxied = is_outside(base_url)
    async with httpx2.AsyncClient(timeout=DEADLINE, trust_env=proxied, verify=trust.web) as client:
        yield HttpRefreshService(client, base_url)


def is_outside(base_url: str) -> bool:
    """Return whether an address is asked by TLS, as every one beyond this machine is."""
    return base_url.lower().startswith("https:")
