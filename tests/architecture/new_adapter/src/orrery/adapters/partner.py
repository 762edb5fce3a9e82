"""The partner over HTTP."""

import httpx2
from pydantic import BaseModel, ConfigDict, ValidationError

from orrery.bounded import BOUNDED
from orrery.ports.partner import PartnerFailed
from orrery.tls import unreachable
from orrery.trust import WELL_KNOWN, Trust

ADDRESS = "https://partner.example"
"""Where the partner is, until a setting names another address."""

SECONDS = 10.0
"""How long one request may take."""


class _Taken(BaseModel):
    model_config = ConfigDict(strict=True)

    id: str


class HttpPartner:
    """Posts notices to the partner."""

    def __init__(self, base_url: str = ADDRESS, trust: Trust = WELL_KNOWN) -> None:
        self._url = f"{base_url.rstrip('/')}/notices"
        self._trust = trust

    async def notify(self, text: str) -> str:
        """Give one notice; see the port."""
        client = httpx2.AsyncClient(event_hooks=BOUNDED, timeout=SECONDS, verify=self._trust.web)
        try:
            async with client:
                answer = await client.post(self._url, json={"text": text})
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise PartnerFailed(unreachable("The partner", error)) from None
        return _id_in(answer)


def _id_in(answer: httpx2.Response) -> str:
    if not answer.is_success:
        raise PartnerFailed(f"The partner answered {answer.status_code}.")
    try:
        return _Taken.model_validate_json(answer.content).id
    except ValidationError:
        raise PartnerFailed("The partner's answer cannot be read.") from None
