"""The public checkout operation over HTTP, as a visitor's browser asks for it (spec 1, Endpoints)."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orrery.edge.problem import ProblemBody
from orrery.outside import NoAnswer, Outside
from orrery.ports.shop import Started
from orrery.trust import WELL_KNOWN, Trust

PATH = "/guided/api/checkout"

SECONDS = 20.0
"""How long one request may take: the operation itself answers within 10 (decision 3)."""

LONGEST_ANSWER = 64 * 1024
"""Bytes; an answer is a hundredth of that."""


class _Session(BaseModel):
    model_config = ConfigDict(strict=True)

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,255}$")]


class HttpShop:
    """Asks the operation below one address."""

    def __init__(self, base_url: str, trust: Trust = WELL_KNOWN) -> None:
        self._url = base_url.rstrip("/") + PATH
        self._operation = Outside("The operation", SECONDS, trust, LONGEST_ANSWER)

    async def start(self, *, product_type: str, vendor_slug: str, cert_code: str, key: str) -> Started:
        """Ask for a session; every trouble is an answer, too."""
        body = {"productType": product_type, "certCode": cert_code, "vendorSlug": vendor_slug}
        try:
            answer = await self._operation.ask("POST", self._url, json=body, headers={"Idempotency-Key": key})
        except NoAnswer as error:
            return Started(None, str(error), may_exist=error.sent)
        return _read(answer.status_code, answer.content)


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
        return Started(None, f"The operation answered {status} {ProblemBody.model_validate_json(answer).error}.")
    except ValidationError:
        return Started(None, f"The operation answered {status}, and not as this service does.", may_exist=True)
