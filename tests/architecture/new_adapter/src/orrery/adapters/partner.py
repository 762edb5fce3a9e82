"""The partner over HTTP."""

from pydantic import BaseModel, ConfigDict, ValidationError

from orrery.outside import Answer, NoAnswer, Outside
from orrery.ports.partner import PartnerFailed
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
        self._partner = Outside("The partner", SECONDS, trust)

    async def notify(self, text: str) -> str:
        """Give one notice; see the port."""
        try:
            answer = await self._partner.ask("POST", self._url, json={"text": text})
        except NoAnswer as error:
            raise PartnerFailed(str(error)) from None
        return _id_in(answer)


def _id_in(answer: Answer) -> str:
    if not answer.is_success:
        raise PartnerFailed(f"The partner answered {answer.status_code}.")
    try:
        return _Taken.model_validate_json(answer.content).id
    except ValidationError:
        raise PartnerFailed("The partner's answer cannot be read.") from None
