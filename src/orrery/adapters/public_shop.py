"""The public checkout operation over HTTP, as a visitor's browser asks for it (spec 1, Endpoints)."""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orrery.bounded import BOUNDED
from orrery.ports.shop import Started
from orrery.tls import unreachable
from orrery.trust import WELL_KNOWN, Trust

PATH = "/guided/api/checkout"

SECONDS = 20.0
"""How long one request may take: the operation itself answers within 10 (decision 3)."""

LONGEST_ANSWER = 64 * 1024
"""Bytes; an answer is a hundredth of that."""


class _Session(BaseModel):
    model_config = ConfigDict(strict=True)

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,255}$")]


class _Problem(BaseModel):
    model_config = ConfigDict(strict=True)

    error: Annotated[str, Field(pattern=r"^[a-z-]{1,40}$")]


class HttpShop:
    """Asks the operation below one address."""

    def __init__(self, base_url: str, trust: Trust = WELL_KNOWN) -> None:
        self._url = base_url.rstrip("/") + PATH
        self._trust = trust

    async def start(self, *, product_type: str, vendor_slug: str, cert_code: str, key: str) -> Started:
        """Ask for a session; every trouble is an answer, too."""
        body = {"productType": product_type, "certCode": cert_code, "vendorSlug": vendor_slug}
        try:
            async with asyncio.timeout(SECONDS):
                status, answer = await self._post(body, key)
        except TimeoutError:
            return Started(None, f"The operation did not answer within {SECONDS:g} s.", may_exist=True)
        except (httpx2.ConnectError, httpx2.InvalidURL) as error:
            return Started(None, unreachable("The operation", error))
        except httpx2.HTTPError as error:
            return Started(None, f"The operation gave no answer ({type(error).__name__}).", may_exist=True)
        return _read(status, answer)

    async def _post(self, body: dict[str, str], key: str) -> tuple[int, bytes]:
        headers = {"Idempotency-Key": key, "Accept-Encoding": "identity"}
        # A proxy of the environment is not on the way to this machine.
        proxied = self._url.startswith("https:")
        client = httpx2.AsyncClient(
            event_hooks=BOUNDED, timeout=SECONDS, trust_env=proxied, verify=self._trust.web
        )
        async with client, client.stream("POST", self._url, json=body, headers=headers) as answer:
            found = b""
            async for piece in answer.aiter_raw():
                found += piece
                if len(found) > LONGEST_ANSWER:
                    break
            return answer.status_code, found


@dataclass(frozen=True, slots=True)
class HttpShops:
    """Shops by their address, among them this deployment's own."""

    own_url: str
    trust: Trust

    def at(self, base_url: str | None) -> HttpShop:
        """Return the shop at an address; see the port."""
        return HttpShop(base_url or self.own_url, self.trust)


def _read(status: int, answer: bytes) -> Started:
    try:
        if status == HTTPStatus.OK:
            return Started(_Session.model_validate_json(answer).id)
        return Started(None, f"The operation answered {status} {_Problem.model_validate_json(answer).error}.")
    except ValidationError:
        return Started(None, f"The operation answered {status}, and not as this service does.", may_exist=True)
