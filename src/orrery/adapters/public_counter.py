"""The counter's public reads over HTTP, as a visitor's browser asks for them (spec 2, Endpoints)."""

from http import HTTPStatus
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from orrery.logs import log
from orrery.outside import NoAnswer, Outside
from orrery.ports.counter import PublicCount, Scope
from orrery.trust import WELL_KNOWN, Trust

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
        self._counter = Outside("The counter", SECONDS, trust)

    async def read(self, scope: Scope) -> PublicCount | None:
        """Return the endpoint's count, or None when it cannot be reached or its answer has another form."""
        body = await self._fetch("1" if scope == "site" else scope)
        return _parsed(scope, body) if body is not None else None

    async def _fetch(self, realtime: str) -> bytes | None:
        try:
            answer = await self._counter.ask("GET", self._url, params={"realtime": realtime})
        except NoAnswer as error:
            log.warning("counter not read", why=str(error))
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
