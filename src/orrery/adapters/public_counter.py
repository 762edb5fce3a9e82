"""The counter's public reads over HTTP, as a visitor's browser asks for them (spec 2, Endpoints)."""

import asyncio
from http import HTTPStatus
from typing import Annotated, Literal

import httpx2
import structlog
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from orrery.bounded import BOUNDED
from orrery.ports.counter import PublicCount, Scope
from orrery.tls import unreachable
from orrery.trust import WELL_KNOWN, Trust

log = structlog.get_logger()

SECONDS = 10.0
"""How long one read may take."""

_LONGEST_AGE = 1e9
"""Seconds, some thirty years: beyond, it is no age of a count."""

_Count = Annotated[int, Field(ge=0, le=2**53 - 1)]
_Age = Annotated[float, Field(ge=0, le=_LONGEST_AGE, allow_inf_nan=False)]
_Tag = Annotated[str, Field(pattern=r"^[A-Za-z]+(-[A-Za-z]+)*$", max_length=40)]


class _Read(BaseModel):
    """What both reads have. Other fields than the spec's are no reason to call a counter broken."""

    model_config = ConfigDict(strict=True)

    generated_at: AwareDatetime | None
    age_s: _Age | None
    stale: bool
    error: _Tag | None = None

    def reading(self, count: int) -> PublicCount:
        return PublicCount(count, self.generated_at, self.age_s, self.stale, self.error)


class _Site(_Read):
    active: _Count
    pages: list[object]


class _Cosmos(_Read):
    totalUnique: _Count  # noqa: N815  the specification's name
    scope: Literal["cosmos"]


class HttpCounter:
    """Reads the public endpoints below one address."""

    def __init__(self, base_url: str, trust: Trust = WELL_KNOWN) -> None:
        self._url = f"{base_url.rstrip('/')}/api/stats"
        self._trust = trust

    async def read(self, scope: Scope) -> PublicCount | None:
        """Return the endpoint's count, or None when it cannot be reached or its answer has another form."""
        body = await self._fetch("1" if scope == "site" else scope)
        return _parsed(scope, body) if body is not None else None

    def _client(self) -> httpx2.AsyncClient:
        # A proxy of the environment is not on the way to this machine.
        proxied = self._url.startswith("https:")
        return httpx2.AsyncClient(event_hooks=BOUNDED, timeout=SECONDS, trust_env=proxied, verify=self._trust.web)

    async def _fetch(self, realtime: str) -> bytes | None:
        try:
            async with asyncio.timeout(SECONDS), self._client() as client:
                answer = await client.get(self._url, params={"realtime": realtime})
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
            log.warning("counter not read", why=unreachable("The counter", error))
            return None
        return answer.content if answer.status_code == HTTPStatus.OK else None


def _parsed(scope: Scope, body: bytes) -> PublicCount | None:
    try:
        if scope == "site":
            site = _Site.model_validate_json(body)
            return site.reading(site.active)
        cosmos = _Cosmos.model_validate_json(body)
        return cosmos.reading(cosmos.totalUnique)
    except ValidationError:
        return None
